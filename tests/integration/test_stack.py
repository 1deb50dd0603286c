"""The local stack: what it runs, and that it keeps it running."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from waiting import until

from devstack import control
from tests.fixtures.clouds import ROOT

pytestmark = pytest.mark.integration

PROGRAMS = {
    "mariadb",
    "rabbitmq",
    "memcached",
    "keystone",
    "fileshare-api",
    "fileshare-scheduler",
    "fileshare-share",
    "fileshare-data",
}


def _stack_command(cloud, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "devstack.stack", *arguments],
        cwd=ROOT,
        env={**os.environ, "FILESHARE_RUN": str(cloud.directory)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _children(pid):
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return {int(line) for line in done.stdout.split()}


def test_every_program_runs(stack):
    status = stack.status()
    assert set(status) == PROGRAMS
    assert {program["state"] for program in status.values()} == {"running"}
    assert len({program["pid"] for program in status.values()}) == len(PROGRAMS)


def test_each_back_end_has_a_process_of_its_own(stack):
    share = stack.status()["fileshare-share"]["pid"]
    assert len(_children(share)) == 3


def test_up_leaves_alone_what_runs(stack):
    before = {name: program["pid"] for name, program in stack.status().items()}
    text = (stack.directory / "fileshare.conf").read_text()
    port = stack.url.rpartition(":")[2].partition("/")[0]
    identity = stack.admin.variables["OS_AUTH_URL"].rpartition(":")[2].partition("/")[0]
    done = _stack_command(
        stack,
        "up",
        "--backends=dummy",
        f"--port={port}",
        f"--keystone-port={identity}",
    )
    assert done.returncode == 0, done.stderr
    assert {name: program["pid"] for name, program in stack.status().items()} == before
    assert (stack.directory / "fileshare.conf").read_text() == text


def test_kill_ends_all_processes_of_a_program_and_it_comes_back(stack):
    before = stack.status()["fileshare-share"]
    children = _children(before["pid"])
    done = _stack_command(stack, "kill", "fileshare-share")
    assert done.returncode == 0, done.stderr
    after = control.ask(stack.directory, "status")["programs"]
    assert before["pid"] not in {program["pid"] for program in after}
    until(lambda: stack.status()["fileshare-share"]["state"] == "running", "it runs")
    assert stack.status()["fileshare-share"]["restarts"] == before["restarts"] + 1
    pid = stack.status()["fileshare-share"]["pid"]
    until(lambda: len(_children(pid)) == 3, "its children")
    assert not _children(pid) & children
    assert not _children(before["pid"])


def test_logs_shows_the_end_of_a_log(stack):
    done = _stack_command(stack, "logs", "fileshare-share", "--lines=5")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 5


def test_logs_of_an_unknown_program_names_those_there_are(stack):
    done = _stack_command(stack, "logs", "nothing")
    assert done.returncode == 1
    assert "fileshare-api" in done.stderr


def test_status_is_for_people_too(stack):
    done = _stack_command(stack, "status")
    assert done.returncode == 0, done.stdout
    assert {line.split()[0] for line in done.stdout.splitlines()[1:]} == PROGRAMS


def test_the_files_that_clients_need_are_there(stack):
    names = {path.name for path in stack.directory.iterdir()}
    assert {"openrc", "openrc-demo", "openrc-reader", "tempest.conf", "fileshare.conf"} <= names
