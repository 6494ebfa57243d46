package localprovider_test

// What these tests run Go does not see: their results are kept as long as what they import stays the same.
import (
	_ "github.com/garm-operator/garm-operator/internal/app/dev"
	_ "github.com/garm-operator/garm-operator/internal/app/runner"
)
