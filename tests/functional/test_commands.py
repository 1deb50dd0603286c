"""``fileshare-manage`` as operators run it, on a program in the same process."""

from __future__ import annotations

import io
import json
import threading
import time

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, OTHER_PROJECT, PROJECT, STRANGER

from fileshare.api.middleware import tokens
from fileshare.clients.coordination import Coordination
from fileshare.cmd.manage import COMMANDS, database
from fileshare.cmd.manage.program import Program as Manage
from fileshare.db import purge, quotas, services
from fileshare.db.clock import after
from fileshare.db.models import (
    AccessRule,
    ExportLocation,
    Intent,
    Member,
    Message,
    PoolReport,
    QuotaUsage,
    Service,
    Share,
    ShareInstance,
    ShareMetadata,
    new_id,
)
from fileshare.db.online import OnlineMigration
from fileshare.drivers.dummy.state import SHARES

ALPHA, BETA = f"{HOST}@alpha", f"{HOST}@beta"


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self):
        return json.loads(self.out)


def run(runtime, *words):
    out, err = io.StringIO(), io.StringIO()
    program = Manage(COMMANDS, runtime, stdout=out, stderr=err)
    return Result(program.run(list(words)), out.getvalue(), err.getvalue())


@pytest.fixture
def manage(program):
    """Runs one command; what it answers as JSON is in ``rows``."""

    def command(*words, listing=True):
        return run(program.runtime, *words, *(("-f", "json") if listing else ()))

    return command


def count(program, model, *where):
    statement = sa.select(sa.func.count()).select_from(model).where(*where)
    return program.sessions.run(lambda session: session.scalar(statement))


def write(program, statement):
    program.sessions.run(lambda session: session.execute(statement))


def down(program, host, seconds=1000):
    """Let a service be down, and let its last heartbeat be old."""
    program.sessions.run(
        lambda session: session.execute(
            sa.update(Service)
            .where(Service.host == host)
            .values(state="down", heartbeat_at=after(-seconds))
        )
    )


def disable(program, host):
    body = {"host": host, "binary": "manila-share"}
    assert program.put("/services/disable", body, as_=ADMIN).status == 200


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


def configured(tmp_path, url):
    path = tmp_path / "manage.conf"
    path.write_text(
        f"[DEFAULT]\nstate_path = {tmp_path}\nhost = {HOST}\n[database]\nconnection = {url}\n"
    )
    return ("--config-file", str(path))


def test_a_database_that_is_not_there(tmp_path):
    where = tmp_path / "nowhere.sqlite"
    config = configured(tmp_path, f"sqlite:///{where}")
    for words in (("service", "list"), ("db", "purge", "30"), ("db", "version")):
        result = run(None, *config, *words)
        assert result.code == 1
        assert str(where) in result.err
        assert "Traceback" not in result.err
        assert not where.exists(), "no command but db sync makes a database"
    config = configured(tmp_path, f"sqlite:///{tmp_path}/no/directory/db.sqlite")
    result = run(None, *config, "db", "sync")
    assert (result.code, "no/directory" in result.err) == (1, True)


def test_a_database_without_tables_is_no_success(tmp_path):
    where = tmp_path / "empty.sqlite"
    where.touch()
    config = configured(tmp_path, f"sqlite:///{where}")
    result = run(None, *config, "db", "purge", "30")
    assert result.code == 1
    assert "db sync" in result.err
    assert run(None, *config, "db", "sync").code == 0
    assert run(None, *config, "db", "purge", "30").code == 0


# -- db purge ------------------------------------------------------------------------------


def age_deletions(program, days):
    for model in (Share, ShareInstance):
        write(
            program,
            sa.update(model)
            .where(model.deleted_at.is_not(None))
            .values(deleted_at=after(-days * 86400)),
        )


