"""Every refusal that the contract lists for an operation: asked for here, or where it is tested,
or why it cannot be yet.
"""

from __future__ import annotations

from pathlib import Path

import cases_of_types
import contract
import examples
import pytest
import things_at_hand
from asks import LATER, LONG, Ask
from examples import NOBODY
from inprocess import ADMIN, HOST, MEMBER, OTHER_PROJECT, PROJECT, STRANGER

from fileshare.api.microversions import VERSIONS

ROOT = Path(__file__).parents[3]
LISTED = {
    (id.removesuffix(".legacy"), error["code"], error["when"])
    for id in set(contract.operations()) & set(contract.routes())
    for error in contract.routes()[id]["errors"]
}

ALPHA = {"host": f"{HOST}@alpha", "binary": "manila-share"}
SHARE = {"share_proto": "NFS", "size": 1, "share_type": "default"}


def share(**values):
    return Ask({"share": {**SHARE, **values}}, as_=MEMBER)


def rule(**values):
    inner = {"access_type": "ip", "access_to": "10.7.7.7", **values}
    return Ask({"allow_access": inner}, as_=MEMBER)


def quota(**values):
    return Ask({"quota_set": values})


def shares(query, as_=MEMBER):
    return Ask(query=query, as_=as_)


NO_SUCH_TYPE = Ask(query="share_type=absent")
OF_BOTH = Ask(query="user_id=u&share_type=default")
QUOTAS = {
    "user_id together with share_type": [OF_BOTH],
    "share_type used before 2.39": [Ask(query="share_type=default", version="2.38")],
    "other project and not admin": [Ask(as_=STRANGER)],
    "share_type unknown": [NO_SUCH_TYPE],
}
METADATA = {
    "body malformed, key blank/over 255 chars, value blank/over 1023 chars": [
        Ask({"metadata": pairs})
        for pairs in ("x", {"": "v"}, {LONG: "v"}, {"k": ""}, {"k": "v" * 1024}, {"k": 1})
    ],
    "key of the URL absent in body, or more than one key": [
        Ask({"metadata": {"other": "v"}}),
        Ask({"metadata": {"k": "v", "other": "v"}}),
    ],
    "no such key": [Ask(key="absent")],
}
LISTS = {
    "limit/offset not a non-negative int": [shares("limit=x"), shares("offset=-1")],
    "sort_key or sort_dir bad": [shares("sort_key=x"), shares("sort_dir=x")],
    "metadata or extra_specs not a dict": [
        shares("metadata=x"),
        shares("extra_specs=x", ADMIN),
    ],
    "with_count / is_soft_deleted / all_tenants not boolean": [
        shares("with_count=x"),
        shares("is_soft_deleted=x"),
    ],
    "filter needs a policy the caller lacks (host, share_server_id, extra_specs, deferred status)": [
        shares("host=x"),
        shares(f"share_server_id={NOBODY}"),
        shares("extra_specs={'a':'b'}"),
        shares("status=deferred_deleting"),
    ],
}

# By operation and the words of the contract: requests; or the test that makes them.
CASES = {
    "services.update": {
        "host or binary absent": [Ask({"host": "x"}), Ask({"binary": "x"}, id="enable")],
        "disabled_reason given before 2.83, or over length": [
            Ask({**ALPHA, "disabled_reason": LONG}),
            Ask({**ALPHA, "disabled_reason": "x"}, version="2.82"),
        ],
        "id is neither enable nor disable": [Ask(ALPHA, id="x")],
        "no such service": [Ask({"host": "x", "binary": "y"})],
    },
    "services.ensure_shares": {
        "body fails schema": [Ask({}), Ask({"ensure_shares": {"host": 1}})],
        "no manila-share binary on that host": [Ask({"ensure_shares": {"host": "x"}})],
        "service state is not up": "test_ensure.py::test_refusals",
    },
    "quota_sets.show": QUOTAS,
    "quota_sets.detail": QUOTAS,
    "quota_sets.delete": QUOTAS,
    "quota_sets.update": QUOTAS
    | {
        "share_type unknown": [Ask({"quota_set": {"shares": 1}}, query="share_type=absent")],
        "no quota key given": [quota()],
        "unknown key": [quota(nonsense=1)],
        "value not an int or below -1": [quota(shares="x"), quota(shares=-2)],
        "share group or network keys with share_type": [
            Ask({"quota_set": {name: 1}}, query="share_type=default")
            for name in ("share_groups", "share_networks")
        ],
        "key newer than microversion": [Ask({"quota_set": {"backups": 1}}, version="2.79")],
        "below current use and force not set": "test_quotas.py::test_a_limit_below_the_usage",
        "user or type quota over project quota, or project quota under sum of user/type minimum,"
        " without force": "test_quotas.py::test_a_user_s_limit_stays_within_the_project_s",
    },
    "quota_class_sets.show": {
        "non-admin whose context has no such quota class": [Ask(as_=MEMBER)],
    },
    "quota_class_sets.update": {
        "known key not an integer (schema)": [Ask({"quota_class_set": {"shares": "x"}})],
        "not admin": [Ask(as_=MEMBER)],
    },
    "shares.index": LISTS,
    "shares.detail": LISTS,
    "shares.create": {
        "protocol unknown or disabled": [share(share_proto="x"), share(share_proto="HDFS")],
        "share_type together with volume_type": [share(volume_type="other")],
        "is_public not boolean": [share(is_public="x")],
        "metadata key/value empty or over 255/1023 chars": [share(metadata={"": "v"})],
        "mount_point_name unsupported or malformed": [share(mount_point_name="x")],
        "name or description over 255 chars": [share(name=LONG), share(description=LONG)],
        "hint value no uuid": [share(scheduler_hints={"same_host": "x"})],
        "share wrapper missing or no dict": [Ask({}), Ask({"share": []})],
    },
}

