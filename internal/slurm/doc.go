// Package slurm tests the jobs of deploy/slurm on a real Slurm: a controller and four nodes on
// loopback, in a temporary directory, as the user of the test. It has only tests and does not import
// other packages of this module.
//
//	go test ./internal/slurm
//
// Each test has a cluster of its own. To lose a node, a test sends SIGKILL to its daemon and to all
// processes on it while a task has written half a shard. Then it compares the files of the dataset
// with the files that a conversion on one machine writes.
//
// The tests need Debian's slurmctld, slurmd, slurm-client and munge, neither configured nor running.
// Without them the tests are skipped, or fail if the environment variable CI is set.
package slurm
