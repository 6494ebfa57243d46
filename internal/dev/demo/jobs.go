package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// jobDuration is how long each job works.
const jobDuration = time.Second

// webhookURL is what the GarmServerConfig shows; without one the server itself is asked.
func (w *world) webhookURL(ctx context.Context) (string, error) {
	if w.options.Embedded {
		info, err := w.session.GetController(ctx)
		return info.ControllerWebhookURL, err
	}
	configs := &unstructured.UnstructuredList{}
	configs.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("GarmServerConfigList"))
	if err := w.kube.List(ctx, configs, kube.InNamespace(w.namespace)); err != nil {
		return "", err
	}
	if len(configs.Items) != 1 {
		return "", fmt.Errorf("there are %d GarmServerConfigs, not one", len(configs.Items))
	}
	url, _, _ := unstructured.NestedString(configs.Items[0].Object, "status", "controllerWebhookUrl")
	if url == "" {
		return "", errors.New("the GarmServerConfig shows no controllerWebhookUrl")
	}
	return url, nil
}

// installHooks installs a webhook for each organization and repository, as a user does by hand: at the address of the server,
// with the secret that the resource names.
func (w *world) installHooks(ctx context.Context) (string, error) {
	url, err := w.webhookURL(ctx)
	if err != nil {
		return "", err
	}
	var scopes []string
	for _, object := range w.objects {
		var scope githubsim.Scope
		owner, _, _ := unstructured.NestedString(object.Object, "spec", "owner")
		switch object.GetKind() {
		case "Organization":
			scope = githubsim.OrganizationScope(object.GetName())
		case "Repository":
			scope = githubsim.RepositoryScope(owner, object.GetName())
		default:
			continue
		}
		secret, err := w.secretValue(ctx, object, "webhookSecretRef")
		if err != nil {
			return "", err
		}
		if _, err := w.github.AddHook(githubsim.Hook{Scope: scope, URL: url, Secret: secret}); err != nil {
			return "", err
		}
		scopes = append(scopes, string(scope))
	}
	return strings.Join(scopes, ", "), nil
}

// secretValue reads what a resource's reference to a Secret leads to.
func (w *world) secretValue(ctx context.Context, object *unstructured.Unstructured, field string) (string, error) {
	ref, _, _ := unstructured.NestedStringMap(object.Object, "spec", field)
	secret := &corev1.Secret{}
	if err := w.kube.Get(ctx, kube.ObjectKey{Namespace: object.GetNamespace(), Name: ref["name"]}, secret); err != nil {
		return "", fmt.Errorf("reading the secret of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return string(secret.Data[ref["key"]]), nil
}

// queueJobs queues the jobs, for all pools in turn.
func (w *world) queueJobs(context.Context) (string, error) {
	pools := w.pools()
	for i := range w.options.Jobs {
		p := pools[i%len(pools)]
		job, err := w.github.QueueJob(githubsim.JobSpec{
			Repo: p.repo, Labels: p.tags, Name: fmt.Sprintf("build-%d", i+1), Duration: githubsim.Duration(jobDuration),
		})
		if err != nil {
			return "", err
		}
		w.jobs = append(w.jobs, job)
	}
	return fmt.Sprintf("%d jobs of %s each", len(w.jobs), jobDuration), nil
}

// waitJobs waits until every job is done and prints each as it ends.
func (w *world) waitJobs(ctx context.Context, out *console) (string, error) {
	w.served = map[string]bool{}
	done := map[int64]bool{}
	err := wait.Until(ctx, func() error {
		for _, queued := range w.jobs {
			job, ok := w.github.Job(queued.ID)
			if !ok {
				return wait.Final(fmt.Errorf("GitHub has lost job %d", queued.ID))
			}
			if job.Status != githubsim.Completed || done[job.ID] {
				continue
			}
			done[job.ID] = true
			if job.Conclusion != "success" {
				return wait.Final(fmt.Errorf("job %s ended with %s", job.Name, job.Conclusion))
			}
			if w.served[job.RunnerName] {
				return wait.Final(fmt.Errorf("runner %s served two jobs", job.RunnerName))
			}
			w.served[job.RunnerName] = true
			out.line("  %-9s of %s ran on %s, %.1fs after it was queued", job.Name, job.Repo, job.RunnerName, job.StartedAt.Sub(job.CreatedAt).Seconds())
		}
		if len(done) < len(w.jobs) {
			return fmt.Errorf("%d of %d jobs are done", len(done), len(w.jobs))
		}
		return nil
	})
	return fmt.Sprintf("%d jobs", len(done)), err
}
