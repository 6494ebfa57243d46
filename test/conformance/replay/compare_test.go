package replay

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someID = "7d444840-9dc0-11d1-b245-5ffdce74fad2"

func TestCompare(t *testing.T) {
	cases := map[string]struct {
		want, got string
		bound     Bindings
		with      comparer
		found     []Difference
		learned   Bindings
	}{
		"equal":                         {want: `{"a":[1,"x",true,null]}`, got: `{"a":[1,"x",true,null]}`},
		"another value":                 {want: `{"a":1}`, got: `{"a":2}`, found: []Difference{{Value, "$.a", "want 1, got 2"}}},
		"another text":                  {want: `"x"`, got: `"y"`, found: []Difference{{Value, "$", `want "x", got "y"`}}},
		"another type":                  {want: `{"a":1}`, got: `{"a":"1"}`, found: []Difference{{Shape, "$.a", `want 1, got "1"`}}},
		"a boolean is no number":        {want: `1`, got: `true`, found: []Difference{{Shape, "$", "want 1, got true"}}},
		"another boolean":               {want: `true`, got: `false`, found: []Difference{{Value, "$", "want true, got false"}}},
		"one number, two spellings":     {want: `1e3`, got: `1000.0`},
		"missing key":                   {want: `{"a":1,"b":2}`, got: `{"a":1}`, found: []Difference{{Shape, "$.b", "key missing"}}},
		"additional key":                {want: `{"a":1}`, got: `{"a":1,"b":2}`},
		"additional key, strict":        {want: `{"a":1}`, got: `{"a":1,"b":2}`, with: comparer{strict: true}, found: []Difference{{Shape, "$.b", "key not in the recording: 2"}}},
		"empty list for null":           {want: `null`, got: `[]`},
		"empty list for null, strict":   {want: `null`, got: `[]`, with: comparer{strict: true}, found: []Difference{{Shape, "$", "want null, got []"}}},
		"null for an empty list":        {want: `[]`, got: `null`, found: []Difference{{Shape, "$", "want [], got null"}}},
		"filled list for null":          {want: `null`, got: `[1]`, found: []Difference{{Shape, "$", "want null, got [1]"}}},
		"volatile":                      {want: `{"a":{"b":1}}`, got: `{"a":{}}`, with: comparer{volatile: []string{"b"}}},
		"details":                       {want: `{"details":"x"}`, got: `{"details":"y"}`, found: []Difference{{Value, "$.details", `want "x", got "y"`}}},
		"any details":                   {want: `{"details":"x"}`, got: `{"details":"y"}`, with: comparer{anyDetails: true}},
		"details are text":              {want: `{"details":"x"}`, got: `{"details":1}`, with: comparer{anyDetails: true}, found: []Difference{{Shape, "$.details", `want "x", got 1`}}},
		"the details that clients read": {want: `{"details":"Missing required URLs."}`, got: `{"details":"y"}`, with: comparer{anyDetails: true}, found: []Difference{{Value, "$.details", `want "Missing required URLs.", got "y"`}}},

		"a placeholder is bound":       {want: `"<repo-id-1>"`, got: `"` + someID + `"`, learned: Bindings{"repo-id-1": someID}},
		"a bound placeholder agrees":   {want: `"/x/<repo-id-1>"`, got: `"/x/` + someID + `"`, bound: Bindings{"repo-id-1": someID}},
		"a bound placeholder differs":  {want: `"<repo-id-1>"`, got: `"` + someID + `"`, bound: Bindings{"repo-id-1": "z"}, found: []Difference{{Value, "$", `want "\u003crepo-id-1\u003e", got "` + someID + `"`}}},
		"a UUID has its form":          {want: `"<pool-id-1>"`, got: `"seven"`, found: []Difference{{Value, "$", `want "\u003cpool-id-1\u003e", got "seven"`}}},
		"one placeholder, two values":  {want: `"<runner-name-1>/<runner-name-1>"`, got: `"a/b"`, found: []Difference{{Value, "$", `want "\u003crunner-name-1\u003e/\u003crunner-name-1\u003e", got "a/b"`}}},
		"one placeholder, twice":       {want: `"<runner-name-1>/<runner-name-1>"`, got: `"a/a"`, learned: Bindings{"runner-name-1": "a"}},
		"a time is free":               {want: `"<time>"`, got: `"2026-01-02T15:04:05.123456789Z"`},
		"a time has its form":          {want: `"<time>"`, got: `"yesterday"`, found: []Difference{{Value, "$", `want "\u003ctime\u003e", got "yesterday"`}}},
		"the newest token counts":      {want: `"<token>"`, got: `"a.b.c"`, bound: Bindings{"token": "x.y.z"}, learned: Bindings{"token": "a.b.c"}},
		"a numeric placeholder":        {want: `"<credentials-id-1:int>"`, got: `7`, learned: Bindings{"credentials-id-1": "7"}},
		"a numeric placeholder, text":  {want: `"<credentials-id-1:int>"`, got: `"7"`, found: []Difference{{Shape, "$", `want a number, got "7"`}}},
		"a numeric placeholder, bound": {want: `"<credentials-id-1:int>"`, got: `7`, bound: Bindings{"credentials-id-1": "8"}, found: []Difference{{Value, "$", "want 8 (credentials-id-1), got 7"}}},
		"not a placeholder":            {want: `"a <b> c"`, got: `"a <b> c"`},

		"lists in any order":     {want: `[{"a":1},{"a":2}]`, got: `[{"a":2},{"a":1}]`},
		"one element too many":   {want: `[1]`, got: `[1,2]`, found: []Difference{{Value, "$", "one element too many: 2"}}},
		"one element too few":    {want: `[1,2]`, got: `[2]`, found: []Difference{{Value, "$[0]", "no such element: 1"}}},
		"the closest element":    {want: `[{"a":1,"b":1}]`, got: `[{"a":2,"b":2},{"a":1,"b":2}]`, found: []Difference{{Value, "$[0].b", "want 1, got 2"}, {Value, "$", `one element too many: {"a":2,"b":2}`}}},
		"exact partners first":   {want: `[{"n":"<runner-name-1>","s":"new"},{"n":"x","s":"old"}]`, got: `[{"n":"x","s":"old"},{"n":"y","s":"new"}]`, learned: Bindings{"runner-name-1": "y"}},
		"a failed try binds not": {want: `[{"n":"<runner-name-1>","s":1}]`, got: `[{"n":"a","s":2},{"n":"b","s":1}]`, found: []Difference{{Value, "$", `one element too many: {"n":"a","s":2}`}}, learned: Bindings{"runner-name-1": "b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, want := decode(c.want)
			_, got := decode(c.got)
			bound := Bindings{}
			maps.Copy(bound, c.bound)
			if diff := cmp.Diff(c.found, c.with.compare(want, got, bound, "$")); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			learned := c.learned
			if learned == nil {
				learned = c.bound
			}
			if len(c.found) == 0 || c.learned != nil {
				if len(learned) != len(bound) || !maps.Equal(learned, bound) {
					t.Errorf("bindings are %v, want %v", bound, learned)
				}
			}
		})
	}
}

