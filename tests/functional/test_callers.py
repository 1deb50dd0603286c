"""Who asked is known to every daemon that works on what was asked: its checks, and its log."""

from __future__ import annotations

import dataclasses
import io
import json
import logging

import inprocess
import pytest
import sqlalchemy as sa
from inprocess import HOST, PROJECT
from oslo_config import cfg
from oslo_context import context as oslo
from oslo_log import formatters

from fileshare.api import wsgi
from fileshare.api.middleware.keystone import ContextFromHeaders
from fileshare.api.policy import Enforcer, all_operations
from fileshare.cmd import bootstrap
from fileshare.context import Context, leave_the_log
from fileshare.data import service as data
from fileshare.db import models
from fileshare.db.clock import after
from fileshare.intents import destinations
from fileshare.intents.job import caller, tell_the_log_of
from fileshare.intents.kinds import DeleteShare, PlaceShare
from fileshare.intents.unit import operation

POLICY = """
"share:create": "user_domain_id:D"
"share:extend": "domain_id:D or user_domain_id:D"
"share:shrink": "project_domain_id:%(domain_id)s and role:member"
"share:get_all": "rule:context_is_admin or user_domain_id:D"
"share:delete": "system_scope:all"
"share:reset_status": "role:chief and project_id:%(project_id)s and user_id:%(user_id)s"
"""
RULES = [text for text in POLICY.split('"') if text.startswith("share:")]
TOKEN = "gAAAAA-the-token"
GLOBAL = "req-00000000-0000-4000-8000-000000000001"


def token_of(user="dora", project=PROJECT, roles="member,reader,chief", **more):
    """The headers that the middleware of the identity service makes of a token."""
    return {
        "X-Auth-Token": TOKEN,
        "X-User-Id": user,
        "X-Project-Id": project,
        "X-Roles": roles,
        "X-User-Domain-Id": "D",
        "X-Project-Domain-Id": "P",
        "X-OpenStack-Request-Id": GLOBAL,
        **more,
    }


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The program with rules about domains, and callers whose tokens were looked up."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setattr(
        wsgi, "_authentication", lambda app, _, admin: ContextFromHeaders(app, admin)
    )
    with inprocess.running(tmp_path) as made:
        made.conf.set_override("policy_file", str(tmp_path / "policy.yaml"), group="oslo_policy")
        made.app = wsgi.build(made.runtime)
        yield made
    leave_the_log()


@pytest.fixture
def enforcer(api):
    return Enforcer(api.conf, all_operations())


@pytest.fixture
def asked(api, monkeypatch):
    """The contexts of all requests that are served."""
    seen = []
    serve = api.app

    def remembering(environ, start_response):
        answer = serve(environ, start_response)
        seen.append(environ.get("fileshare.context"))
        return answer

    monkeypatch.setattr(api, "app", remembering)
    return seen


@pytest.fixture
def worked(api, monkeypatch):
    """What each daemon knows of the caller when it works: destination, context, log context."""
    seen = []
    for destination, consumer in api.consumers.items():

        def run(job, destination=destination, do=consumer._run):
            seen.append((destination, job.ctx, oslo.get_current().get_logging_values()))
            return do(job)

        monkeypatch.setattr(consumer, "_run", run)
    return seen


def create(api, **headers):
    body = {"share_proto": "NFS", "size": 2, "share_type": "default"}
    return api.post("/shares", {"share": body}, headers=token_of(**headers))


def test_a_daemon_decides_as_the_api_does(api, enforcer, asked, worked):
    """C180: by domain, system, role and owner; what is logged of the caller is the same, too."""
    assert create(api, **{"X-User-Domain-Id": "E"}).status == 403
    assert create(api).status == 200
    at_api = asked[-1]
    assert (at_api.user_domain_id, at_api.project_domain_id) == ("D", "P")
    api.drain()
    assert {destination.partition(".")[0] for destination, *_ in worked} == {"scheduler", "share"}
    targets = [
        {"project_id": PROJECT, "user_id": "dora", "domain_id": "P"},
        {"project_id": PROJECT, "user_id": "dora", "domain_id": "E"},
        {"project_id": "other", "user_id": "dora", "domain_id": "P"},
        {"project_id": PROJECT, "user_id": "other", "domain_id": "P"},
        None,
    ]
    decisions = [enforcer.allowed(rule, at_api, owner) for rule in RULES for owner in targets]
    assert decisions.count(True) >= 5
    assert decisions.count(False) >= 5
    for _destination, ctx, logged in worked:
        assert ctx == at_api
        found = [enforcer.allowed(rule, ctx, owner) for rule in RULES for owner in targets]
        assert found == decisions
        assert (logged["user"], logged["project"]) == ("dora", PROJECT)
        assert (logged["user_domain"], logged["project_domain"]) == ("D", "P")
        assert logged["roles"] == ["member", "reader", "chief"]
        assert (logged["request_id"], logged["global_request_id"]) == (at_api.request_id, GLOBAL)


