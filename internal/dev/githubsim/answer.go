package githubsim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxBody bounds a request body; GitHub's own limit for webhooks is 25 MB, requests here are tiny.
const maxBody = 1 << 20

const badCredentials = "Bad credentials"

// apiError is an answer of GitHub that is not a success.
type apiError struct {
	status           int
	header           http.Header
	Message          string           `json:"message"`
	Errors           []map[string]any `json:"errors,omitempty"`
	DocumentationURL string           `json:"documentation_url,omitempty"`
}

func (e *apiError) Error() string { return e.Message }

func notFound() *apiError { return &apiError{status: http.StatusNotFound, Message: "Not Found"} }

func unprocessable(message string, args ...any) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, Message: fmt.Sprintf(message, args...)}
}

func writeError(w http.ResponseWriter, e *apiError) {
	for name, values := range e.header {
		w.Header()[name] = values
	}
	if e.DocumentationURL == "" {
		e.DocumentationURL = "https://docs.github.com/rest"
	}
	writeJSON(w, e.status, e)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// readJSON decodes the body of a request; an empty body leaves dst as it is.
func readJSON(r *http.Request, dst any) *apiError {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(data) > maxBody {
		return &apiError{status: http.StatusRequestEntityTooLarge, Message: "Request body too large"}
	}
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, dst); err != nil {
		return &apiError{status: http.StatusBadRequest, Message: "Problems parsing JSON: " + err.Error()}
	}
	return nil
}

// page cuts a list to the page that a request asks for and sets the Link header as GitHub does.
func page[T any](w http.ResponseWriter, r *http.Request, publicURL string, list []T) []T {
	query := r.URL.Query()
	size := number(query, "per_page", 30, 100)
	wanted := number(query, "page", 1, 1<<30)
	last := max((len(list)+size-1)/size, 1)
	var links []string
	link := func(rel string, n int) {
		q := cloneQuery(query)
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, publicURL, requestPath(r), q.Encode(), rel))
	}
	if wanted > 1 {
		link("prev", wanted-1)
		link("first", 1)
	}
	if wanted < last {
		link("next", wanted+1)
		link("last", last)
	}
	if len(links) > 0 {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
	from := min((wanted-1)*size, len(list))
	return list[from:min(from+size, len(list))]
}

// requestPath is the path as the client sent it, with the prefix that routing took off.
func requestPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path
}

func number(query url.Values, key string, without, limit int) int {
	n, err := strconv.Atoi(query.Get(key))
	if err != nil || n < 1 {
		return without
	}
	return min(n, limit)
}

func cloneQuery(q url.Values) url.Values {
	c := url.Values{}
	for key, values := range q {
		c[key] = values
	}
	return c
}

func idOf(r *http.Request) (int64, *apiError) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, notFound()
	}
	return id, nil
}
