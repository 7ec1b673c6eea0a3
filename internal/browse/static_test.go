package browse

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The directory of files that pages load is no page.
func TestStaticListsNothing(t *testing.T) {
	t.Parallel()
	routes := new(Server).routes()
	for path, want := range map[string]int{"/static/": http.StatusNotFound, "/static/style.css": http.StatusOK} {
		answer := httptest.NewRecorder()
		routes.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != want {
			t.Errorf("%s: HTTP %d, want %d", path, answer.Code, want)
		}
	}
}
