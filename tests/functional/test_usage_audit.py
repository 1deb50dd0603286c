"""``fileshare-usage-audit``: every share of a period, and only those, told once."""

from __future__ import annotations

import collections
import datetime as dt
import io
import json
import subprocess
import sys

import pytest
import sqlalchemy as sa
from inprocess import HOST, PROJECT

from fileshare.cmd import usage_audit
from fileshare.db import models, usage
from fileshare.domain.periods import Period, completed, parse
from fileshare.rpc import transport

BEGIN, END = dt.datetime(2026, 3, 1), dt.datetime(2026, 4, 1)  # noqa: DTZ001
BEFORE, DURING, AFTER = BEGIN - dt.timedelta(days=3), BEGIN + dt.timedelta(days=3), END
WORDS = ("--start", str(BEGIN), "--end", str(END))


class Collector:
    def __init__(self, refuse=()):
        self.heard = []
        self.refuse = refuse
        self.closed = 0

    def send(self, notice):
        if notice.payload["share_id"] in self.refuse:
            return False
        self.heard.append(notice)
        return True

    def close(self):
        self.closed += 1

    def events(self, share_id):
        return [n.event for n in self.heard if n.payload["share_id"] == share_id]


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def collector(monkeypatch):
    made = Collector()
    monkeypatch.setattr(usage_audit, "_sender", lambda _conf: made)
    return made


@pytest.fixture
def audit(program):
    def command(*words):
        out, err = io.StringIO(), io.StringIO()
        code = usage_audit.run(words, out, err, program.runtime)
        return Result(code, out.getvalue(), err.getvalue())

    return command


def share(program, created_at, deleted_at=None, **values):
    """A share of that time, as the table keeps it."""
    type_id = program.scalar(sa.select(models.ShareType.id))
    row = {
        "id": models.new_id(),
        "project_id": PROJECT,
        "user_id": "alice",
        "size": 5,
        "share_proto": "NFS",
        "status": "deleted" if deleted_at else "available",
        "host": f"{HOST}@alpha#pool",
        "share_type_id": type_id,
        "created_at": created_at,
        "deleted_at": deleted_at,
        **values,
    }
    program.write(sa.insert(models.Share), [row])
    return row["id"]


LIVES = {
    "lives through it": (BEFORE, None, True),
    "is made in it": (DURING, None, True),
    "is made as it begins": (BEGIN, None, True),
    "is made as it ends": (END, None, False),
    "is made after it": (AFTER + dt.timedelta(days=1), None, False),
    "dies in it": (BEFORE, DURING, True),
    "lives within it": (DURING, DURING + dt.timedelta(seconds=1), True),
    "dies after it": (BEFORE, AFTER + dt.timedelta(days=1), True),
    "dies as it begins": (BEFORE, BEGIN, False),
    "dies before it": (BEFORE - dt.timedelta(days=1), BEFORE, False),
}


def test_a_share_is_told_of_where_it_was_there_for_a_moment(program, audit, collector):
    ids = {case: share(program, *times) for case, (*times, _) in LIVES.items()}
    assert audit(*WORDS).code == 0
    for case, id in ids.items():
        assert (case, collector.events(id)) == (case, ["share.exists"] * LIVES[case][2])
    assert collector.closed == 1


def test_creations_and_deletions_are_told_again_where_asked_for(program, audit, collector):
    births = ["share.create.start", "share.create.end"]
    deaths = ["share.delete.start", "share.delete.end"]
    ids = {case: share(program, *times) for case, (*times, _) in LIVES.items()}
    assert audit(*WORDS, "--send-actions").code == 0
    for case, id in ids.items():
        created, deleted, there = LIVES[case]
        born = births if BEGIN <= created < END else []
        died = deaths if deleted and BEGIN < deleted < END else []
        told = ["share.exists", *born, *died] if there else []
        assert (case, collector.events(id)) == (case, told)
    (born,) = (
        n
        for n in collector.heard
        if n.event == "share.create.end" and n.payload["share_id"] == ids["is made in it"]
    )
    assert born.payload["audit_period_beginning"] == str(DURING)
    assert born.payload["audit_period_ending"] == str(DURING)


def test_payload(program, audit, collector):
    id = share(program, BEFORE, DURING, display_name="n", display_description="d")
    audit(*WORDS)
    (notice,) = collector.heard
    assert notice.publisher == f"share.{HOST}"
    assert (notice.event, notice.priority) == ("share.exists", "info")
    payload = {
        key: value
        for key, value in notice.payload.items()
        if key not in {"share_type_id", "request_id", "payload_version"}
    }
    assert payload == {
        "share_id": id,
        "user_id": "alice",
        "project_id": PROJECT,
        "snapshot_id": None,
        "share_group_id": None,
        "size": 5,
        "name": "n",
        "description": "d",
        "proto": "NFS",
        "is_public": False,
        "availability_zone": None,
        "host": f"{HOST}@alpha#pool",
        "status": "deleted",
        "share_type": "default",
        "created_at": "2026-02-26 00:00:00",
        "deleted_at": "2026-03-04 00:00:00",
        "audit_period_beginning": "2026-03-01 00:00:00",
        "audit_period_ending": "2026-04-01 00:00:00",
    }


def test_a_creation_that_failed_is_told_as_failed(program, audit, collector):
    id = share(program, DURING, status="error", is_charged=False)
    audit(*WORDS, "--send-actions")
    assert collector.events(id) == ["share.exists", "share.create.start", "share.create.error"]


