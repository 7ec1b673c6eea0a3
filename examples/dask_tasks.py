"""Runs the tasks of the plan in OUT on a Dask cluster: python3 dask_tasks.py OUT TASKS [SCHEDULER]. Without a scheduler: on this machine."""
import subprocess
import sys

from distributed import Client


def task(k, n, out):
    status = subprocess.run(["ffconvert", "run", out, "--task", f"{k}/{n}"]).returncode
    if status in (1, 2, 3):  # it would end so again
        return f"task {k}/{n}: status {status}"
    if status:
        raise RuntimeError(f"task {k}/{n}: status {status}")  # Dask runs it again, perhaps elsewhere


if __name__ == "__main__":
    out, n = sys.argv[1], int(sys.argv[2])
    with Client(*sys.argv[3:]) as client:
        ended = client.gather(client.map(task, range(n), n=n, out=out, retries=5, pure=False))
    sys.exit("\n".join(filter(None, ended)) or 0)
