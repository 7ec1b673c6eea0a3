// Package kubernetes has ffconvert.yaml, which converts one dataset with many pods, ffconvert-bucket.yaml, which
// does so in an object store, argo.yaml, a workflow of Argo, and tests of them and of the container image. The
// tests are a separate module, so that building ffconvert does not require modules of Kubernetes and Argo.
//
//	make test    # or here: go test ./...
//
// A test decodes the files with the types of Kubernetes and Argo; an unknown field is an error. It runs the
// commands of the containers for each index, with the environment of a pod, and compares the files
// with a conversion on one machine. The object store is a real S3 server (package versitygw).
package kubernetes
