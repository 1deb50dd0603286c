"""Ports for the servers of tests: each for one, though it takes long until it listens."""

from __future__ import annotations

import subprocess
import sys

from devstack import servers

TAKEN = """
from devstack.servers import free_port
print(*(free_port() for _ in range(100)))
"""


def test_several_processes_get_different_ports():
    asking = [
        subprocess.Popen((sys.executable, "-c", TAKEN), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ports = " ".join(process.communicate()[0] for process in asking).split()
    assert len(set(ports)) == len(ports) == 300


def test_a_port_on_which_somebody_listens_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setattr(servers.tempfile, "tempdir", str(tmp_path))
    first = servers.free_port()
    monkeypatch.setattr(servers, "PORTS", range(first, first + 3))
    with servers.socket.create_server((servers.HOST, first + 1)):
        assert [servers.free_port() for _ in range(3)] == [first + 2, first, first + 2]
