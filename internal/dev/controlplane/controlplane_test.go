package controlplane_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
)

var widgets = schema.GroupVersionResource{Group: "garm-operator.mercedes-benz.com", Version: "v1", Resource: "widgets"}

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.garm-operator.mercedes-benz.com
spec:
  group: garm-operator.mercedes-benz.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func widgetFiles() fstest.MapFS {
	return fstest.MapFS{
		"bases/widgets.yaml": {Data: []byte(widgetCRD)},
		"kustomization.yaml": {Data: []byte("kind: Kustomization\nresources: [bases/widgets.yaml]\n")},
	}
}

func needAssets(t *testing.T) {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
}

// temporary gives the test a directory for temporary files of its own, so that it sees what is left there.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

func expectEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("left behind: %s", entry.Name())
	}
}

func TestServesAndLeavesNothing(t *testing.T) {
	needAssets(t)
	dir := temporary(t)

	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: widgetFiles(), Audit: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plane.Stop() })

	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig)
	if err != nil {
		t.Fatalf("read the kubeconfig: %v", err)
	}
	config.UserAgent = "the-test"
	created := createWidget(t, dynamic.NewForConfigOrDie(config), "first")
	if created.GetUID() == "" {
		t.Error("the API server gave the object no uid")
	}
	requireAuditOf(t, plane, "first")
	requireRBAC(t, plane)

	pids := processes(t, dir)
	if err := plane.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	expectEmpty(t, dir)
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d still runs after Stop", pid)
		}
	}
	if err := plane.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func createWidget(t *testing.T, client dynamic.Interface, name string) *unstructured.Unstructured {
	t.Helper()
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion(widgets.GroupVersion().String())
	widget.SetKind("Widget")
	widget.SetName(name)
	created, err := client.Resource(widgets).Namespace("default").Create(t.Context(), widget, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create a custom resource: %v", err)
	}
	return created
}

// requireAuditOf waits for the audit log to show the creation of the named widget, exactly once.
func requireAuditOf(t *testing.T, plane *controlplane.ControlPlane, name string) {
	t.Helper()
	want := []controlplane.AuditEvent{{
		Verb: "create", User: "admin", UserAgent: "the-test", Code: 201,
		Object: controlplane.Object{Group: widgets.Group, Resource: "widgets", Namespace: "default", Name: name},
	}}
	var diff string
	eventually(t, func() bool {
		events, err := plane.AuditEvents()
		if err != nil {
			t.Fatal(err)
		}
		var writes []controlplane.AuditEvent
		for _, event := range events {
			if event.Write() && event.Object.Group == widgets.Group {
				event.Time = time.Time{}
				writes = append(writes, event)
			}
		}
		diff = cmp.Diff(want, writes)
		return diff == ""
	}, func() string { return "the writes in the audit log differ (-want +got):\n" + diff })
}

// requireRBAC expects that a user may do what RBAC says, and nothing else.
func requireRBAC(t *testing.T, plane *controlplane.ControlPlane) {
	t.Helper()
	list := func(groups ...string) error {
		config, err := plane.AddUser("somebody", groups...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dynamic.NewForConfigOrDie(config).Resource(widgets).List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := list("system:masters"); err != nil {
		t.Errorf("a member of system:masters may not list: %v", err)
	}
	if err := list(); err == nil || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("a user without a role: got %v, want a refusal that names the user", err)
	}
}

func TestStartThatIsCancelledLeavesNothing(t *testing.T) {
	needAssets(t)
	dir := temporary(t)
	ctx, cancel := context.WithCancel(t.Context())
	// Cancel in the middle: once etcd runs and before the API server has become ready.
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if found, _ := filepath.Glob(filepath.Join(dir, "*", "etcd.pid")); len(found) > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, err := controlplane.Start(ctx, controlplane.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	expectEmpty(t, dir)
}

// With the controller manager a deleted namespace goes, with what is in it.
func TestControllerManagerFinishesNamespaces(t *testing.T) {
	needAssets(t)
	dir := temporary(t)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: widgetFiles(), ControllerManager: true})
	if errors.Is(err, controlplane.ErrNoAssets) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plane.Stop() })

	client := kubernetes.NewForConfigOrDie(plane.Config())
	namespaces := client.CoreV1().Namespaces()
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion(widgets.GroupVersion().String())
	widget.SetKind("Widget")
	widget.SetName("first")
	if _, err := dynamic.NewForConfigOrDie(plane.Config()).Resource(widgets).Namespace("short-lived").Create(t.Context(), widget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := namespaces.Delete(t.Context(), "short-lived", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		_, err := namespaces.Get(t.Context(), "short-lived", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, func() string { return "the namespace does not go" })

	pids := append(processes(t, dir), process(t, dir, "kube-controller-manager"))
	if err := plane.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	expectEmpty(t, dir)
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d still runs after Stop", pid)
		}
	}
}

// TestKilledParentLeavesNothing runs this test program again as the parent of a control plane and ends it by signals that it
// does not handle.
func TestKilledParentLeavesNothing(t *testing.T) {
	needAssets(t)
	const role = "CONTROLPLANE_TEST_PARENT"
	if os.Getenv(role) != "" {
		if _, err := controlplane.Start(t.Context(), controlplane.Options{}); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("started\n")
		select {}
	}

	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := temporary(t)
			parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$")
			parent.Env = append(os.Environ(), role+"=1")
			output, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(output).ReadString('\n'); line != "started\n" {
				t.Fatalf("the parent said %q (%v), want \"started\"", line, err)
			}
			pids := processes(t, dir)
			if err := parent.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()

			eventually(t, func() bool {
				entries, err := os.ReadDir(dir)
				return err == nil && len(entries) == 0 && !alive(pids[0]) && !alive(pids[1])
			}, func() string { return "processes or files outlive their parent" })
		})
	}
}

// processes returns the ids of etcd and kube-apiserver, whose directory is below dir.
func processes(t *testing.T, dir string) []int {
	t.Helper()
	return []int{process(t, dir, "etcd"), process(t, dir, "kube-apiserver")}
}

// process returns the id of one program.
func process(t *testing.T, dir, name string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", name+".pid"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the process id of %s: found %v (%v), want one file", name, files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return alive(pid) }, func() string { return fmt.Sprintf("%s (process %d) does not run", name, pid) })
	return pid
}

// alive tells whether a process runs; one that has ended and waits to be reaped by whoever adopted it does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// eventually polls until the condition holds and fails the test with the reason after a minute.
func eventually(t *testing.T, condition func() bool, reason func() string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(reason())
		}
	}
}
