package remote

import (
	"errors"
	"net/http"
)

func newGS(Options, *http.Client) (store, error)  { return nil, errors.ErrUnsupported }
func newAIS(Options, *http.Client) (store, error) { return nil, errors.ErrUnsupported }
