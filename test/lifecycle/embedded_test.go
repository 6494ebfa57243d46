package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// embedded returns the configuration of an operator that runs a server itself, on a data directory.
func (e *env) embedded(dir string) operatorconfig.Config {
	e.t.Helper()
	providers := filepath.Join(e.dir, "providers.toml")
	text := fmt.Sprintf("[[provider]]\nname = \"local\"\nprovider_type = \"external\"\n[provider.external]\nprovider_executable = %q\n", filepath.Join(e.dir, "machines"))
	if err := os.WriteFile(providers, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	config := e.config("")
	config.GARM = operatorconfig.GARM{Email: stack.Email}
	config.EmbeddedServer = operatorconfig.EmbeddedServer{
		Enabled: true, DataDir: dir, ListenAddress: freeAddress(e.t), URL: "http://garm.example.com:9997/", ProvidersFile: providers,
	}
	return config
}

// login speaks to an embedded server, as somebody does who may read its data directory.
func login(config operatorconfig.Config) (*garmclient.Client, error) {
	return garmclient.New(garmclient.Config{
		BaseURL: "http://" + config.EmbeddedServer.ListenAddress, Username: "admin",
		Password: func(context.Context) (string, error) {
			text, err := os.ReadFile(filepath.Join(config.EmbeddedServer.DataDir, "admin-password"))
			return strings.TrimSpace(string(text)), err
		},
	})
}

// controller asks an embedded server for itself.
func (e *env) controller(config operatorconfig.Config) (garm.ControllerInfo, error) {
	c, err := login(config)
	if err != nil {
		return garm.ControllerInfo{}, err
	}
	defer c.CloseIdleConnections()
	return c.GetController(e.ctx)
}

// urls waits until an embedded server has the URLs, and returns its controller id.
func (e *env) urls(config operatorconfig.Config, metadata, callback, webhook string) (controllerID string) {
	e.t.Helper()
	e.until(func() error {
		info, err := e.controller(config)
		if err == nil && (info.MetadataURL != metadata || info.CallbackURL != callback || info.WebhookURL != webhook) {
			err = fmt.Errorf("the URLs are %q, %q and %q", info.MetadataURL, info.CallbackURL, info.WebhookURL)
		}
		controllerID = info.ControllerID
		return err
	})
	return controllerID
}

// The operator runs a server by itself: it makes the administrator and sets the URLs by its flags, anew at each start, all but those
// that a GarmServerConfig sets. The server is the same one after a restart.
func TestEmbeddedServer(t *testing.T) {
	t.Parallel()
	e := setup(t)
	dir := filepath.Join(t.TempDir(), "data")
	config := e.embedded(dir)
	operator := e.run(config)
	base := e.Base()
	objects := make([]client.Object, 0, len(base))
	for _, o := range append(base, e.Pool("small")) {
		if _, is := o.(*v1beta1.GarmServerConfig); !is {
			objects = append(objects, o)
		}
	}
	if err := e.Apply(e.ctx, objects...); err != nil {
		t.Fatal(err)
	}
	if err := e.WaitReady(e.ctx, objects...); err != nil {
		t.Fatal(err)
	}
	const own = "http://garm.example.com:9997"
	id := e.urls(config, own+"/api/v1/metadata", own+"/api/v1/callbacks", own+"/webhooks")
	pool := e.Pool("small")
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	if pool.Status.ControllerID != id {
		t.Errorf("the Pool belongs to %q, the server is %q", pool.Status.ControllerID, id)
	}

	meta := e.Pool("garm").ObjectMeta
	urls := &v1beta1.GarmServerConfig{ObjectMeta: meta, Spec: v1beta1.GarmServerConfigSpec{WebhookURL: "https://hooks.example.com/garm"}}
	if err := e.Apply(e.ctx, urls); err != nil {
		t.Fatal(err)
	}
	e.urls(config, own+"/api/v1/metadata", own+"/api/v1/callbacks", "https://hooks.example.com/garm")
	if err := operator.stop(); err != nil {
		t.Fatal(err)
	}

	config.EmbeddedServer.URL, config.EmbeddedServer.CallbackURL = "https://other.example.com", "https://calls.example.com/back"
	operator = e.run(config)
	if again := e.urls(config, "https://other.example.com/api/v1/metadata", "https://calls.example.com/back", "https://hooks.example.com/garm"); again != id {
		t.Errorf("after a restart the server is %q, not %q", again, id)
	}
	if err := operator.stop(); err != nil {
		t.Fatal(err)
	}
}

// An embedded server does not start while resources belong to another controller: it names one, and says what to do. Told to, it
// takes them over.
func TestEmbeddedServerRefusesForeignResources(t *testing.T) {
	t.Parallel()
	e := setup(t)
	operator := e.run(e.config(e.Proxy.URL()))
	objects := append(e.Base(), e.Pool("small"))
	if err := e.Apply(e.ctx, objects...); err != nil {
		t.Fatal(err)
	}
	if err := e.WaitReady(e.ctx, objects...); err != nil {
		t.Fatal(err)
	}
	if err := operator.stop(); err != nil {
		t.Fatal(err)
	}

	config := e.embedded(filepath.Join(t.TempDir(), "data"))
	operator = e.run(config)
	select {
	case <-operator.done:
	case <-e.ctx.Done():
		t.Fatal("it goes on")
	}
	for _, text := range []string{"GarmServerConfig " + e.namespace + "/garm belongs to", "--garm-server", "--embedded-server-take-over", "data directory"} {
		if operator.err == nil || !strings.Contains(operator.err.Error(), text) {
			t.Errorf("it ends with %v, want %q in it", operator.err, text)
		}
	}

	config.EmbeddedServer.TakeOver = true
	e.run(config)
	e.until(func() error {
		info, err := e.controller(config)
		if err != nil {
			return err
		}
		pool := e.Pool("small")
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		if pool.Status.ControllerID != info.ControllerID {
			return errors.New("the Pool belongs to another controller still")
		}
		return stack.Ready(pool, pool)
	})
}

// A process with an embedded server that is killed in the middle of work is followed by one on the same data: nothing is lost, and
// nothing made twice.
func TestEmbeddedServerIsKilled(t *testing.T) {
	t.Parallel()
	e := setup(t)
	config := e.embedded(filepath.Join(t.TempDir(), "data"))
	c := config.EmbeddedServer
	flags := []string{
		"--embedded-server", "--embedded-server-data-dir=" + c.DataDir, "--embedded-server-listen-address=" + c.ListenAddress,
		"--embedded-server-url=" + c.URL, "--embedded-server-providers-file=" + c.ProvidersFile,
	}
	var err error
	if e.GARM, err = login(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.GARM.CloseIdleConnections)
	first := e.process(flags...)
	pools := e.Pools(12)
	if err := e.Apply(e.ctx, append(e.Base(), pools[:6]...)...); err != nil {
		t.Fatal(err)
	}
	e.ready(6)
	if err := e.Apply(e.ctx, pools[6:]...); err != nil {
		t.Fatal(err)
	}
	first.kill()
	second := e.process(flags...)
	e.ready(12)
	e.stop(second)
}
