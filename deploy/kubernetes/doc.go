// Package kubernetes holds ffconvert.yaml, which converts one dataset with many pods, and the
// tests of it and of the container's image: tests alone, in a module of their own, so that who
// builds ffconvert needs nothing of Kubernetes.
//
//	make test    # or here: go test ./...
//
// The manifest is decoded by the types of Kubernetes itself, where an unknown field is an error;
// then the containers' commands are run, index by index, with the environment that a pod has, and
// what comes of them is compared with a conversion on one machine.
package kubernetes
