"""Each failure that the contract tells users of, made to happen; or why it cannot happen yet.

Messages of the metadata that back ends are told of are tested beside that.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from inprocess import HOST
from test_field_reports import a_type, create, report

from fileshare.db.models import PoolReport

CONTRACT = Path(__file__).parents[1] / "contract"
PROTOCOLS = "dummy_storage_protocols"


class Plain:
    """A back end that can do what every one must, and nothing more."""

    def __init__(self, driver):
        self._driver = driver

    def __getattr__(self, name):
        return getattr(self._driver, name)


def faults(api, *failures):
    for name in api.drivers:
        (api.state / name / "control.json").write_text(json.dumps({"fail": failures}))


def override(api, name, value):
    for backend in api.drivers:
        api.conf.set_override(name, value, group=backend)
    api.report()


def plain(api):
    for name, driver in api.drivers.items():
        api.drivers[name] = Plain(driver)
        api.consumers[f"share.{HOST}@{name}"] = api.share_consumer(name)


def filters(api, *names):
    api.conf.set_override("scheduler_default_filters", [*names])
    api.consumers["scheduler"] = api._scheduler()


def placed(api, **values):
    share = create(api, **values)["share"]["id"]
    api.drain()
    return share


def acted(api, action, **values):
    share = placed(api, size=5)
    assert api.act(share, action, values).status < 300
    return share


def together_and_apart(api):
    share = placed(api)
    return placed(api, scheduler_hints={"same_host": share, "different_host": share})


def wrong_zone(api):
    override(api, PROTOCOLS, ["NFS", "CIFS"])
    a_type(api, "elsewhere", availability_zones="elsewhere")
    return placed(api, share_type="elsewhere")


def wrong_capability(api):
    a_type(api, "pigeon", storage_protocol="carrier pigeon")
    return placed(api, share_type="pigeon")


def too_large(api):
    for name in api.drivers:
        report(api, name, free_gb=5.0, total_gb=10.0, thin=False)
    return placed(api, size=6)


def excluded(api):
    override(api, "filter_function", "share.size > 1")
    return placed(api)


def tried_before(api):
    faults(api, "create")
    return placed(api)


def not_in_the_query(api):
    filters(api, "JsonFilter")
    return placed(api, scheduler_hints={"query": '["<", "$free_capacity_gb", 1]'})


def tried_before_by_the_old_name(api):
    filters(api, "RetryFilter")
    return tried_before(api)


def without_replication(api):
    override(api, "dummy_replication_type", "dr")
    override(api, "replication_domain", None)
    a_type(api, "replicated", replication_type="dr")
    return placed(api, share_type="replicated")


def no_room_to_grow(api):
    share = acted(api, "extend", new_size=900)
    for name in api.drivers:
        report(api, name, free_gb=5.0, total_gb=100.0, thin=False)
    return share


def not_made(api):
    api.conf.set_override("scheduler_max_attempts", 1)
    return tried_before(api)


def never_ready(api):
    api.write(sa.delete(PoolReport))
    api.conf.set_override("scheduler_driver_init_wait_time", 0)
    return placed(api)


def not_deleted(api):
    share = placed(api)
    faults(api, "delete")
    assert api.delete(f"/shares/{share}").status == 202
    return share


def not_extended(api):
    share = acted(api, "extend", new_size=9)
    faults(api, "extend")
    return share


def holds_more(api):
    share = acted(api, "shrink", new_size=2)
    faults(api, "shrink error=shrink")
    return share


def cannot_shrink(api):
    share = acted(api, "shrink", new_size=2)
    plain(api)
    return share


def unsupported_client(api):
    return acted(api, "allow_access", access_type="cert", access_to="somebody")


SEEN = {
    ("001", "002"): together_and_apart,
    ("001", "007"): wrong_zone,
    ("001", "008"): wrong_capability,
    ("001", "009"): too_large,
    ("001", "010"): excluded,
    ("001", "011"): tried_before,
    ("001", "012"): not_in_the_query,
    ("001", "013"): tried_before_by_the_old_name,
    ("001", "014"): without_replication,
    ("002", "001"): not_made,
    ("002", "028"): never_ready,
    ("007", "001"): not_deleted,
    ("008", "009"): no_room_to_grow,
    ("008", "015"): not_extended,
    ("009", "018"): holds_more,
    ("009", "019"): cannot_shrink,
    ("010", "021"): unsupported_client,
}
ELSEWHERE = {
    ("010", "020"): "test_field_reports_backends.py: an identity of another project",
    ("027", "029"): "test_metadata_updates.py",
    ("027", "030"): "test_metadata_updates.py",
}
SERVERS = "share servers are not offered"
NEVER = {
    ("001", "016"): "shares are not made from snapshots",
    ("002", "003"): SERVERS,
    ("002", "004"): SERVERS,
    ("002", "022"): SERVERS,
    ("002", "023"): SERVERS,
    ("002", "024"): "the request itself is refused",
    ("002", "025"): SERVERS,
    ("002", "027"): SERVERS,
    ("002", "033"): SERVERS,
    ("003", "001"): "rules go with the share, in one call of the driver",
    ("005", "017"): "shares are not made from snapshots",
    ("006", "001"): "there are no snapshots to revert to",
    ("026", "026"): "shares are not transferred",
    ("028", "032"): "there are no backups",
}


@pytest.mark.parametrize("pair", SEEN, ids="-".join)
def test_what_the_user_is_told(api, pair):
    share = SEEN[pair](api)
    for _turn in range(3):
        api.drain()
        api.make_due()
        api.poll()
    told = api.get(f"/messages?resource_id={share}")["messages"]
    assert [(row["action_id"], row["detail_id"]) for row in told] == [pair]
    (row,) = told
    assert (row["resource_type"], row["message_level"]) == ("SHARE", "ERROR")
    if pair[0] == "001":
        assert "No storage could be allocated for this share request" in row["user_message"]


def promised():
    """(action, detail) of every failure of a share in the contract."""
    contract = yaml.safe_load((CONTRACT / "messages.yaml").read_text())
    by_filter = {row["id"] for row in contract["details"] if "filter" in row} | {"002"}
    for row in contract["raised_when"]:
        details = row["detail"] if isinstance(row["detail"], list) else [row["detail"]]
        for detail in details if row["resource"] == "SHARE" else ():
            if detail == "by last filter or 002":
                yield from ((row["action"], id) for id in by_filter)
            else:
                yield row["action"], "001" if detail == "from exception" else detail


def test_no_failure_is_forgotten():
    known = {*SEEN, *ELSEWHERE, *NEVER}
    # Growth is a placement among one pool, by the filters of room and service.
    growth = {("008", detail) for action, detail in known if action == "001"}
    assert set(promised()) <= known | growth