def test_shares_of_the_program_itself(program, audit, collector):
    """A share in the recycle bin still takes room; a deleted one is told of until it is purged."""
    kept, binned, gone = (program.new_share() for _each in range(3))
    program.act(binned, "soft_delete")
    program.delete(f"/shares/{gone}")
    program.drain()
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    hour = dt.timedelta(hours=1)
    audit("--start", str(now - hour), "--end", str(now + hour), "--send-actions")
    births = ["share.exists", "share.create.start", "share.create.end"]
    assert collector.events(kept) == collector.events(binned) == births
    assert collector.events(gone) == [*births, "share.delete.start", "share.delete.end"]


def test_many_shares_are_read_in_batches(program, audit, collector, monkeypatch):
    monkeypatch.setattr(usage, "BATCH", 7)
    monkeypatch.setattr(usage_audit, "_TOLD_EACH", 10)
    ids = [share(program, BEFORE) for _each in range(28)]
    done = audit(*WORDS)
    told = collections.Counter(notice.payload["share_id"] for notice in collector.heard)
    assert told == dict.fromkeys(ids, 1)
    assert done.err.splitlines()[-1] == "20 notifications, 0 of them failed"


def test_what_cannot_be_sent_is_counted_and_the_rest_is_sent(program, audit, collector):
    good, bad = share(program, BEFORE), share(program, BEFORE)
    collector.refuse = {bad}
    done = audit(*WORDS, "-f", "json")
    assert done.code == 1
    assert json.loads(done.out)["failed"] == 1
    assert json.loads(done.out)["sent"] == {"share.exists": 1}
    assert collector.events(good) == ["share.exists"]
    assert collector.closed == 1


def test_sums(program, audit, collector):
    share(program, BEFORE)
    done = audit(*WORDS)
    assert done.out == (
        "period\t2026-03-01 00:00:00 to 2026-04-01 00:00:00\nshare.exists\t1\nfailed\t0\n"
    )


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_dry_run_prints_and_sends_nothing(program, audit, collector, number):
    ids = {share(program, BEFORE) for _each in range(number)}
    done = audit(*WORDS, "--dry-run", "-f", "json")
    assert done.code == 0
    found = json.loads(done.out)
    assert {each["payload"]["share_id"] for each in found} == ids
    assert all(each["event"] == "share.exists" for each in found)
    lines = audit(*WORDS, "--dry-run").out.splitlines()
    assert lines[0].split("\t") == ["event", "share_id", "project_id", "size", "status"]
    assert {line.split("\t")[1] for line in lines[1:]} == ids
    assert collector.heard == []


def test_without_a_driver_nothing_is_pretended(program, audit):
    transport.register(program.conf)
    share(program, BEFORE)
    done = audit(*WORDS)
    assert (done.code, done.out) == (1, "")
    assert "oslo_messaging_notifications" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--start", "2026-03-01"),
        ("--end", "2026-03-01"),
        ("--start", "2026-03-01", "--end", "2026-03-01"),
        ("--start", "2026-03-02", "--end", "2026-03-01"),
        ("--start", "yesterday", "--end", "2026-03-01"),
        ("--start", "2026-02-30", "--end", "2026-03-01"),
        ("--start", "2026-03-01", "--end", "9999-12-31T23:59:59-01:00"),
        ("-f", "xml"),
        ("shares",),
    ],
)
def test_wrong_command_lines(audit, collector, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        audit(*words)
    assert stopped.value.code == 2
    assert "usage: fileshare-usage-audit" in capsys.readouterr().err
    assert collector.heard == []


def test_the_default_is_the_last_period_that_is_over(program, audit, collector):
    program.conf.set_override("share_usage_audit_period", "year")
    year = dt.datetime.now(dt.UTC).year
    sums = json.loads(audit("-f", "json").out)
    assert sums["audit_period_beginning"] == f"{year - 1}-01-01 00:00:00"
    assert sums["audit_period_ending"] == f"{year}-01-01 00:00:00"


@pytest.mark.parametrize(
    ("kind", "now", "begin", "end"),
    [
        ("month", "2026-03-15 12:00", "2026-02-01", "2026-03-01"),
        ("month", "2026-01-01", "2025-12-01", "2026-01-01"),
        ("day", "2026-03-01 00:00:01", "2026-02-28", "2026-03-01"),
        ("hour", "2026-03-01 00:59:59.999999", "2026-02-28 23:00", "2026-03-01"),
        ("year", "2026-12-31 23:59", "2025-01-01", "2026-01-01"),
    ],
)
def test_periods(kind, now, begin, end):
    assert completed(kind, parse(now)) == Period(parse(begin), parse(end))


def test_moments_are_utc():
    assert parse("2026-03-01 02:00+02:00") == parse("2026-03-01T00:00:00") == BEGIN


def test_without_a_database_it_is_refused(tmp_path):
    config = tmp_path / "fileshare.conf"
    config.write_text(f"[database]\nconnection = sqlite:///{tmp_path}/none.sqlite\n")
    command = [sys.executable, "-c", "from fileshare.cmd import usage_audit; usage_audit.main()"]
    done = subprocess.run(
        [*command, "--config-file", str(config)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no" in done.stderr
    assert not (tmp_path / "none.sqlite").exists()
