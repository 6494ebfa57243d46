package provider_test

import (
	"os"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/provider/providertest"
)

func TestMain(m *testing.M) { os.Exit(providertest.Main(m)) }