def test_purge(program, manage):
    kept = program.new_share(metadata={"a": "b"})
    gone = [program.new_share(metadata={"a": "b"}) for _ in range(3)]
    young = program.new_share()
    for id in gone:
        assert program.delete(f"/shares/{id}").status == 202
    program.drain()
    # What a deletion of another release may have left.
    instance = program.sessions.run(
        lambda session: session.scalar(
            sa.select(ShareInstance.id).where(ShareInstance.share_id == gone[0])
        )
    )
    write(program, sa.insert(ExportLocation).values(share_instance_id=instance, path="x"))
    age_deletions(program, 31)
    assert program.delete(f"/shares/{young}").status == 202
    program.drain()
    write(program, sa.update(Intent).values(closed_at=after(-31 * 86400)))
    write(
        program,
        sa.insert(Message).values(
            project_id=PROJECT, action_id="001", message_level="ERROR", expires_at=after(-1)
        ),
    )
    shares = count(program, Share)
    dry = manage("db", "purge", "30", "--dry-run")
    assert {row["table"]: row["to remove"] for row in dry.rows} == {
        "shares": 3, "share_instances": 3, "intents": 9, "messages": 1,
    }  # fmt: skip
    assert count(program, Share) == shares
    result = manage("db", "purge", "30", "--batch", "2")
    removed = {row["table"]: row["removed"] for row in result.rows}
    assert removed["shares"] == removed["share_instances"] == 3
    assert removed["share_metadata"] == 3
    assert removed["share_instance_export_locations"] == 1
    assert (removed["intents"], removed["messages"]) == (9, 1)
    assert "rows removed" in result.err
    assert {kept, young} == set(
        program.sessions.run(lambda session: session.scalars(sa.select(Share.id)).all())
    )
    assert count(program, ShareMetadata) == 1
    assert program.show(kept)["metadata"] == {"a": "b"}
    assert manage("db", "purge", "30").rows == []
    program.check()


def test_purge_leaves_what_is_alive(program, manage):
    """A deleted share with an instance that is not: something is wrong, and nothing is lost."""
    share_id = program.new_share()
    write(program, sa.update(Share).values(deleted_at=after(-86400 * 99)))
    assert "shares" not in {row["table"] for row in manage("db", "purge", "0").rows}
    assert count(program, Share, Share.id == share_id) == 1
    assert count(program, ShareInstance) == 1


def test_purge_goes_on_where_it_was_interrupted(program, manage, monkeypatch):
    for _ in range(4):
        assert program.delete(f"/shares/{program.new_share()}").status == 202
    program.drain()
    age_deletions(program, 2)
    real, steps = purge.step, []

    def step(session, **kw):
        steps.append(kw["table"].name)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return real(session, **kw)

    monkeypatch.setattr(purge, "step", step)
    assert manage("db", "purge", "1", "--batch", "2").code == 130
    left = count(program, Share)
    assert 0 < left + count(program, ShareInstance) < 8
    monkeypatch.setattr(purge, "step", real)
    assert manage("db", "purge", "1").code == 0
    assert count(program, Share) + count(program, ShareInstance) == 0


def test_purge_knows_every_table(program):
    """Whatever hangs on a row that is purged goes first, by the keys of the schema."""
    names = {table.name for table in purge.tables()}
    assert names >= {"shares", "share_instances"}
    assert {c.table.name for c in purge._children(Share.__table__)} >= {
        "share_instances", "share_metadata", AccessRule.__tablename__,
    }  # fmt: skip


# -- db online-data-migrations ---------------------------------------------------------------


def test_online_data_migrations(manage, monkeypatch):
    result = manage("db", "online-data-migrations")
    assert (result.code, result.rows) == (0, [])
    assert "changes no data" in result.err
    left = [7]

    def step(session, limit):
        done = min(limit, left[0])
        found, left[0] = left[0], left[0] - done
        return found, done

    migrations = [OnlineMigration("halve", step)]
    monkeypatch.setattr(database.OnlineDataMigrations, "migrations", migrations)
    result = manage("db", "online-data-migrations", "--max-count", "5")
    assert (result.code, result.rows) == (1, [{"migration": "halve", "found": 7, "done": 5}])
    result = manage("db", "online-data-migrations")
    assert (result.code, result.rows[0]["done"]) == (0, 2)
    assert manage("db", "online-data-migrations", "--max-count", "0").code == 127

    def broken(session, limit):
        raise RuntimeError("no")

    monkeypatch.setattr(
        database.OnlineDataMigrations, "migrations", [OnlineMigration("broken", broken)]
    )
    result = manage("db", "online-data-migrations")
    assert (result.code, "no" in result.err) == (2, True)


# -- quota -----------------------------------------------------------------------------------


def spoil(program, by, resource="gigabytes", project=PROJECT):
    write(
        program,
        sa.update(QuotaUsage)
        .where(
            QuotaUsage.project_id == project,
            QuotaUsage.resource == resource,
            QuotaUsage.scope == "project",
        )
        .values(used=QuotaUsage.used + by),
    )