EVERY_FIELD = {
    "request_id": "req-1",
    "user_id": "u",
    "project_id": "p",
    "roles": ("admin", "auditor"),
    "is_admin": True,
    "domain_id": "d",
    "user_domain_id": "ud",
    "project_domain_id": "pd",
    "system_scope": "all",
    "global_request_id": GLOBAL,
    "quota_class": "q",
}


@operation
def promise(unit, destination, work):
    """Work at a daemon, on something that is not there; returns the id of its intent."""
    intent = unit.promise(
        work,
        destination,
        intent_id=models.new_id(),
        resource_id=models.new_id(),
        share_id=None,
        project_id="the-owner",
    )
    return intent.id


def read(api, intent_id):
    return api.sessions.run(lambda session: session.get_one(models.Intent, intent_id))


def test_every_field_of_a_context_travels(api):
    """And nothing else: there is no field that could hold a token."""
    assert set(EVERY_FIELD) == {field.name for field in dataclasses.fields(Context)}
    ctx = Context(**EVERY_FIELD)
    intent = read(api, promise(api.runtime, ctx, destinations.DATA, DeleteShare()))
    assert caller(intent) == ctx
    # Whose the resource is says nothing of who asked.
    assert intent.project_id == "the-owner"


def test_no_token_is_kept_with_the_work(api):
    create(api, **{"X-Service-Token": TOKEN})
    rows = api.rows(sa.select(models.Intent.__table__))
    assert rows
    assert GLOBAL in str(rows)
    assert TOKEN not in str(rows)


def test_work_of_the_release_before_is_done(api, asked, worked):
    """It names no caller: what it has in columns is known, and no right comes of it."""
    share = create(api)["share"]["id"]
    api.write(sa.update(models.Intent).values(caller=sa.null()))
    api.drain()
    assert api.get(f"/shares/{share}", headers=token_of())["share"]["status"] == "available"
    contexts = {ctx for _destination, ctx, _logged in worked}
    assert contexts == {Context(asked[0].request_id, user_id="dora", project_id=PROJECT)}


def test_the_release_before_hands_a_caller_on(api, worked):
    """It writes kind, payload and destination of an intent anew, and no column it does not know."""
    create(api)
    destination, intent_id = api.bell.rung.popleft()
    api.consumers[destination].perform(intent_id)
    known = {"kind", "version", "payload", "destination", "owner", "attempts", "due", "fence"}
    table = models.Intent.__table__
    (row,) = api.rows(sa.select(*(column for column in table.c if column.name in known)))
    api.write(sa.update(table).values(row._asdict()))
    api.drain()
    assert [ctx.user_domain_id for _destination, ctx, _logged in worked] == ["D", "D"]


# -- logs --------------------------------------------------------------------------------------

PROGRAM = "fileshare"


@pytest.fixture
def logs(api, caplog):
    """All that the program logs, as text and as JSON, in the formats that it has by default."""
    caplog.set_level(logging.INFO)
    conf = cfg.ConfigOpts()
    bootstrap.register(conf)
    conf(["--config-file", str(api.state / "fileshare.conf")], project="fileshare")
    made = []
    for formatter in (formatters.ContextFormatter(config=conf), formatters.JSONFormatter()):
        handler = logging.StreamHandler(io.StringIO())
        handler.setFormatter(formatter)
        logging.getLogger(PROGRAM).addHandler(handler)
        made.append(handler)
    yield lambda: tuple(handler.stream.getvalue().splitlines() for handler in made)
    for handler in made:
        logging.getLogger(PROGRAM).removeHandler(handler)


