"""What is refused of shares, with which status, and that nothing remains of it."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, MEMBER, NOBODY, PROJECT, READER, STRANGER
from refusals import limits, refused, set_share

from fileshare.db import models

GOOD = {"share_proto": "NFS", "size": 1, "share_type": "default"}
LONG = "x" * 256
CREATES = {
    "no size": ({"size": None}, 400),
    "size zero": ({"size": 0}, 400),
    "size negative": ({"size": -1}, 400),
    "size no number": ({"size": "big"}, 400),
    "size a fraction": ({"size": 1.5}, 400),
    "size a boolean": ({"size": True}, 400),
    "size a list": ({"size": [1]}, 400),
    "size beyond the column": ({"size": 2**31}, 400),
    "size beyond all": ({"size": 10**30}, 400),
    "protocol unknown": ({"share_proto": "FTP"}, 400),
    "protocol not enabled": ({"share_proto": "LUSTRE"}, 400),
    "protocol null": ({"share_proto": None}, 400),
    "protocol a number": ({"share_proto": 1}, 400),
    "two words for the type": ({"volume_type": "default"}, 400),
    "type unknown": ({"share_type": "no-such-type"}, 404),
    "type unknown by id": ({"share_type": NOBODY}, 404),
    "type a dict": ({"share_type": {}}, 400),
    "is_public no boolean": ({"is_public": "perhaps"}, 400),
    "is_public without the policy": ({"is_public": True}, 403),
    "name too long": ({"name": LONG}, 400),
    "display_name too long": ({"display_name": LONG}, 400),
    "name a list": ({"name": ["x"]}, 400),
    "description too long": ({"description": LONG}, 400),
    "display_description too long": ({"display_description": LONG}, 400),
    "metadata key empty": ({"metadata": {"": "v"}}, 400),
    "metadata key too long": ({"metadata": {LONG: "v"}}, 400),
    "metadata value empty": ({"metadata": {"k": ""}}, 400),
    "metadata value too long": ({"metadata": {"k": "v" * 1024}}, 400),
    "metadata value a dict": ({"metadata": {"k": {}}}, 400),
    "metadata a list": ({"metadata": []}, 400),
    "metadata a text": ({"metadata": "k=v"}, 400),
    "zone unknown": ({"availability_zone": "nowhere"}, 404),
    "zone a dict": ({"availability_zone": {}}, 400),
    "snapshot no text": ({"snapshot_id": {}}, 400),
    "snapshot no uuid": ({"snapshot_id": "snap"}, 404),
    "snapshot unknown": ({"snapshot_id": NOBODY}, 404),
    "network no text": ({"share_network_id": 5}, 400),
    "network no uuid": ({"share_network_id": "wrong_sn_id"}, 404),
    "network unknown": ({"share_network_id": NOBODY}, 404),
    "group no uuid": ({"share_group_id": "group"}, 404),
    "group unknown": ({"share_group_id": NOBODY}, 404),
    "hints no dict": ({"scheduler_hints": "same_host"}, 400),
    "hint no uuid": ({"scheduler_hints": {"same_host": "nearby"}}, 400),
    "hinted share unknown": ({"scheduler_hints": {"different_host": NOBODY}}, 404),
    "hint a dict": ({"scheduler_hints": {"same_host": {}}}, 400),
    "mount point not offered by the type": ({"mount_point_name": "data"}, 400),
    "mount point malformed": ({"mount_point_name": "a/b"}, 400),
    "mount point too long": ({"mount_point_name": LONG}, 400),
    "key no uuid": ({"encryption_key_ref": "key"}, 400),
    "key with a type without encryption": ({"encryption_key_ref": NOBODY}, 400),
}


def test_create_refuses(program):
    for case, (change, status) in CREATES.items():
        answer = program.post("/shares", {"share": {**GOOD, **change}})
        assert (case, answer.status) == (case, status)
        refused(answer, status)
    program.drain()
    assert program.count(models.Share) == program.count(models.Intent) == 0
    program.check()


def test_an_empty_choice_is_none(program):
    """Forms of web pages send an empty text where nothing was chosen."""
    empty = ("snapshot_id", "share_network_id", "share_group_id", "availability_zone")
    share_id = program.new_share(**dict.fromkeys(empty, ""))
    shown = program.show(share_id)
    assert shown["status"] == "available"
    assert [shown[key] for key in empty[:-1]] == [None, None, None]


def test_the_group_of_a_deletion_counts_for_shares_in_groups_alone(program):
    share_id = program.new_share()
    assert program.delete(f"/shares/{share_id}?share_group_id=none-at-all").status == 202
    program.drain()
    refused(program.get(f"/shares/{share_id}"), 404)


def test_create_needs(program):
    for missing in GOOD:
        body = {key: value for key, value in GOOD.items() if key != missing}
        refused(program.post("/shares", {"share": body}), 400)
    for body in ({}, {"share": None}, {"share": []}, {"share": "x"}, {"other": {}}):
        refused(program.post("/shares", body), 422)
    refused(program.post("/shares"), 400)
    refused(program.post("/shares", {"share": GOOD}, as_=READER), 403)


def test_fields_that_came_later_are_passed_over(program):
    for version, change in (
        ("2.30", {"share_group_id": NOBODY}),
        ("2.64", {"scheduler_hints": {"same_host": NOBODY}}),
        ("2.66", {"scheduler_hints": {"only_host": "nowhere"}}),
        ("2.83", {"mount_point_name": "a/b"}),
        ("2.89", {"encryption_key_ref": "key"}),
    ):
        share_id = program.new_share(version=version, **change)
        assert program.show(share_id)["status"] == "available"


def test_sizes_of_the_type(program):
    program.share_type("tight", **{
        "provisioning:min_share_size": "2",
        "provisioning:max_share_size": "4",
        "provisioning:max_share_extend_size": "6",
    })  # fmt: skip
    for size, status in ((1, 400), (2, 200), (4, 200), (5, 400)):
        answer = program.post("/shares", {"share": {**GOOD, "share_type": "tight", "size": size}})
        assert answer.status == status
    share_id = answer_id = program.new_share(share_type="tight", size=3)
    assert answer_id
    refused(program.act(share_id, "extend", {"new_size": 7}), 400)
    refused(program.act(share_id, "shrink", {"new_size": 1}), 400)
    assert program.act(share_id, "extend", {"new_size": 6}).status == 202
    program.drain()
    assert program.act(share_id, "extend", {"new_size": 9}, as_=ADMIN).status == 202
    program.drain()
    assert program.show(share_id)["size"] == 9
    program.check()


def old_share(program, body):
    """A share made as before 2.48, when types had no zones."""
    answer = program.post("/shares", {"share": body}, version="2.47")
    assert answer.status == 200
    program.drain()
    return answer["share"]["id"]


def test_zones_of_the_type(program):
    program.share_type("there", availability_zones="manila-zone-1")
    body = {**GOOD, "share_type": "there", "availability_zone": "manila-zone-0"}
    refused(program.post("/shares", {"share": body}), 400)
    refused(program.post("/shares", {"share": body}, version="2.48"), 400)
    assert program.show(old_share(program, body))["availability_zone"] == "manila-zone-0"
    share_id = program.new_share(share_type="there")
    assert program.show(share_id)["availability_zone"] == "manila-zone-1"


def test_zones_of_the_type_did_not_count(program):
    program.share_type("nowhere", availability_zones="manila-zone-7")
    body = {**GOOD, "share_type": "nowhere"}
    answer = program.post("/shares", {"share": body}, version="2.48")
    program.drain()
    assert program.show(answer["share"]["id"])["status"] == "error"
    old = program.show(old_share(program, body))
    assert (old["status"], old["availability_zone"][:-1]) == ("available", "manila-zone-")
    # Nor where the first pool that was chosen cannot make it.
    for name in program.drivers:
        control = program.state / name / "control.json"
        control.write_text('{"fail": ["create"]}')
        assert program.show(old_share(program, body))["status"] == "available"
        control.unlink()


def test_a_type_that_handles_servers_needs_a_network(program):
    """C098: at once, and by the name of the field."""
    program.share_type("servers", driver_handles_share_servers="True")
    body = {"share": {**GOOD, "share_type": "servers"}}
    assert "share_network_id" in refused(program.post("/shares", body), 400)
    types = {row["name"]: row for row in program.get("/types")["share_types"]}
    assert types["servers"]["required_extra_specs"] == {"driver_handles_share_servers": "True"}


def test_a_mount_point_name(program):
    program.share_type("mount", mount_point_name_support="<is> True")
    share_id = program.new_share(share_type="mount", mount_point_name="data")
    assert mount_point(program, share_id) == f"{PROJECT}_data"
    assert "mount_point_name" not in program.show(share_id)


def test_no_back_end_exports_two_shares_under_one_name(program):
    """Where each has one of the name already, the creation fails, and its user is told."""
    specs = {"mount_point_name_support": "True"}
    program.share_type("own", **specs, **{"provisioning:mount_point_prefix": "team"})
    made = [program.new_share(share_type="own", mount_point_name="data") for _ in range(3)]
    assert [program.show(share_id)["status"] for share_id in made] == [*["available"] * 2, "error"]
    first, second = (program.show(share_id) for share_id in made[:2])
    assert first["host"] != second["host"]
    assert messages(program, made[2])


def messages(program, share_id):
    return program.get(f"/messages?resource_id={share_id}")["messages"]


def mount_point(program, share_id):
    return program.read_share(share_id).share.mount_point_name


def test_the_prefix_of_a_mount_point_name(program):
    specs = {"mount_point_name_support": "True"}
    program.share_type("plain", **specs)
    program.share_type("own", **specs, **{"provisioning:mount_point_prefix": "team"})
    share_id = program.new_share(share_type="own", mount_point_name="data")
    assert mount_point(program, share_id) == "team_data"
    program.conf.set_override("default_mount_point_prefix", "tenant-{project_id}-")
    share_id = program.new_share(share_type="plain", mount_point_name="data")
    assert mount_point(program, share_id) == f"tenant-{PROJECT}-data"
    whole = 255 - len(f"tenant-{PROJECT}-")
    for name, status in (("n" * whole, 200), ("n" * (whole + 1), 400)):
        body = {**GOOD, "share_type": "plain", "mount_point_name": name}
        assert program.post("/shares", {"share": body}).status == status


def test_a_type_cannot_have_a_prefix_that_no_mount_point_has(program):
    key = "provisioning:mount_point_prefix"
    for value, status in (("team_1-a", 200), ("a b", 400), ("a/b", 400)):
        specs = {"driver_handles_share_servers": "False", key: value}
        body = {"share_type": {"name": value, "extra_specs": specs}}
        assert program.post("/types", body, as_=ADMIN).status == status


UPDATES = {
    "name too long": ({"display_name": LONG}, 400),
    "name a number": ({"display_name": 7}, 400),
    "description too long": ({"display_description": LONG}, 400),
    "is_public no boolean": ({"is_public": "perhaps"}, 400),
    "is_public null": ({"is_public": None}, 400),
    "is_public without the policy": ({"is_public": True}, 403),
}


def test_update_refuses(program):
    share_id = program.new_share(name="mine")
    for case, (change, status) in UPDATES.items():
        answer = program.put(f"/shares/{share_id}", {"share": change})
        assert (case, answer.status) == (case, status)
        refused(answer, status)
    assert program.show(share_id)["name"] == "mine"


def test_update(program):
    share_id = program.new_share(name="mine", description="x")
    changes = {"display_name": None, "display_description": "y", "name": "no", "size": 9}
    shown = program.put(f"/shares/{share_id}", {"share": changes})["share"]
    assert (shown["name"], shown["description"], shown["size"]) == (None, "y", 1)
    shown = program.put(f"/shares/{share_id}", {"share": {"is_public": True}}, as_=ADMIN)["share"]
    assert shown["is_public"] is True
    shown = program.put(f"/shares/{share_id}", {"share": {"is_public": "no"}})["share"]
    assert shown["is_public"] is False
    assert program.put(f"/shares/{share_id}", {"share": {}})["share"]["description"] == "y"
    for body in ({}, {"share": None}, {"share": []}, {"other": {}}):
        refused(program.put(f"/shares/{share_id}", body), 422)
    refused(program.put(f"/shares/{share_id}"), 400)


def test_what_is_not_there_is_not_found(program):
    for method, path, body in (
        ("GET", f"/shares/{NOBODY}", None),
        ("PUT", f"/shares/{NOBODY}", {"share": {"display_name": "x"}}),
        ("PUT", f"/shares/{NOBODY}", {"share": {}}),
        ("DELETE", f"/shares/{NOBODY}", None),
        ("DELETE", "/shares/no-uuid-at-all", None),
        *(
            ("POST", f"/shares/{NOBODY}/action", {action: value})
            for action, value in (
                ("reset_status", {"status": "error"}),
                ("force_delete", None),
                ("extend", {"new_size": 9}),
                ("shrink", {"new_size": 1}),
            )
        ),
    ):
        message = refused(program.ask(method, path, body, as_=ADMIN), 404)
        assert NOBODY in message or "no-uuid" in message


ACTIONS = {
    "extend": {"new_size": 9},
    "shrink": {"new_size": 1},
    "reset_status": {"status": "error"},
    "force_delete": None,
}


@pytest.mark.parametrize("action", ACTIONS)
def test_actions_are_not_for_everybody(program, action):
    share_id = program.new_share(size=5)
    admins = action in {"reset_status", "force_delete"}
    refused(program.act(share_id, action, ACTIONS[action], as_=READER), 403)
    refused(program.act(share_id, action, ACTIONS[action], as_=STRANGER), 403 if admins else 404)
    if admins:
        refused(program.act(share_id, action, ACTIONS[action], as_=MEMBER), 403)
    program.put(f"/shares/{share_id}", {"share": {"is_public": True}}, as_=ADMIN)
    refused(program.act(share_id, action, ACTIONS[action], as_=STRANGER), 403)
    refused(
        program.put(f"/shares/{share_id}", {"share": {"display_name": "x"}}, as_=STRANGER), 403
    )
    refused(program.put(f"/shares/{share_id}", {"share": {}}, as_=STRANGER), 403)
    refused(program.delete(f"/shares/{share_id}", as_=STRANGER), 403)
    assert program.get(f"/shares/{share_id}", as_=STRANGER).status == 200
    assert program.show(share_id)["status"] == "available"


SIZES = [None, "", "big", 1.5, True, [], {}, -1, 2**31, 10**30, "-3"]


def test_odd_values_of_actions(program):
    share_id = program.new_share(size=5)
    for action in ("extend", "shrink"):
        for size in SIZES:
            refused(program.act(share_id, action, {"new_size": size}), 400)
    for action in ("extend", "shrink", "reset_status"):
        for value in (None, {}, [], "5", 5):
            refused(program.act(share_id, action, value, as_=ADMIN), 400)
    assert program.show(share_id)["status"] == "available"


def test_sizes_that_do_not_fit_the_action(program):
    share_id = program.new_share(size=5)
    for action, size in (("extend", 5), ("extend", 4), ("extend", 0), ("shrink", 5),
                         ("shrink", 6), ("shrink", 0)):  # fmt: skip
        refused(program.act(share_id, action, {"new_size": size}), 400)
    assert program.act(share_id, "extend", {"new_size": "6", "other": 1}).status == 202
    program.drain()
    assert program.show(share_id)["size"] == 6


def test_action_bodies(program):
    share_id = program.new_share()
    path = f"/shares/{share_id}/action"
    for body in (None, {}, {"nonsense": None}, {"extend": {"new_size": 2}, "shrink": {}}, [], "x"):
        refused(program.post(path, body), 400)


WRONG = {
    "extend": (400, {"available"}),
    "shrink": (400, {"available", "shrinking_possible_data_loss_error"}),
    "delete": (403, {"available", "error", "inactive"}),
}


@pytest.mark.parametrize("verb", WRONG)
def test_statuses_in_which_a_share_takes_no_change(program, verb):
    from fileshare.domain.statuses import SHARE_STATUSES

    status, sources = WRONG[verb]
    share_id = program.new_share(size=5)
    for word in sorted(SHARE_STATUSES - sources):
        set_share(program, share_id, status=word)
        # Who may not see shares whose deletion is deferred is told that there is none.
        if verb == "delete":
            answer = program.delete(f"/shares/{share_id}", as_=ADMIN)
        else:
            answer = program.act(share_id, verb, ACTIONS[verb], as_=ADMIN)
        assert word in refused(answer, status)
    assert program.count(models.Intent) == 1  # that of its creation


def test_a_share_with_a_task(program):
    share_id = program.new_share(size=5)
    set_share(program, share_id, task_state="migration_in_progress")
    for answer in (
        program.act(share_id, "extend", {"new_size": 9}),
        program.act(share_id, "shrink", {"new_size": 1}),
        program.act(share_id, "force_delete", as_=ADMIN),
        program.delete(f"/shares/{share_id}"),
    ):
        refused(answer, 400)
    assert program.show(share_id)["status"] == "available"
    set_share(program, share_id, task_state="migration_success")
    assert program.delete(f"/shares/{share_id}").status == 202


def test_reset_task_state(program):
    share_id = program.new_share()
    for value in ({}, {"task_state": "nonsense"}, {"task_state": 5}, {"task_state": ""}, None):
        refused(program.act(share_id, "reset_task_state", value, as_=ADMIN), 400)
    refused(program.act(share_id, "reset_task_state", {"task_state": None}), 403)
    refused(program.act(NOBODY, "reset_task_state", {"task_state": None}, as_=ADMIN), 404)
    for word in ("migration_error", "migration_in_progress", None):
        body = {"task_state": word, "os-task_state": "x"}
        assert program.act(share_id, "reset_task_state", body, as_=ADMIN).status == 202
        assert program.show(share_id)["task_state"] == word
    body = {"task_state": "data_copying_error"}
    experimental = {"X-OpenStack-Manila-API-Experimental": "true"}
    for version, headers, status in (
        ("2.21", experimental, 404),
        ("2.22", {}, 404),
        ("2.22", experimental, 202),
        ("2.95", {}, 404),
        ("2.96", {}, 202),
    ):
        how = {"as_": ADMIN, "version": version, "headers": headers}
        assert program.act(share_id, "reset_task_state", body, **how).status == status
    assert program.act(share_id, "soft_delete").status == 202
    refused(program.act(share_id, "reset_task_state", body, as_=ADMIN), 403)


def test_a_share_with_replicas(program):
    share_id = program.new_share()
    set_share(program, share_id, has_replicas=True)
    refused(program.delete(f"/shares/{share_id}"), 409)
    refused(program.act(share_id, "force_delete", as_=ADMIN), 409)
    assert program.show(share_id)["status"] == "available"


def test_a_share_in_a_group(program):
    share_id = program.new_share()
    set_share(program, share_id, share_group_id=NOBODY)
    other = NOBODY.replace("f", "e")
    refused(program.delete(f"/shares/{share_id}"), 400)
    refused(program.delete(f"/shares/{share_id}?share_group_id={other}"), 400)
    refused(program.delete(f"/shares/{share_id}?share_group_id=no-uuid"), 400)
    assert program.delete(f"/shares/{share_id}?share_group_id={NOBODY}").status == 202


def test_quotas_of_a_create(program):
    limits(program, shares=1, gigabytes=10, per_share_gigabytes=8)
    for size, word in ((11, "gigabytes"), (9, "per_share_gigabytes")):
        answer = program.post("/shares", {"share": {**GOOD, "size": size}})
        assert word in refused(answer, 413)
        assert "xceed" in answer["overLimit"]["message"]
        assert answer.headers["Retry-After"] == "0"
        assert answer["overLimit"]["retryAfter"] == "0"
    share_id = program.new_share(size=8)
    assert "shares" in refused(program.post("/shares", {"share": GOOD}), 413)
    program.check()
    program.delete(f"/shares/{share_id}")
    refused(program.post("/shares", {"share": GOOD}), 413)
    program.drain()
    assert program.post("/shares", {"share": GOOD}).status == 200
    program.drain()
    program.check()


def test_quotas_of_an_extend(program):
    limits(program, gigabytes=10, per_share_gigabytes=8)
    share_id = program.new_share(size=5)
    refused(program.act(share_id, "extend", {"new_size": 9}), 413)
    refused(program.act(share_id, "extend", {"new_size": 11}), 403)
    assert program.show(share_id)["status"] == "available"
    program.check()
    assert program.act(share_id, "extend", {"new_size": 8}).status == 202
    refused(program.post("/shares", {"share": {**GOOD, "size": 3}}), 413)
    program.drain()
    program.check()


def test_force_of_an_extend(program):
    share_id = program.new_share(size=1)
    refused(program.act(share_id, "extend", {"new_size": 2, "force": "true"}), 403)
    refused(program.act(share_id, "extend", {"new_size": 2, "force": "perhaps"}), 400)
    assert program.act(share_id, "extend", {"new_size": 2, "force": "false"}).status == 202
    program.drain()
    assert (
        program.act(share_id, "extend", {"new_size": 3, "force": "perhaps"}, version="2.63").status
        == 202
    )
    program.drain()
    answer = program.act(share_id, "extend", {"new_size": 5000, "force": True}, as_=ADMIN)
    refused(answer, 403)
    assert (
        program.act(share_id, "extend", {"new_size": 9, "force": "true"}, as_=ADMIN).status == 202
    )
    assert [to for to, _ in program.bell.rung][-1].startswith("share.")
    program.drain()
    assert program.show(share_id)["size"] == 9
    program.check()


def test_reset_status_refuses(program):
    from fileshare.domain.statuses import RESETTABLE, SHARE_STATUSES

    share_id = program.new_share()
    for word in [*sorted(SHARE_STATUSES - set(RESETTABLE)), "", "nonsense", None, 5, []]:
        refused(program.act(share_id, "reset_status", {"status": word}, as_=ADMIN), 400)
    for word in RESETTABLE:
        body = {"status": word, "os-status": "x", "more": 1}
        assert program.act(share_id, "reset_status", body, as_=ADMIN).status == 202
        assert program.show(share_id)["status"] == word
        assert program.read_share(share_id).instance.status == word
