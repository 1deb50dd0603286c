"""What a project is told of its limits."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, LATEST, MEMBER, PROJECT, READER, STRANGER

FIRST = {
    "maxTotalShares": 50,
    "maxTotalShareGigabytes": 1000,
    "maxTotalShareSnapshots": 50,
    "maxTotalSnapshotGigabytes": 1000,
    "maxTotalShareNetworks": 10,
    "totalSharesUsed": 0,
    "totalShareGigabytesUsed": 0,
    "totalShareSnapshotsUsed": 0,
    "totalSnapshotGigabytesUsed": 0,
    "totalShareNetworksUsed": 0,
}
REPLICAS = {
    "maxTotalShareReplicas": 100,
    "maxTotalReplicaGigabytes": 1000,
    "totalShareReplicasUsed": 0,
    "totalReplicaGigabytesUsed": 0,
}
GROUPS = {
    "maxTotalShareGroups": 50,
    "maxTotalShareGroupSnapshots": 50,
    "totalShareGroupsUsed": 0,
    "totalShareGroupSnapshotsUsed": 0,
}
BACKUPS = {
    "maxTotalShareBackups": 10,
    "maxTotalBackupGigabytes": 1000,
    "totalShareBackupsUsed": 0,
    "totalBackupGigabytesUsed": 0,
}


@pytest.mark.parametrize(
    ("version", "absolute"),
    [
        ("2.0", FIRST),
        ("2.52", FIRST),
        ("2.53", FIRST | REPLICAS),
        ("2.58", FIRST | REPLICAS | GROUPS),
        ("2.79", FIRST | REPLICAS | GROUPS),
        ("2.80", FIRST | REPLICAS | GROUPS | BACKUPS),
        (LATEST, FIRST | REPLICAS | GROUPS | BACKUPS),
    ],
)
def test_limits(api, version, absolute):
    answer = api.get("/limits", version=version)
    assert (answer.status, answer.body) == (200, {"limits": {"rate": [], "absolute": absolute}})


def test_limits_are_the_caller_s_own_project_s(api):
    body = {"quota_set": {"shares": 7, "backups": -1}}
    assert api.put(f"/quota-sets/{PROJECT}", body, as_=ADMIN).status == 200
    for as_ in (MEMBER, READER):
        absolute = api.get("/limits", as_=as_)["limits"]["absolute"]
        assert (absolute["maxTotalShares"], absolute["maxTotalShareBackups"]) == (7, -1)
    for as_ in (ADMIN, STRANGER):
        assert api.get("/limits", as_=as_)["limits"]["absolute"]["maxTotalShares"] == 50


def test_shares_count_from_the_moment_they_are_asked_for(api):
    api.new_share(size=3, drain=False)

    def used(as_=MEMBER):
        absolute = api.get("/limits", as_=as_)["limits"]["absolute"]
        return absolute["totalSharesUsed"], absolute["totalShareGigabytesUsed"]

    assert used() == (1, 3)
    api.drain()
    assert used() == (1, 3)
    assert used(STRANGER) == (0, 0)
