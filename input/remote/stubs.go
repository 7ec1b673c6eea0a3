package remote

import (
	"errors"
	"net/http"
)

func newS3(Options, *http.Client) (store, error)  { return nil, errors.ErrUnsupported }
func newGS(Options, *http.Client) (store, error)  { return nil, errors.ErrUnsupported }
func newAIS(Options, *http.Client) (store, error) { return nil, errors.ErrUnsupported }
