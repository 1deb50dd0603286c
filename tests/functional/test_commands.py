"""``fileshare-manage`` as operators run it, on a program in the same process."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, PROJECT
from managing import ALPHA, BETA, disable, down

from fileshare.api.middleware import tokens
from fileshare.clients.coordination import Coordination
from fileshare.cmd.manage import COMMANDS
from fileshare.db import services
from fileshare.db.models import Member, PoolReport, Service, Share, ShareInstance, new_id

# -- the program ---------------------------------------------------------------------------


def test_every_command_explains_itself(manage):
    for name, command in COMMANDS.items():
        assert command.__doc__, name
        result = manage("help", *name.split(), listing=False)
        assert result.code == 0, name
        assert command.__doc__.split(".")[0][:40] in " ".join(result.out.split())


def test_wrong_command_lines(manage, program):
    assert manage("nothing", listing=False).code == 2
    for words in (("db", "purge"), ("db", "purge", "-1"), ("backend", "rename", "x")):
        with pytest.raises(SystemExit) as end:
            manage(*words, listing=False)
        assert end.value.code == 2


# -- service -------------------------------------------------------------------------------


def test_service_list(manage):
    assert [(row["binary"], row["host"], row["state"]) for row in manage("service", "list").rows] == [
        ("share", ALPHA, "up"),
        ("share", BETA, "up"),
    ]  # fmt: skip


def test_service_remove(program, manage):
    """C174"""
    disable(program, BETA)
    share_id = program.new_share()
    for host in (ALPHA, BETA):
        result = manage("service", "remove", "share", host, listing=False)
        assert result.code == 1
        assert "is up" in result.err
        down(program, host)
    result = manage("service", "remove", "manila-share", ALPHA, listing=False)
    assert result.code == 1
    assert share_id in result.err
    assert manage("service", "remove", "share", BETA, "--dry-run", listing=False).code == 0
    assert program.count(Service) == 2
    assert manage("service", "remove", "fileshare-share", BETA, listing=False).code == 0
    assert [row["host"] for row in manage("service", "list").rows] == [ALPHA]
    assert program.count(PoolReport, PoolReport.backend == BETA) == 0
    assert program.count(Member) == 1
    for words in (("share", BETA), ("scheduler", ALPHA)):
        result = manage("service", "remove", *words, listing=False)
        assert (result.code, "could not be found" in result.err) == (1, True)


def test_service_cleanup(program, manage):
    """C174: what is gone for long."""
    disable(program, BETA)
    share_id = program.new_share()
    for node, age in (("old", 90000), ("young", 5000)):
        identity = services.Identity("scheduler", node, "scheduler", "nova", node, node)
        program.sessions.run(lambda session, who=identity: services.join(session, who, 60))
        down(program, node, age)
    down(program, ALPHA, 90000)
    dry = manage("service", "cleanup", "--dry-run")
    assert {row["host"]: row["result"][:16] for row in dry.rows} == {
        "old": "would be removed", ALPHA: f"Shares live on {ALPHA}"[:16],
    }  # fmt: skip
    result = manage("service", "cleanup")
    assert result.code == 1
    assert share_id in next(row["result"] for row in result.rows if row["host"] == ALPHA)
    assert [row["host"] for row in manage("service", "list").rows] == [ALPHA, BETA, "young"]
    shown = program.get("/services", as_=ADMIN)["services"]
    assert sorted(service["host"] for service in shown) == [ALPHA, BETA, "young"]
    assert manage("service", "cleanup", "--older", "60").code == 1
    assert [row["host"] for row in manage("service", "list").rows] == [ALPHA, BETA]


# -- backend -------------------------------------------------------------------------------


def test_backend_list(program, manage):
    disable(program, BETA)
    program.new_share(size=3)
    program.write(sa.update(ShareInstance).values(host="lost@place#pool"))
    down(program, BETA)
    rows = {row["host"]: row for row in manage("backend", "list").rows}
    assert {host: (row["state"], row["pools"], row["shares"]) for host, row in rows.items()} == {
        ALPHA: ("up", 1, 0),
        BETA: ("down", 1, 0),
        "lost@place": ("unknown", 0, 1),
    }
    assert rows[BETA]["status"] == "disabled"
    assert rows[ALPHA]["total_gb"] == 10000


def test_backend_rename(program, manage):
    share_id = program.new_share()
    host = program.read_share(share_id).share.host
    old, _, pool = host.partition("#")
    near = program.new_share()
    program.write(
        sa.update(ShareInstance)
        .where(ShareInstance.share_id == near)
        .values(host=f"{old}0#{pool}"),
    )
    program.write(sa.update(Share).where(Share.id == near).values(host=f"{old}0#{pool}"))
    assert program.act(share_id, "extend", {"new_size": 2}).status == 202
    program.consumers["scheduler"].perform(program.bell.rung.popleft()[1])
    result = manage("backend", "rename", old, "other@place")
    assert result.code == 1
    assert "is up" in result.err
    down(program, old)
    dry = manage("backend", "rename", old, "other@place", "--dry-run")
    assert program.read_share(share_id).share.host == host
    result = manage("backend", "rename", old, "other@place")
    done = {row["table"]: row["renamed"] for row in result.rows}
    assert result.code == 0
    assert done == {row["table"]: row["to rename"] for row in dry.rows}
    assert (done["services"], done["pool_reports"], done["intents"]) == (1, 1, 1)
    held = program.read_share(share_id)
    assert held.share.host == held.instance.host == f"other@place#{pool}"
    assert program.read_share(near).instance.host == f"{old}0#{pool}"
    (report,) = program.scalars(sa.select(PoolReport).where(PoolReport.backend == "other@place"))
    assert (report.host, report.pool) == (f"other@place#{pool}", pool)
    # The daemon of the new name finishes the work that waited.
    name = old.partition("@")[2]
    consumer = program.share_consumer(name)
    consumer.destinations = ("share.other@place",)
    for intent_id in consumer.due():
        assert consumer.perform(intent_id)
    assert program.show(share_id)["size"] == 2
    assert program.show(share_id)["status"] == "available"


def test_backend_rename_to_one_that_runs_already(program, manage):
    """Its daemons were started first: the old service and its reports go, the shares stay."""
    disable(program, BETA)
    share_id = program.new_share()
    down(program, ALPHA)
    assert manage("backend", "rename", ALPHA, BETA).code == 0
    assert program.read_share(share_id).share.host == f"{BETA}#pool"
    assert [row["host"] for row in manage("service", "list").rows] == [BETA]
    assert program.count(PoolReport) == 1
    assert program.count(Member) == 1


def test_pool_rename(program, manage):
    disable(program, BETA)
    share_id = program.new_share()
    down(program, ALPHA)
    assert manage("backend", "rename", f"{ALPHA}#pool", f"{ALPHA}#fast").code == 0
    assert program.read_share(share_id).instance.host == f"{ALPHA}#fast"
    hosts = set(program.scalars(sa.select(PoolReport.host)))
    assert hosts == {f"{ALPHA}#fast", f"{BETA}#pool"}
    assert program.count(Service, Service.host == ALPHA) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("node", "other"),
        (ALPHA, ALPHA),
        (ALPHA, f"{BETA}#pool"),
        (f"{ALPHA}#pool", BETA),
        ("nobody@here", "other@place"),
        ("a@", "b@c"),
    ],
)
def test_backend_rename_refuses(program, manage, old, new):
    down(program, ALPHA)
    result = manage("backend", "rename", old, new)
    assert result.code == 1
    assert result.err


# -- locks ---------------------------------------------------------------------------------


def test_locks_clean(program, manage, tmp_path):
    share_id = program.new_share()
    program.conf.set_override("backend_url", f"file://{tmp_path}/locks", "coordination")
    coordination = Coordination(program.conf)
    alive, gone, used = program.read_share(share_id).instance.id, new_id(), new_id()
    for id in (alive, gone, used):
        with coordination.lock(f"instance-{id}"):
            pass
    with coordination.lock("watch-node@alpha"):
        pass
    object.__setattr__(program.runtime, "locks", Coordination(program.conf))
    files = {path.name for path in (tmp_path / "locks").iterdir()}
    dry = manage("locks", "clean", "--dry-run")
    assert {row["instance"] for row in dry.rows} == {gone, used}
    assert {path.name for path in (tmp_path / "locks").iterdir()} == files
    with coordination.lock(f"instance-{used}"):
        rows = {row["instance"]: row["result"] for row in manage("locks", "clean").rows}
    assert rows == {gone: "removed", used: "in use"}
    assert {path.name for path in (tmp_path / "locks").iterdir()} == files - {
        f"fileshare-instance-{gone}"
    }
    coordination.stop()
    program.runtime.locks.stop()


def test_locks_elsewhere(program, manage):
    program.conf.set_override("backend_url", "etcd3+http://127.0.0.1:2379", "coordination")
    result = manage("locks", "clean")
    assert (result.code, result.rows) == (0, [])
    assert "no files" in result.err


# -- token ---------------------------------------------------------------------------------


def test_tokens(program, manage):
    made = manage("token", "create", "ann", PROJECT).rows
    admin = manage("token", "create", "bob", PROJECT, "--role", "admin", "--role", "reader").rows
    assert made["roles"] == "member"
    rows = manage("token", "list").rows
    assert [(row["user"], row["roles"]) for row in rows] == [
        ("ann", "member"),
        ("bob", "admin reader"),
    ]
    assert made["token"] not in json.dumps(rows)
    known = tokens.Tokens(None, program.conf, lambda _: False)
    assert known.find(made["token"]).user == "ann"
    assert manage("token", "revoke", made["id"], "--dry-run", listing=False).code == 0
    assert known.find(made["token"]).user == "ann"
    assert manage("token", "revoke", made["id"], listing=False).code == 0
    assert known.find(made["token"]) is None
    assert known.find(admin["token"]).user == "bob"
    assert manage("token", "revoke", made["id"], listing=False).code == 1
    manage("token", "create", "ann", PROJECT)
    assert manage("token", "revoke", "", listing=False).code == 1
    assert len(manage("token", "list").rows) == 2


# -- intents and shares --------------------------------------------------------------------


def test_intents_and_history(program, manage):
    share_id = program.new_share()
    assert program.act(share_id, "extend", {"new_size": 2}).status == 202
    (row,) = manage("intent", "list").rows
    assert (row["event"], row["state"], row["share_id"]) == ("share.extend", "open", share_id)
    assert manage("intent", "show", row["id"]).rows["payload"]
    assert manage("intent", "list", "--limit", "1").err == ""
    assert manage("intent", "retry", row["id"], listing=False).code == 0
    assert manage("intent", "fail", row["id"], listing=False).code == 0
    assert manage("intent", "fail", row["id"], listing=False).code == 1
    assert program.show(share_id)["status"] == "available"  # no back end was asked
    cut = manage("intent", "list", "--share", share_id, "--limit", "1")
    assert (len(cut.rows), cut.err) == (1, "There are more than these 1: see --limit.\n")
    history = manage("share", "explain", share_id).rows
    assert {row["what"] for row in history} >= {"promised", "done", "failed", "told", "is"}
    assert manage("share", "explain", new_id()).code == 1
