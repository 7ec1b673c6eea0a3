package remote

import (
	"errors"
	"net/http"
)

func newAIS(Options, *http.Client) (store, error) { return nil, errors.ErrUnsupported }
