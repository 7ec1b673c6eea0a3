"""Python imports this as it starts: port 8786 of the host scheduler is SCHEDULER_PORT of this machine."""
import os
import socket

find = socket.getaddrinfo


def here(host, port, *args, **kwargs):
    if (host, port) == ("scheduler", 8786):
        host, port = "127.0.0.1", int(os.environ["SCHEDULER_PORT"])
    return find(host, port, *args, **kwargs)


socket.getaddrinfo = here
