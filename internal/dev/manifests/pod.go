package manifests

import (
	"context"
	"fmt"
	"regexp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Start is how a container would be started: what the kubelet makes of the manifest.
type Start struct {
	Args    []string
	Environ []string
}

// reference matches $(NAME), which the kubelet replaces in arguments.
var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// StartOf returns how the first container of a Deployment's Pods would be started, with its Secrets read from the API
// server. An unknown source of a variable is an error, so that no manifest is taken for something that it is not.
func StartOf(ctx context.Context, reader client.Reader, deployment *appsv1.Deployment) (*Start, error) {
	container := deployment.Spec.Template.Spec.Containers[0]
	start, values := &Start{}, map[string]string{}
	for _, env := range container.Env {
		value, err := valueOf(ctx, reader, deployment.Namespace, env)
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", env.Name, err)
		}
		values[env.Name] = value
		start.Environ = append(start.Environ, env.Name+"="+value)
	}
	for _, arg := range container.Args {
		start.Args = append(start.Args, reference.ReplaceAllStringFunc(arg, func(s string) string {
			if value, ok := values[s[2:len(s)-1]]; ok {
				return value
			}
			return s
		}))
	}
	return start, nil
}

func valueOf(ctx context.Context, reader client.Reader, namespace string, env corev1.EnvVar) (string, error) {
	from := env.ValueFrom
	switch {
	case from == nil:
		return env.Value, nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
		return namespace, nil
	case from.SecretKeyRef != nil:
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: namespace, Name: from.SecretKeyRef.Name}
		if err := reader.Get(ctx, key, secret); err != nil {
			return "", err
		}
		value, ok := secret.Data[from.SecretKeyRef.Key]
		if !ok {
			return "", fmt.Errorf("the Secret %s has no key %s", key, from.SecretKeyRef.Key)
		}
		return string(value), nil
	default:
		return "", fmt.Errorf("no source that is known: %+v", from)
	}
}

// podOf returns the Pods' template of a Deployment, nil of anything else.
func podOf(object any) *corev1.PodSpec {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		return &deployment.Spec.Template.Spec
	}
	return nil
}
