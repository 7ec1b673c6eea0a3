"""A cluster of Dask with two workers on this machine. It prints the port of its scheduler, and ends when its standard input does."""
import sys

from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler.port, flush=True)
        sys.stdin.read()
