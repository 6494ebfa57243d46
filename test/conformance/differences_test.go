package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/test/conformance"
)

const compatibility = "../../docs/compatibility.md"

// TestCompatibilityPageListsEveryDifference compares the table of the page with the list in code, both ways.
func TestCompatibilityPageListsEveryDifference(t *testing.T) {
	page, err := os.ReadFile(compatibility)
	if err != nil {
		t.Fatal(err)
	}
	var listed, shown []string
	for _, d := range conformance.Differences() {
		listed = append(listed, d.Row())
	}
	_, table, found := strings.Cut(string(page), "| recording | exchanges |")
	if !found {
		t.Fatal("the page has no table that begins with | recording | exchanges |")
	}
	for _, line := range strings.Split(table, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		shown = append(shown, line)
	}
	if diff := cmp.Diff(listed, shown); diff != "" {
		t.Errorf("differences.go and the page disagree (-code +page):\n%s", diff)
	}
}

func TestDifferencesAreWholeAndListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range conformance.Differences() {
		if d.Recording == "" || len(d.Exchanges) == 0 || d.Request == "" || d.Recorded == "" || d.Ours == "" || d.Reason == "" {
			t.Errorf("something is missing in %+v", d)
		}
		if strings.Contains(d.Request+d.Recorded+d.Ours+d.Reason, "|") {
			t.Errorf("a bar would end the cell of the table: %+v", d)
		}
		for _, seq := range d.Exchanges {
			key := fmt.Sprint(d.Recording, " ", seq)
			if seen[key] {
				t.Errorf("%s is listed twice", key)
			}
			seen[key] = true
		}
	}
}
