"""Who may do what, of every operation that is declared: generated, so that none is forgotten."""

from __future__ import annotations

import functools
import json
import re
import uuid
from pathlib import Path

import examples
import inprocess
import pytest
import sqlalchemy as sa
import yaml
from inprocess import ADMIN, ADMIN_PROJECT, MEMBER, OTHER_PROJECT, PROJECT, STRANGER
from oslo_config import cfg
from oslo_policy import policy as oslo

from fileshare.api import policy, wsgi
from fileshare.api.fields import present
from fileshare.db import group_types, models, types

OPERATIONS = [op for op in policy.all_operations() if op.path not in {"/", "/v2/"}]
every = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)

# What a path names that is nobody's object: a project, a class, a word.
NAMES = {
    "extensions",
    "os-quota-class-sets",
    "os-quota-sets",
    "os-services",
    "quota-class-sets",
    "quota-sets",
    "services",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("authorization")
    with inprocess.running(path) as made:
        made.conf.set_override("tokens_file", str(path / "tokens.json"), group="api")
        yield made


# -- objects of a project ----------------------------------------------------------------------


class Belongings:
    """One object of every kind, all of one project; each is made when it is asked for."""

    def __init__(self, program, token, project):
        self.program, self.token, self.project = program, token, project

    @functools.cached_property
    def share(self):
        return self.program.new_share(as_=self.token, metadata={"k": "v"}, name="theirs")

    @functools.cached_property
    def rule(self):
        rule = {"access_type": "ip", "access_to": "10.9.9.9", "metadata": {"k": "v"}}
        answer = self.program.act(self.share, "allow_access", rule, as_=self.token)
        self.program.drain()
        return answer["access"]["id"]

    @functools.cached_property
    def instance(self):
        found = self.program.get(f"/shares/{self.share}/instances", as_=ADMIN)
        return found["share_instances"][0]["id"]

    @functools.cached_property
    def replica(self):
        name = f"replicated-of-{self.project}"
        self.program.share_type(name, replication_type="readable")
        share = self.program.new_share(as_=self.token, share_type=name)
        found = self.program.get(f"/share-replicas?share_id={share}", as_=self.token)
        return found["share_replicas"][0]["id"]

    @functools.cached_property
    def export(self):
        path = f"/shares/{self.share}/export_locations"
        id = self.program.get(path, as_=self.token)["export_locations"][0]["id"]
        pair = {"metadata": {"k": "v"}}
        assert self.program.post(f"{path}/{id}/metadata", pair, as_=self.token).status == 200
        return id

    @functools.cached_property
    def message(self):
        row = {
            "id": models.new_id(),
            "project_id": self.project,
            "action_id": "002",
            "detail_id": "001",
            "message_level": "ERROR",
        }
        insert = sa.insert(models.Message)
        self.program.write(insert, [row])
        return row["id"]

    @functools.cached_property
    def lock(self):
        body = {"resource_lock": {"resource_id": self.share, "lock_reason": "theirs"}}
        answer = self.program.post("/resource-locks", body, as_=self.token)
        return answer["resource_lock"]["id"]

    @functools.cached_property
    def private_type(self):
        specs = {"driver_handles_share_servers": "False", "k": "v"}

        def make(session):
            name = f"type-of-{self.project}"
            new = types.create(session, name=name, description="", is_public=False, specs=specs)
            types.give(session, new.id, self.project)
            return new.id

        return self.program.sessions.run(make)

    @functools.cached_property
    def private_group_type(self):
        values = {"is_public": False, "specs": {"k": "v"}, "share_types": ["default"]}

        def make(session):
            new = group_types.create(session, name=f"type-of-{self.project}", **values)
            group_types.OFFER.give(session, new.id, self.project)
            return new.id

        return self.program.sessions.run(make)

    def variables(self, operation):
        """What fills the variables of a path; the first one is the object."""
        first, *others = operation.variables
        found = {first: getattr(self, OWNERS[collection(operation)])}
        for name in others:
            is_export = name == "export_location_uuid" or "export_locations/{" in operation.path
            found[name] = self.export if is_export and name != "key" else "k"
        return found

    def state(self):
        """All that a stranger could have changed."""
        seen = [
            self.program.get(f"/shares/{self.share}", as_=ADMIN),
            self.program.get(f"/shares/{self.share}/metadata", as_=ADMIN),
            self.program.get(f"/share-access-rules?share_id={self.share}", as_=ADMIN),
            self.program.get(f"/shares/{self.share}/export_locations", as_=ADMIN),
            self.program.get(f"/share_instances/{self.instance}", as_=ADMIN),
            self.program.get(f"/share-replicas/{self.replica}", as_=ADMIN),
            self.program.get(f"/messages/{self.message}", as_=ADMIN),
            self.program.get(f"/resource-locks/{self.lock}", as_=ADMIN),
            self.program.get(f"/types/{self.private_type}", as_=ADMIN),
            self.program.get(f"/share-group-types/{self.private_group_type}", as_=ADMIN),
        ]
        assert [answer.status for answer in seen] == [200] * len(seen)
        return json.dumps([answer.body for answer in seen], sort_keys=True)


OWNERS = {
    "messages": "message",
    "resource-locks": "lock",
    "share-replicas": "replica",
    "share-access-rules": "rule",
    "share_instances": "instance",
    "share-group-types": "private_group_type",
    "shares": "share",
    "types": "private_type",
}


@pytest.fixture(scope="module")
def theirs(program):
    made = Belongings(program, MEMBER, PROJECT)
    for kind in sorted({*OWNERS.values(), "export"}):
        assert getattr(made, kind)
    return made


def collection(operation):
    return operation.path.split("/")[1]


def path_of(operation, variables):
    path = operation.path
    for name, text in variables.items():
        path = path.replace(f"{{{name}}}", text)
    return path


def ask(program, operation, as_, variables, *, query="", headers=(), **given):
    version = operation.span.last
    body = examples.body(operation, version, variables, **given)
    head = {"X-OpenStack-Manila-API-Experimental": "true", **dict(headers)}
    return program.ask(
        operation.method,
        path_of(operation, variables) + query,
        body,
        version=str(version),
        as_=as_,
        headers=head,
    )


def missing():
    return str(uuid.uuid4())


def without(answer, *ids):
    """Status and body with each of *ids* under one name."""
    text = json.dumps(answer.body, sort_keys=True)
    for id in ids:
        text = text.replace(id, "ID")
    return answer.status, text


def owned(operation):
    return bool(operation.variables) and collection(operation) not in NAMES


REFERENCES = {
    "access_id": "rule",
    "export_location_id": "export",
    "resource_id": "share",
    "share_id": "share",
    "share_type_id": "private_type",
    "share_type": "private_type",
}


def references(operation):
    """The fields of a body, and the parameters of a query, that name an object."""
    version = operation.span.last
    fields = present(operation.body.fields, version) if operation.body else ()
    found = [("body", field.name) for field in fields if field.name in REFERENCES]
    queried = present(operation.query.fields, version)
    return found + [("query", field.name) for field in queried if field.name in REFERENCES]


OF_OBJECTS = [op for op in OPERATIONS if owned(op)]
objects = pytest.mark.parametrize("operation", OF_OBJECTS, ids=lambda operation: operation.id)


def test_every_kind_of_object_can_be_made():
    """A new collection needs a maker in Belongings, or stands among the names."""
    assert {collection(op) for op in OF_OBJECTS} <= set(OWNERS)
    assert not NAMES & set(OWNERS)


# -- other projects ----------------------------------------------------------------------------


@objects
def test_what_another_project_owns_is_as_if_it_were_not_there(program, theirs, operation):
    before = theirs.state()
    foreign = theirs.variables(operation)
    first = operation.variables[0]
    absent = {**foreign, first: missing()}
    named = {name: getattr(theirs, REFERENCES[name]) for _where, name in references(operation)}
    answer = ask(program, operation, STRANGER, foreign, **named)
    none = ask(program, operation, STRANGER, absent, **named)
    assert without(answer, foreign[first]) == without(none, absent[first])
    wanted = 404 if allowed(operation, "member") else 403
    assert answer.status == wanted, answer.body
    program.drain()
    assert theirs.state() == before
    # And that is not for the want of a way: whoever may is answered otherwise.
    if operation.method == "GET":
        assert ask(program, operation, ADMIN, foreign).status == 200


WITH_PARTS = [op for op in OF_OBJECTS if "export_location" in op.path and len(op.variables) > 1]


@pytest.mark.parametrize("operation", WITH_PARTS, ids=lambda operation: operation.id)
def test_a_part_is_looked_for_in_its_own_whole(program, theirs, operation):
    """The export location of somebody else's share, asked of one's own."""
    mine = Belongings(program, STRANGER, OTHER_PROJECT)
    first, part, *_ = operation.variables
    before = theirs.state()
    mixed = {**theirs.variables(operation), first: mine.variables(operation)[first]}
    absent = {**mixed, part: missing()}
    answer = ask(program, operation, STRANGER, mixed)
    assert without(answer, mixed[part]) == without(
        ask(program, operation, STRANGER, absent), absent[part]
    )
    assert answer.status in {403, 404}
    assert theirs.state() == before


NAMED = [(op, *reference) for op in OPERATIONS for reference in references(op)]


@pytest.mark.parametrize(
    ("operation", "where", "name"), NAMED, ids=lambda part: getattr(part, "id", part)
)
def test_a_reference_to_what_another_project_owns(program, theirs, operation, where, name):
    """In a body or a query a foreign object is what a missing one is."""
    before = theirs.state()
    mine = Belongings(program, STRANGER, OTHER_PROJECT)
    variables = mine.variables(operation) if owned(operation) else {}
    variables |= dict.fromkeys(set(operation.variables) - set(variables), OTHER_PROJECT)
    foreign, absent = getattr(theirs, REFERENCES[name]), missing()

    def with_(id):
        if where == "query":
            return ask(program, operation, STRANGER, variables, query=f"?{name}={id}")
        return ask(program, operation, STRANGER, variables, **{name: id})

    answer = with_(foreign)
    assert without(answer, foreign) == without(with_(absent), absent)
    if where == "body":
        assert answer.status >= 400
    program.drain()
    assert theirs.state() == before


# -- roles -------------------------------------------------------------------------------------

ROLES = {
    "admin": f"ann:{ADMIN_PROJECT}:admin",
    "member": f"max:{ADMIN_PROJECT}:member",
    "reader": f"rob:{ADMIN_PROJECT}:reader",
    "nobody": f"nil:{ADMIN_PROJECT}:none",
    "other": f"oda:{ADMIN_PROJECT}:auditor",
}
IMPLIED = {
    "admin": ["admin", "member", "reader"],
    "member": ["member", "reader"],
    "reader": ["reader"],
    "nobody": ["none"],
    "other": ["auditor"],
}


@functools.cache
def contract():
    """An engine that knows what the contract says, and nothing of the declarations."""
    text = (Path(__file__).parents[1] / "contract" / "policies.yaml").read_text()
    data = yaml.safe_load(text)
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    engine = oslo.Enforcer(conf, use_conf=False)
    checks = {rule["name"]: rule["check"] for rule in [*data["base_rules"], *data["rules"]]}
    engine.set_rules(oslo.Rules.from_dict(checks))
    return engine


@functools.cache
def routes():
    text = (Path(__file__).parents[1] / "contract" / "routes.yaml").read_text()
    return {route["id"]: route for route in yaml.safe_load(text)["routes"]}


def allowed(operation, role):
    """Whether the contract lets a role do this in its own project."""
    rules = routes()[operation.id]["policies"]
    if not rules:
        return True
    credentials = {
        "roles": IMPLIED[role],
        "project_id": ADMIN_PROJECT,
        "user_id": "u",
        "is_admin": role == "admin",
    }
    target = {"project_id": ADMIN_PROJECT, "user_id": "u"}
    return contract().enforce(rules[0], target, credentials)


@pytest.mark.parametrize("role", ROLES)
@every
def test_roles(program, operation, role):
    """The main rule of an operation decides before anything is looked for."""
    variables = {name: missing() for name in operation.variables}
    answer = ask(program, operation, ROLES[role], variables)
    denied = answer.status == 403 and answer["forbidden"]["message"] == policy.DENIED
    assert denied is not allowed(operation, role), answer.body
    assert answer.status < 500


# -- tokens ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(program):
    """The program with tokens of its own, none of which anybody holds."""
    program.conf.set_override("auth_strategy", "tokens")
    app = wsgi.build(program.runtime)
    program.conf.clear_override("auth_strategy")
    return app


@every
def test_without_a_token(program, guarded, operation, monkeypatch):
    monkeypatch.setattr(program, "app", guarded)
    variables = {name: missing() for name in operation.variables}
    for token in ("", "guessed", ADMIN):
        answer = ask(program, operation, token, variables)
        assert answer.status == 401, (token, answer.body)
        assert re.search("[Kk]eystone|[Bb]earer|uri=", answer.headers["WWW-Authenticate"])
