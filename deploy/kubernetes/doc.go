// Package kubernetes has ffconvert.yaml, which converts one dataset with many pods, and tests of it
// and of the container image. The tests are a separate module, so that building ffconvert does not
// require modules of Kubernetes.
//
//	make test    # or here: go test ./...
//
// A test decodes the manifest with the types of Kubernetes; an unknown field is an error. It runs the
// commands of the containers for each index, with the environment of a pod, and compares the files
// with a conversion on one machine.
package kubernetes