SOFT_DELETED = "test_shares_bin.py::test_what_is_refused_in_the_bin"
BUSY = "test_shares_errors.py::test_a_share_with_a_task"
WRONG_STATUS = "test_shares_errors.py::test_statuses_in_which_a_share_takes_no_change"
REPLICAS = "test_shares_errors.py::test_a_share_with_replicas"
RULES_BUSY = "test_access.py::test_a_share_that_is_busy_takes_no_change_of_its_rules"
IN_STATUS = "an instance has no host or a transitional status; error status too before 2.74"


CASES |= {
    "shares.create": CASES["shares.create"]
    | {
        "size not a positive int, below snapshot size, or outside type min/max size": (
            "test_shares_errors.py::test_sizes_of_the_type"
        ),
        "share network not active, differs from snapshot parent, lacks subnet in the zone, or"
        " missing while type handles share servers": (
            "test_shares_errors.py::test_a_type_that_handles_servers_needs_a_network"
        ),
        "snapshot not available, or parent cannot create from snapshot (since 2.24)": LATER
        + "snapshots",
        "type differs from snapshot parent type": LATER + "snapshots",
        "zone not allowed by type (since 2.48), or differs from group/snapshot parent": (
            "test_shares_errors.py::test_zones_of_the_type"
        ),
        "group not available, or group lacks type/network": LATER + "groups",
        "encryption_key_ref no uuid, or type without encryption_support or without own share"
        " servers": [share(encryption_key_ref="x"), share(encryption_key_ref=NOBODY)],
        "default_qos_type of the type unknown": LATER + "types of quality of service",
        "is_public true without policy": [share(is_public=True)],
        "zone, group, share network, share type, snapshot or hinted share not found": [
            share(availability_zone="x"),
            share(share_group_id=NOBODY),
            share(share_network_id=NOBODY),
            share(share_type="absent"),
            share(snapshot_id=NOBODY),
            share(scheduler_hints={"same_host": NOBODY}),
        ],
        "quota shares/gigabytes/replicas/replica_gigabytes/encryption_keys or per-share size": (
            "test_shares_errors.py::test_quotas_of_a_create"
        ),
    },
    "shares.update": {
        "field over 255 chars or is_public not boolean": [
            Ask({"share": {"display_name": LONG}}),
            Ask({"share": {"is_public": "x"}}),
        ],
        "soft deleted, or is_public true without policy": [
            Ask({"share": {"is_public": True}}, as_=MEMBER)
        ],
        "share wrapper missing": [Ask({})],
    },
    "shares.delete": {
        "in a group and share_group_id absent or wrong": (
            "test_shares_errors.py::test_a_share_in_a_group"
        ),
        "share busy with a task": BUSY,
        "status not deletable, has snapshots, backups or group snapshot members, or resource"
        " lock": [Ask()],
        "has replicas": REPLICAS,
    },
    "shares.action.reset_status": {
        "status missing or not allowed": [
            Ask({"reset_status": {}}),
            Ask({"reset_status": {"status": "extending"}}),
        ],
        "soft deleted": SOFT_DELETED,
    },
    "shares.action.force_delete": {
        "has snapshots, backups or group snapshot members, busy, or resource lock": [Ask()],
        "has replicas": REPLICAS,
    },
    "shares.action.soft_delete": {
        "already soft deleted, status not available/error/inactive, has snapshots, backups or"
        " group snapshot members, busy, or resource lock": [Ask()],
        "has replicas": REPLICAS,
    },
    "shares.action.restore": {
        "status deleting or error_deleting": "test_shares_bin.py::test_a_share_may_leave_the_bin_for_good"
    },
    "shares.action.reset_task_state": {
        "value absent or unknown": [
            Ask({"reset_task_state": {}}),
            Ask({"reset_task_state": {"task_state": "x"}}),
        ],
        "soft deleted": SOFT_DELETED,
    },
    "shares.action.allow_access": {
        "type unsupported or access_to malformed for the type": [
            rule(access_type="x"),
            rule(access_to="10.0.0.0/33"),
            rule(access_type="user", access_to="abc"),
            rule(access_type="cephx", access_to="client.bob"),
        ],
        "level unknown": [rule(access_level="x")],
        "same rule exists": [rule(access_to="10.0.0.1")],
        "rules status error (before 2.28)": "test_access_races.py::test_one_bad_rule_leaves",
        IN_STATUS: RULES_BUSY,
        "share network not active": LATER + "share networks",
        "metadata invalid": [rule(metadata={"": "v"})],
        "lock_reason without lock, or lock creation failed": [rule(lock_reason="x")],
        "soft deleted": SOFT_DELETED,
    },
    "shares.action.deny_access": {
        IN_STATUS: RULES_BUSY,
        "share network not active": LATER + "share networks",
        "soft deleted": SOFT_DELETED,
        "rule is delete-locked and unrestrict absent, or locks of somebody else": (
            "test_access_locks.py::test_who_may_deny_a_locked_rule"
        ),
        "no such share or rule, or rule of another share": [
            Ask({"deny_access": {"access_id": NOBODY}})
        ],
    },
    "shares.action.access_list": {
        "no such share; or used from 2.45 on": [Ask({"access_list": None}, version="2.45")]
    },
    "shares.action.extend": {
        "schema, status not available, not larger, outside type limits": [
            Ask({"extend": {}}),
            Ask({"extend": {"new_size": 1}}),
        ],
        "share busy": BUSY,
        "soft deleted": SOFT_DELETED,
        "gigabytes quota exceeded": "test_shares_errors.py::test_quotas_of_an_extend",
        "force without policy": [Ask({"extend": {"new_size": 2, "force": True}}, as_=MEMBER)],
        "replica_gigabytes quota or per-share size limit": (
            "test_shares_errors.py::test_quotas_of_an_extend"
        ),
    },
    "shares.action.shrink": {
        "schema, status neither available nor shrinking_possible_data_loss_error, not smaller,"
        " zero, below type minimum": [
            Ask({"shrink": {}}),
            Ask({"shrink": {"new_size": 1}}),
            Ask({"shrink": {"new_size": 0}}),
        ],
        "share busy": BUSY,
        "soft deleted": SOFT_DELETED,
    },
    "share_instances.index": {"is_soft_deleted not boolean": [Ask(query="is_soft_deleted=x")]},
    "share_instances.action.reset_status": {
        "status missing or not allowed": [Ask({"reset_status": {"status": "extending"}})]
    },
    "share_export_locations.show": {
        "admin-only location and not admin": [
            Ask(as_=MEMBER, export_location_uuid="{admin_export}")
        ],
        "no such share or location": [Ask(export_location_uuid=NOBODY)],
    },
    "share_instance_export_locations.show": {
        "no such instance or location": [Ask(export_location_uuid=NOBODY)]
    },
    "pools.index": {"share_type unknown": [NO_SUCH_TYPE]},
    "pools.detail": {"share_type unknown": [NO_SUCH_TYPE]},
    "messages.index": {
        "time or paging value malformed": [Ask(query="created_since=x"), Ask(query="limit=x")],
        "sort key unknown": [Ask(query="sort_key=x")],
    },
    "share_access_rules.index": {
        "share_id absent or unknown": [Ask(), Ask(query=f"share_id={NOBODY}")],
        "filter value invalid (since 2.82)": [Ask(query="share_id={shares}&access_type=x")],
    },
    "share_access_rules.update": {
        "wrapper or level missing, level unknown": [
            Ask({}),
            Ask({"update_access": {}}),
            Ask({"update_access": {"access_level": "x"}}),
        ],
        "an instance has no host or a transitional status": RULES_BUSY,
    },
    "share_access_metadata.update": {
        "wrapper missing or invalid": [Ask({}), Ask({"metadata": {"": "v"}})]
    },
    "share_access_metadata.delete": {"no such rule or key": [Ask(key="absent")]},
    "resource_locks.index": {
        "query value fails schema": [Ask(query="resource_action=x"), Ask(query="limit=x")],
        "project_id of another project without all_projects right": [
            Ask(query=f"project_id={OTHER_PROJECT}", as_=MEMBER)
        ],
    },
    "resource_locks.create": {
        "schema, action not for the type, resource unknown": [
            Ask({"resource_lock": {"resource_id": "x"}}),
            Ask({"resource_lock": {"resource_id": NOBODY}}),
        ],
        "policy on the resource": "test_locks.py::test_who_may_place_a_lock",
        "resource status unsuitable or soft deleted": (
            "test_locks.py::test_it_is_too_late_for_a_lock_on_a_share_that_goes"
        ),
        "visibility already locked": "test_locks.py::test_a_rule_is_hidden_once",
    },
    "resource_locks.update": {
        "schema, other key, action not for the type, second visibility lock, resource status"
        " unsuitable": [
            Ask({"resource_lock": {"nonsense": 1}}),
            Ask({"resource_lock": {"resource_action": "show"}}),
        ],
        "not owner, or lock context higher than caller": (
            "test_locks.py::test_who_may_touch_whose_lock"
        ),
    },
    "resource_locks.delete": {
        "not owner, or lock context higher than caller": (
            "test_locks.py::test_who_may_touch_whose_lock"
        ),
    },
    "share_replicas.index": {
        "limit/offset invalid": [Ask(query="limit=x")],
        "share unknown": [Ask(query=f"share_id={NOBODY}")],
    },
}
CASES |= cases_of_types.CASES
CASES["share_replicas.detail"] = CASES["share_replicas.index"]
for _parent, _key, _refused in (
    ("shares", "__affinity_same_host", "without policy share:update_admin_only_metadata"),
    ("share_export_locations", "preferred", "(default: preferred) without policy"),
):
    _admins = {f"admin-only key {_refused}": [Ask({"metadata": {_key: "True"}}, as_=MEMBER)]}
    for _verb in ("create", "update_all"):
        CASES[f"{_parent}.metadata.{_verb}"] = {**METADATA, **_admins}
    _item = {
        f"admin-only key {_refused}": [Ask({"metadata": {_key: "True"}}, as_=MEMBER, key=_key)]
    }
    CASES[f"{_parent}.metadata.update_item"] = {**METADATA, **_item}
    CASES[f"{_parent}.metadata.show"] = CASES[f"{_parent}.metadata.delete"] = METADATA