def test_quota_check_and_sync(program, manage):
    share_id = program.new_share(size=3)
    program.new_share(size=2, as_=STRANGER)
    # Work in flight is no difference: 2 GiB are booked that no share has yet.
    assert program.act(share_id, "extend", {"new_size": 5}).status == 202
    result = manage("quota", "check")
    assert (result.code, result.rows) == (0, [])
    books = program.sessions.run(quotas.booked)
    spoil(program, 4)
    spoil(program, -1, "shares", OTHER_PROJECT)
    write(program, sa.delete(QuotaUsage).where(QuotaUsage.scope.startswith("type")))
    result = manage("quota", "check")
    assert result.code == 1
    wrong = {(row["project"], row["scope"], row["quota"]): row for row in result.rows}
    assert wrong[PROJECT, "project", "gigabytes"]["booked"] == 9
    assert wrong[PROJECT, "project", "gigabytes"]["counted"] == 5
    assert wrong[OTHER_PROJECT, "project", "shares"]["counted"] == 1
    # Only what was asked for, and nothing on a dry run.
    result = manage("quota", "sync", "--project", OTHER_PROJECT, "--dry-run")
    assert {row["project"] for row in result.rows} == {OTHER_PROJECT}
    assert manage("quota", "check", "--project", OTHER_PROJECT).code == 1
    assert manage("quota", "sync", "--project", OTHER_PROJECT).code == 0
    assert manage("quota", "check", "--project", OTHER_PROJECT).code == 0
    assert manage("quota", "check").code == 1
    assert manage("quota", "sync").code == 0
    assert manage("quota", "check").code == 0
    assert program.sessions.run(quotas.booked) == books
    program.drain()
    program.check()


def test_quota_of_nothing(program, manage):
    """Usage of a project that has nothing goes to zero."""
    write(
        program,
        sa.insert(QuotaUsage).values(
            project_id="ghost", scope="project", resource="shares", used=2
        ),
    )
    (row,) = manage("quota", "sync").rows
    assert (row["project"], row["booked"], row["counted"]) == ("ghost", 2, 0)
    assert manage("quota", "check").code == 0


def test_quota_is_counted_while_work_ends(program, manage, monkeypatch):
    """An extend that ends between two questions is counted once."""
    share_id = program.new_share(size=3)
    spoil(program, 1)
    assert program.act(share_id, "extend", {"new_size": 5}).status == 202
    intents = program.sessions.run(
        lambda session: session.scalars(sa.select(Intent.id).where(Intent.state == "open")).all()
    )
    assert len(intents) == 1
    real, hit = quotas._in_flight, []

    def in_flight(session, project_id):
        if len(hit) == 2:  # within the count that holds the books
            end_extend(session)
        hit.append(1)
        return real(session, project_id)

    def end_extend(session):
        # What its worker would commit now; SQLite has one writer, so it is done here.
        session.execute(sa.update(Share).where(Share.id == share_id).values(size=5))
        session.execute(
            sa.update(Intent)
            .where(Intent.id == intents[0])
            .values(state="done", open_key=None, due=None)
        )

    monkeypatch.setattr(quotas, "_in_flight", in_flight)
    rows = manage("quota", "sync").rows
    found = {(row["scope"], row["quota"]): (row["booked"], row["counted"]) for row in rows}
    assert found == {("project", "gigabytes"): (6, 5)}
    assert len(hit) == 4


# -- service ---------------------------------------------------------------------------------


def test_service_list(manage):
    assert [(row["binary"], row["host"], row["state"]) for row in manage("service", "list").rows] == [
        ("share", ALPHA, "up"),
        ("share", BETA, "up"),
    ]  # fmt: skip


def test_service_remove(program, manage):
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
    assert count(program, Service) == 2
    assert manage("service", "remove", "fileshare-share", BETA, listing=False).code == 0
    assert [row["host"] for row in manage("service", "list").rows] == [ALPHA]
    assert count(program, PoolReport, PoolReport.backend == BETA) == 0
    assert count(program, Member) == 1
    for words in (("share", BETA), ("scheduler", ALPHA)):
        result = manage("service", "remove", *words, listing=False)
        assert (result.code, "could not be found" in result.err) == (1, True)


def test_service_cleanup(program, manage):
    disable(program, BETA)
    share_id = program.new_share()
    for node, age in (("old", 90000), ("young", 5000)):
        identity = services.Identity("scheduler", node, "scheduler", "nova", node, node)
        program.sessions.run(lambda session, who=identity: services.join(session, who))
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
    assert manage("service", "cleanup", "--older", "60").code == 1
    assert [row["host"] for row in manage("service", "list").rows] == [ALPHA, BETA]


# -- backend ---------------------------------------------------------------------------------


def test_backend_list(program, manage):
    disable(program, BETA)
    program.new_share(size=3)
    write(program, sa.update(ShareInstance).values(host="lost@place#pool"))
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
    write(
        program,
        sa.update(ShareInstance)
        .where(ShareInstance.share_id == near)
        .values(host=f"{old}0#{pool}"),
    )
    write(program, sa.update(Share).where(Share.id == near).values(host=f"{old}0#{pool}"))
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
    (report,) = program.sessions.run(
        lambda session: session.scalars(
            sa.select(PoolReport).where(PoolReport.backend == "other@place")
        ).all()
    )
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
    assert count(program, PoolReport) == 1
    assert count(program, Member) == 1


