// Package slurm runs the jobs of deploy/slurm on a real Slurm: a controller and four nodes
// on loopback, in a directory of their own, as whoever runs the tests. It is tests alone,
// and imports nothing of ours.
//
//	go test ./internal/slurm
//
// Each test has a cluster to itself. What is lost in a test is lost for good: a node goes
// with SIGKILL to its daemon and to all that runs on it, while a task has a shard half
// written. Then what the tasks leave is compared with what one machine leaves, file by file.
//
// Needed are Debian's slurmctld, slurmd, slurm-client and munge, none of them configured or
// running. Without them the tests are skipped; where CI is set they fail.
package slurm