# What is not there, whoever asks.
ABSENT = ("absent", "no such ", "parent not found", "unknown alias")


def of_contract(id, when):
    """Requests for a refusal, the test that makes them, or None."""
    found = CASES.get(id, {}).get(when)
    if found is not None:
        return found
    variables = contract.operations()[id].variables
    if when.startswith(ABSENT) and variables:
        return [Ask(**{variables[0]: NOBODY})]
    return None


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("errors")) as made:
        yield made, things_at_hand.Things(made)


def answered(program, ids, operation, asked):
    version = VERSIONS[asked.version] if asked.version else operation.span.last
    variables = {**things_at_hand.values_of(operation.path, ids), **asked.at}
    if len(variables) < len(operation.variables):
        variables |= dict.fromkeys(operation.variables, "k")
    path = operation.path
    for name, value in variables.items():
        path = path.replace(f"{{{name}}}", ids.get(value.strip("{}"), value))
    body = asked.body
    if body is None:
        body = examples.body(operation, version, variables)
    query = asked.query.replace("{shares}", ids["shares"])
    return program.ask(
        operation.method, f"{path}?{query}", body, version=str(version), as_=asked.as_
    )


@pytest.mark.parametrize(("id", "code", "when"), sorted(LISTED))
def test_refusal(lasting, id, code, when):
    program, things = lasting
    found = of_contract(id, when)
    assert found is not None, "no request is known that is refused so"
    if isinstance(found, str):
        check_reference(found)
        return
    ids = {**things.all(), "quota-sets": PROJECT}
    ids["public_type"] = program.get("/types/default")["share_type"]["id"]
    exports = program.get(f"/shares/{ids['shares']}/export_locations", as_=ADMIN)
    ids["admin_export"] = next(
        row["id"] for row in exports["export_locations"] if row["is_admin_only"]
    )
    operation = contract.operations()[id]
    for asked in found:
        answer = answered(program, ids, operation, asked)
        assert answer.status == code, (vars(asked), answer.body)


def check_reference(text):
    """A test that is named is there."""
    if text.startswith(LATER):
        return
    file, _, name = text.partition("::")
    path = ROOT / "tests" / "functional" / file
    assert f"def {name}" in path.read_text()