def test_pool_rename(program, manage):
    disable(program, BETA)
    share_id = program.new_share()
    down(program, ALPHA)
    assert manage("backend", "rename", f"{ALPHA}#pool", f"{ALPHA}#fast").code == 0
    assert program.read_share(share_id).instance.host == f"{ALPHA}#fast"
    hosts = program.sessions.run(lambda session: set(session.scalars(sa.select(PoolReport.host))))
    assert hosts == {f"{ALPHA}#fast", f"{BETA}#pool"}
    assert count(program, Service, Service.host == ALPHA) == 1


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


# -- reconcile -------------------------------------------------------------------------------


@pytest.fixture
def daemons(program):
    """Daemons that look for work until the test ends."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            program.poll()
            time.sleep(0.05)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join()


def test_reconcile(program, manage, daemons):
    disable(program, BETA)
    share_id = program.new_share(drain=False)
    deadline = time.monotonic() + 30
    while program.show(share_id)["status"] != "available":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    instance = program.read_share(share_id).instance.id
    result = manage("reconcile", ALPHA)
    assert (result.code, result.rows) == (0, [])
    state = program.drivers["alpha"].state
    state.write(SHARES, "stray", {**state.read(SHARES, instance), "id": "stray"})
    state.write(SHARES, instance, {**state.read(SHARES, instance), "rules": [{"id": "x"}]})
    result = manage("reconcile", ALPHA)
    assert result.code == 1
    assert [(row["what"], row["instance"], row["repaired"]) for row in result.rows] == [
        ("left_over", "stray", False)
    ]
    result = manage("reconcile", ALPHA, "--repair")
    assert result.code == 0
    assert sorted((row["what"], row["repaired"]) for row in result.rows) == [
        ("left_over", True),
        ("rules", True),
    ]
    assert manage("reconcile", ALPHA, "--repair").rows == []


def test_reconcile_without_a_daemon(program, manage):
    result = manage("reconcile", ALPHA, "--timeout", "0")
    assert result.code == 3
    assert "intent show" in result.err
    down(program, ALPHA)
    assert manage("reconcile", ALPHA).code == 1
    assert manage("reconcile", "nobody@here").code == 1


def test_reconcile_of_a_back_end_that_does_not_work(program, manage, daemons):
    program.conf.set_override("max_attempts", 1, "intents")
    (program.drivers["alpha"].state.root / "control.json").write_text('{"fail": ["check"]}')
    result = manage("reconcile", ALPHA)
    assert result.code == 1
    assert "Told to fail at check" in result.err


def test_fsck(program, manage, daemons):
    assert manage("fsck").code == 0
    state = program.drivers["beta"].state
    record = {"id": "stray", "size": 1, "pool": "pool", "rules": [], "protocol": "NFS"}
    state.write(SHARES, "stray", record)
    write(
        program,
        sa.insert(QuotaUsage).values(
            project_id="ghost", scope="project", resource="shares", used=2
        ),
    )
    result = manage("fsck")
    assert result.code == 1
    found = [(row["where"], row["what"], row["repaired"]) for row in result.rows]
    assert found == [(BETA, "left_over", False), ("ghost", "quota", False)]
    assert [row["repaired"] for row in manage("fsck", "--repair").rows] == [True, True]
    assert (manage("fsck").code, manage("fsck").rows) == (0, [])
    down(program, ALPHA)
    result = manage("fsck")
    assert (result.code, ALPHA in result.err) == (1, True)


# -- locks -----------------------------------------------------------------------------------


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


# -- token -----------------------------------------------------------------------------------


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


# -- intents and shares ------------------------------------------------------------------------


def test_intents_and_history(program, manage):
    share_id = program.new_share()
    assert program.act(share_id, "extend", {"new_size": 2}).status == 202
    (row,) = manage("intent", "list").rows
    assert (row["event"], row["state"], row["share_id"]) == ("share.extend", "open", share_id)
    assert manage("intent", "show", row["id"]).rows["payload"]
    assert manage("intent", "retry", row["id"], listing=False).code == 0
    assert manage("intent", "fail", row["id"], listing=False).code == 0
    assert manage("intent", "fail", row["id"], listing=False).code == 1
    assert program.show(share_id)["status"] == "extending_error"
    history = manage("share", "explain", share_id).rows
    assert {row["what"] for row in history} >= {"promised", "done", "failed", "told", "is"}
    assert manage("share", "explain", new_id()).code == 1