DORA = Context(
    "req-1",
    "dora",
    PROJECT,
    ("member",),
    user_domain_id="D",
    project_domain_id="P",
    global_request_id=GLOBAL,
)
SIGNED = f"[{GLOBAL} req-1 dora {PROJECT} - - D P] "


@pytest.mark.parametrize(
    ("destination", "work"),
    [
        (destinations.SCHEDULER, DeleteShare()),
        (destinations.share(f"{HOST}@alpha"), PlaceShare()),
        (destinations.DATA, DeleteShare()),
    ],
)
def test_what_a_daemon_logs_says_whose_work_it_is(api, logs, destination, work):
    """C180: with domains, request, intent and resource, as text and as JSON."""
    api.consumers[destinations.DATA] = data.make(api.runtime, "test").consumer
    intent = read(api, promise(api.runtime, DORA, destination, work))
    api.drain()
    (line,), (record,) = logs()
    work_in_hand = f"[intent {intent.id} of {intent.resource_id}] "
    assert f"{SIGNED}{work_in_hand}Intent {intent.id} is of the unknown kind" in line
    context = json.loads(record)["context"]
    assert context["intent_id"] == intent.id
    assert context["resource_uuid"] == intent.resource_id
    assert (context["user_domain"], context["project_domain"]) == ("D", "P")
    assert (context["user"], context["project_id"]) == ("dora", PROJECT)
    assert (context["request_id"], context["global_request_id"]) == ("req-1", GLOBAL)
    assert context["auth_token"] is None


def test_a_request_is_logged_with_who_asked(api, asked, logs):
    """C180: where nobody is found, with its id; never with what the request before was."""
    create(api)
    assert api.get("/shares", headers={"X-User-Id": ""}).status == 401
    (served, refused), records = logs()
    assert f"[{GLOBAL} {asked[0].request_id} dora {PROJECT} - - D P] POST /v2/shares" in served
    context = json.loads(records[0])["context"]
    assert (context["user_domain"], context["project_domain"]) == ("D", "P")
    assert "dora" not in refused
    assert asked[0].request_id not in refused
    assert " - - - - - -] GET /v2/shares" in refused
    assert TOKEN not in "".join([served, refused, *records])


def test_work_that_fails_or_hangs_or_is_given_up_is_logged_with_its_caller(api, logs, monkeypatch):
    """Also from the threads that look after the work of others."""
    scheduler = api.consumers[destinations.SCHEDULER]

    def run(job, do=scheduler._run):
        job.seen_at = job.kept_at = float("-inf")
        scheduler.keep_running()
        tell_the_log_of(job.intent)
        return do(job)

    monkeypatch.setattr(scheduler, "_run", run)
    share = create(api)["share"]["id"]
    api.drain()
    for name in api.drivers:
        (api.state / name / "control.json").write_text('{"fail": ["extend"]}')
    assert api.act(share, "extend", {"new_size": 3}, headers=token_of()).status == 202
    api.drain()
    create(api)
    api.conf.set_override("give_up_after", 1, group="intents")
    api.write(sa.update(models.Intent).where(models.Intent.owner.is_(None)).values(due=after(-50)))
    assert api.reap() == 1
    lines, _records = logs()
    told = [line for line in lines if " Intent " in line]
    for words in ("hangs; its claim ends", "failed: ", "was given up"):
        assert any(words in line for line in told), (words, told)
    for line in told:
        assert f" dora {PROJECT} - - D P] [intent " in line
    assert oslo.get_current() is None


def test_work_that_hangs_is_told_of_once(api, logs, monkeypatch):
    """Whoever keeps the claims looks at it three times in a lease, and it may hang for days."""
    scheduler = api.consumers[destinations.SCHEDULER]

    def run(job, do=scheduler._run):
        job.seen_at = job.kept_at = float("-inf")
        for _ in range(3):
            scheduler.keep_running()
        return do(job)

    monkeypatch.setattr(scheduler, "_run", run)
    create(api)
    api.drain()
    lines, _records = logs()
    assert sum("hangs; its claim ends" in line for line in lines) == 1
