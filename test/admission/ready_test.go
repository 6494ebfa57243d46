package admission_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

// A replica that does not lead, without a GARM server, is ready once it has a certificate, and serves then.
func TestReadyWithoutLeadingAndWithoutGARM(t *testing.T) {
	leader := start(t, quick)
	install(t, leader.url())
	waitServing(t)
	probes, err := freeport.Port(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	standby := start(t, quick, func(o *operatorconfig.Operator, _ *operatorapp.Options) {
		o.HealthProbeBindAddress = fmt.Sprintf("127.0.0.1:%d", probes)
	})
	eventually(t, func(ctx context.Context) error { return ready(ctx, probes) })
	if _, err := shown(t.Context(), standby, trusted(t)); err != nil {
		t.Errorf("ready, but: %v", err)
	}
	install(t, standby.url())
	leader.stop()
	waitServing(t)
}

func ready(ctx context.Context, port int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz?verbose", port), http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), "webhook-certificate ok") || !strings.Contains(string(body), "webhooks ok") {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return nil
}