func TestJudge(t *testing.T) {
	text := func(s string) *string { return &s }
	recorded := Exchange{Status: 200, ResponseKind: "json", ResponseBody: []byte(`{"extra_specs":{"b":1,"a":2}}`), ResponseHeaders: map[string]string{"Content-Type": "application/json"}, ExtraSpecsBytes: text(`{"b":1,"a":2}`)}
	good := answer{200, "application/json; charset=utf-8", `{"extra_specs":{"b":1,"a":2}}`}
	cases := map[string]struct {
		e     Exchange
		a     answer
		found []Kind
	}{
		"agrees":          {recorded, good, nil},
		"status":          {recorded, answer{500, good.contentType, good.text}, []Kind{Status}},
		"media type":      {recorded, answer{200, "text/plain", good.text}, []Kind{Shape}},
		"kind of body":    {recorded, answer{200, good.contentType, "oops"}, []Kind{Shape}},
		"no body":         {recorded, answer{200, good.contentType, ""}, []Kind{Shape}},
		"order of bytes":  {recorded, answer{200, good.contentType, `{"extra_specs":{"a":2,"b":1}}`}, []Kind{Value}},
		"empty is empty":  {Exchange{Status: 204, ResponseKind: "empty"}, answer{204, "", ""}, nil},
		"empty is not {}": {Exchange{Status: 204, ResponseKind: "empty"}, answer{204, "", "{}"}, []Kind{Shape}},
		"text":            {Exchange{Status: 404, ResponseKind: "text", ResponseBody: []byte(`"gone\n"`)}, answer{404, "", "gone\n"}, nil},
		"another text":    {Exchange{Status: 404, ResponseKind: "text", ResponseBody: []byte(`"gone\n"`)}, answer{404, "", "here\n"}, []Kind{Value}},
		"a metric": {
			Exchange{Status: 200, ResponseKind: "metrics", ResponseBody: []byte(`["garm_health gauge {controller_id,url}"]`)},
			answer{200, "", "# TYPE garm_health gauge\ngarm_health{url=\"u\",controller_id=\"c\"} 1\n"},
			nil,
		},
		"no metric": {
			Exchange{Status: 200, ResponseKind: "metrics", ResponseBody: []byte(`["garm_health gauge {controller_id}"]`)},
			answer{200, "", "# TYPE garm_health gauge\ngarm_health{url=\"u\"} 1\n"},
			[]Kind{Value},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found, _ := judge(c.e, c.a, Bindings{}, Options{})
			var kinds []Kind
			for _, d := range found {
				kinds = append(kinds, d.Kind)
			}
			if diff := cmp.Diff(c.found, kinds); diff != "" {
				t.Errorf("differences (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}

func TestAStatusSpoilsShapeAndValuesToo(t *testing.T) {
	report := &Report{Results: []Result{
		{Exchange: Exchange{Topic: "a"}},
		{Exchange: Exchange{Topic: "a"}, Differences: []Difference{{Kind: Status}}},
		{Exchange: Exchange{Topic: "b"}, Differences: []Difference{{Kind: Shape}}},
		{Exchange: Exchange{Topic: "b"}, Differences: []Difference{{Kind: Value}}},
	}}
	if diff := cmp.Diff(Counts{Exchanges: 4, Status: 3, Shape: 2, Values: 1}, report.Total()); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Counts{Exchanges: 2, Status: 2, Shape: 1}, report.Only("b").Total()); diff != "" {
		t.Errorf("topic b (-want +got):\n%s", diff)
	}
}
