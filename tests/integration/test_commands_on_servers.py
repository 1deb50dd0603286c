"""The operators' commands on every kind of database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from inprocess import HOST, PROJECT, Program
from managing import down, run

from fileshare.cmd.status import CHECKS
from fileshare.db.clock import after
from fileshare.db.models import QuotaUsage, Share, ShareInstance
from fileshare.drivers.dummy.state import SHARES

PROGRAMS = Path(sys.executable).parent
ALPHA, BETA = f"{HOST}@alpha", f"{HOST}@beta"


class Cloud:
    """A program, and the commands on its database."""

    def __init__(self, url, tmp_path):
        self.program = Program(url, tmp_path)
        self.program.share_type()

    def manage(self, *words):
        return run(self.program.runtime, *words)

    def rows(self, *words, code=0):
        found = self.manage(*words, "-f", "json")
        assert found.code == code, (words, found.out, found.err)
        return found.rows


@pytest.fixture
def cloud(any_url, tmp_path):
    made = Cloud(any_url, tmp_path)
    yield made
    made.program.sessions.dispose()


@pytest.fixture
def daemons(cloud):
    """Daemons that look for work until the test ends."""
    with cloud.program.polling():
        yield


def test_a_database_is_made_and_checked(any_url, tmp_path):
    """By the programs themselves."""
    file = tmp_path / "commands.conf"
    file.write_text(f"[DEFAULT]\nstate_path = {tmp_path}\n[database]\nconnection = {any_url}\n")

    def program(name, *words):
        where = {**os.environ, "FILESHARE_CONFIG": str(file)}
        command = [PROGRAMS / name, *words]
        return subprocess.run(command, capture_output=True, text=True, env=where, check=False)

    old = program("fileshare-status", "upgrade", "check")
    assert old.returncode == 2, old.stderr
    assert old.stdout.count("\n") == 1
    assert "run 'fileshare-manage db sync'" in old.stdout
    assert program("fileshare-manage", "db", "sync").returncode == 0
    new = program("fileshare-status", "upgrade", "check")
    assert (new.returncode, new.stdout.count("success")) == (0, len(CHECKS)), new.stderr
    # What programs read is the answer alone: the log goes elsewhere.
    assert "INFO" in new.stderr
    version = program("fileshare-manage", "db", "version", "-f", "json")
    assert set(json.loads(version.stdout)[0]) == {"expand", "contract"}


def test_purge(cloud):
    program = cloud.program
    kept, gone = program.new_share(), program.new_share()
    assert program.delete(f"/shares/{gone}").status == 202
    program.drain()
    for model in (Share, ShareInstance):
        old = sa.update(model).where(model.deleted_at.is_not(None))
        program.write(old.values(deleted_at=after(-86400 * 9)))
    assert {row["table"] for row in cloud.rows("db", "purge", "--dry-run", "7")} >= {"shares"}
    assert program.count(Share) == 2
    assert {row["table"] for row in cloud.rows("db", "purge", "7")} >= {"shares"}
    assert program.scalars(sa.select(Share.id)) == [kept]


def test_quota(cloud):
    program = cloud.program
    program.new_share(size=3)
    assert cloud.rows("quota", "check") == []
    wrong = (QuotaUsage.project_id == PROJECT, QuotaUsage.resource == "gigabytes")
    program.write(sa.update(QuotaUsage).where(*wrong).values(used=9))
    found = cloud.rows("quota", "check", code=1)
    assert {(row["booked"], row["counted"]) for row in found} == {(9, 3)}
    assert cloud.rows("quota", "sync") == found
    assert cloud.rows("quota", "check") == []
    program.check()


def test_services(cloud):
    assert {row["host"] for row in cloud.rows("service", "list")} >= {ALPHA, BETA}
    assert cloud.manage("service", "remove", "share", BETA).code == 1
    down(cloud.program, BETA)
    assert cloud.manage("service", "remove", "share", BETA).code == 0
    down(cloud.program, ALPHA, seconds=86400 * 9)
    cleaned = cloud.rows("service", "cleanup")
    assert [row["host"] for row in cleaned] == [ALPHA]
    assert {row["host"] for row in cloud.rows("service", "list")}.isdisjoint({ALPHA, BETA})


def test_backends(cloud):
    program = cloud.program
    share = program.new_share()
    host = program.show(share)["host"]
    old = host.partition("#")[0]
    assert {row["host"] for row in cloud.rows("backend", "list")} == {ALPHA, BETA}
    assert cloud.manage("backend", "rename", old, f"{HOST}@new").code == 1
    down(program, old)
    assert cloud.manage("backend", "rename", old, f"{HOST}@new").code == 0
    assert program.show(share)["host"] == host.replace(old, f"{HOST}@new")


def test_reconcile(cloud, daemons):
    assert cloud.rows("reconcile", ALPHA) == []
    record = {"id": "stray", "size": 1, "pool": "pool", "rules": [], "protocol": "NFS"}
    cloud.program.drivers["alpha"].state.write(SHARES, "stray", record)
    (found,) = cloud.rows("reconcile", ALPHA, code=1)
    assert found["what"] == "left_over"
    assert cloud.manage("fsck").code == 1
    assert cloud.manage("fsck", "--repair").code == 0
    assert cloud.manage("fsck").code == 0
