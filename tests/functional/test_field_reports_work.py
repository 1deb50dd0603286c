"""What users and operators met with in the field: quotas, placement, secrets.

Each docstring begins with the number of the report.
"""

from __future__ import annotations

import json
import logging

import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, PROJECT, STRANGER
from test_field_reports import a_type, create, report

from fileshare.db import models


def details(api, path="", as_=ADMIN):
    found = api.get(f"/quota-sets/{PROJECT}/detail{path}", as_=as_)
    return found["quota_set"]


# -- quotas ------------------------------------------------------------------------------------


def test_what_is_in_use_is_the_sum_of_the_lists(api):
    """C036: after work that was lost, doubled, failed and given up."""
    (api.state / "alpha" / "control.json").write_text(
        json.dumps({"fail": ["create@0.3", "resize@0.3", "delete@0.3"]})
    )
    shares = []
    for number in range(24):
        shares.append(api.new_share(size=1 + number % 3, drain=False))
        if number % 3 == 0:
            api.bell.rung.clear()
        if number % 4 == 0:
            api.drain()
        act = ("extend", {"new_size": 5}) if number % 2 else ("shrink", {"new_size": 1})
        api.act(shares[number // 2], *act)
        if number % 5 == 4:
            api.delete(f"/shares/{shares[number - 3]}")
    (api.state / "alpha" / "control.json").unlink()
    for _turn in range(10):
        api.make_due()
        api.poll()
    left = api.get("/shares/detail")["shares"]
    charged = [share for share in left if share["status"] != "error"]
    found = details(api)
    assert found["shares"] == {"limit": 50, "in_use": len(charged), "reserved": 0}
    assert found["gigabytes"]["in_use"] == sum(share["size"] for share in charged)
    # All is of one user and of one type.
    for query in ("", "?user_id=alice", "?share_type=default"):
        quotas = [(name, quota) for name, quota in details(api, query).items() if name != "id"]
        assert {quota["reserved"] for _name, quota in quotas} == {0}
        for name, quota in quotas:
            assert quota["in_use"] == (found[name]["in_use"]), (query, name)
    api.books()


def test_a_type_takes_its_quotas_along(api):
    """C047: another one of its name begins anew."""
    old = a_type(api, "brief")
    assert (
        api.put(
            f"/types/{old}", {"share_type": {"share_type_access:is_public": False}}, as_=ADMIN
        ).status
        == 200
    )
    access = {"addProjectAccess": {"project": PROJECT}}
    assert api.post(f"/types/{old}/action", access, as_=ADMIN).status == 202
    path = f"/quota-sets/{PROJECT}?share_type={old}"
    assert api.put(path, {"quota_set": {"shares": 3}}, as_=ADMIN).status == 200
    assert api.delete(f"/types/{old}", as_=ADMIN).status == 202
    new = a_type(api, "brief")
    assert details(api, f"?share_type={new}")["shares"]["limit"] == 50
    assert details(api, f"?share_type={new}")["shares"]["in_use"] == 0
    private = {"share_type": {"share_type_access:is_public": False}}
    api.put(f"/types/{new}", private, as_=ADMIN)
    assert api.get(f"/types/{new}/share_type_access", as_=ADMIN).body == {"share_type_access": []}


# -- placement ---------------------------------------------------------------------------------


def test_only_what_is_added_must_fit(api):
    """C060"""
    share = api.new_share(size=50)
    name = api.show(share)["host"].partition("#")[0].partition("@")[2]
    report(api, name, total_gb=100.0, free_gb=5.0, allocated_gb=95.0, thin=False)
    assert api.act(share, "extend", {"new_size": 52}).status == 202
    api.drain()
    shown = api.show(share)
    assert (shown["status"], shown["size"]) == ("available", 52)


def test_a_pool_is_chosen_by_what_it_speaks(api):
    """C067"""
    api.conf.set_override("dummy_storage_protocols", ["NFS"], group="alpha")
    api.conf.set_override("dummy_storage_protocols", ["CIFS"], group="beta")
    api.report()
    for protocol, name in (("CIFS", "beta"), ("NFS", "alpha")) * 3:
        share = api.show(api.new_share(share_proto=protocol))
        assert share["host"].startswith(f"{HOST}@{name}#"), share
    api.conf.set_override("dummy_storage_protocols", ["NFS"], group="beta")
    api.report()
    failed = api.new_share(share_proto="CIFS")
    assert api.show(failed)["status"] == "error"
    (message,) = api.messages(failed)
    assert message.action_id == "001"


def test_an_operator_tries_a_back_end_that_is_closed_to_others(api):
    """C069"""
    pool = next(
        pool["name"]
        for pool in api.get("/scheduler-stats/pools", as_=ADMIN)["pools"]
        if "@alpha#" in pool["name"]
    )
    closed = {"host": f"{HOST}@alpha", "binary": "manila-share"}
    assert api.put("/services/disable", closed, as_=ADMIN).status == 200
    hint = {"scheduler_hints": {"only_host": pool}}
    tried = create(api, as_=ADMIN, version="2.67", **hint)["share"]["id"]
    api.drain()
    assert (api.show(tried)["status"], api.show(tried)["host"]) == ("available", pool)
    for version in ("2.67", "2.99"):
        assert create(api, version=version, **hint).status == 403
    for _each in range(6):
        shown = api.show(api.new_share())
        assert shown["host"].startswith(f"{HOST}@beta#"), shown


def test_formulas_compare_texts_and_a_broken_one_stops_nothing(api, caplog):
    """C071"""
    formula = "(share.share_proto == 'NFS') ? 100 : 50"
    api.conf.set_override("goodness_function", formula, group="alpha")
    api.conf.set_override("goodness_function", "10", group="beta")
    api.conf.set_override("scheduler_default_weighers", ["GoodnessWeigher"])
    api.consumers["scheduler"] = api._scheduler()
    api.report()
    hosts = {api.show(api.new_share())["host"].partition("#")[0] for _each in range(10)}
    assert hosts == {f"{HOST}@alpha"}
    broken = "share.share_proto ==== ("
    api.conf.set_override("goodness_function", broken, group="alpha")
    api.report()
    shown = api.show(api.new_share())
    assert (shown["status"], shown["host"].partition("#")[0]) == ("available", f"{HOST}@beta")
    assert f"goodness_function '{broken}' of {HOST}@alpha counts as 0" in caplog.text


# -- secrets -----------------------------------------------------------------------------------


def test_no_secret_is_logged_or_told(api, caplog):
    """C103: with all that is logged, of work that succeeds and that fails."""
    caplog.set_level(logging.DEBUG)
    heard = api.listen()
    share = api.new_share()
    secret = "AQBrzRdYkey=="
    rule = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}
    access = api.act(share, "allow_access", rule)["access"]["id"]
    api.write(
        sa.update(models.AccessRule)
        .where(models.AccessRule.id == access)
        .values(access_key=secret)
    )
    api.drain()
    api.get(f"/share-access-rules/{access}")
    api.get(f"/share-access-rules/{access}", as_=STRANGER)
    (api.state / "alpha" / "control.json").write_text(json.dumps({"fail": ["*"]}))
    (api.state / "beta" / "control.json").write_text(json.dumps({"fail": ["*"]}))
    api.act(share, "allow_access", {**rule, "access_to": "10.0.0.2"})
    api.act(share, "deny_access", {"access_id": access})
    api.drain()
    assert "Told to fail" in caplog.text
    for text in (secret, MEMBER, STRANGER):
        assert text not in caplog.text
        assert text not in str(heard)
        assert text not in str(api.messages(share))
