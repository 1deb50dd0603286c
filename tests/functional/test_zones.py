"""Availability zones over HTTP."""

from __future__ import annotations

import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, READER

from fileshare.db import zones
from fileshare.db.models import Service
from tests.fixtures.queries import assert_queries


def names(api, **kw):
    answer = api.get("/availability-zones", **kw)
    assert answer.status == 200
    return [zone["name"] for zone in answer["availability_zones"]]


def test_list(api):
    for who in (ADMIN, MEMBER, READER):
        for version, path in (("2.6", "/os-availability-zone"), ("2.7", "/availability-zones")):
            answer = api.get(path, as_=who, version=version)
            assert answer.status == 200
            assert list(answer.body) == ["availability_zones"]
            assert [set(zone) for zone in answer["availability_zones"]] == [
                {"id", "name", "created_at", "updated_at"}
            ] * 2
    assert names(api) == ["manila-zone-0", "manila-zone-1"]


def test_paths(api):
    assert api.get("/availability-zones", version="2.6").status == 404
    assert api.get("/os-availability-zone", version="2.7").status == 404


def test_only_where_a_service_lives(api):
    api.sessions.run(lambda session: zones.ensure(session, "empty"))
    assert names(api) == ["manila-zone-0", "manila-zone-1"]

    def remove(session):
        session.execute(
            sa.update(Service)
            .where(Service.host == "node@alpha")
            .values(availability_zone_id=zones.ensure(session, "empty"))
        )

    api.sessions.run(remove)
    assert names(api) == ["empty", "manila-zone-1"]


def test_a_zone_is_found_by_name_and_id(api):
    zone = api.get("/availability-zones")["availability_zones"][0]
    for key in ("id", "name"):
        found = api.sessions.run(lambda session, key=key: zones.get(session, zone[key]))
        assert found.name == zone["name"]


def test_statements(api):
    with assert_queries(api.sessions.engine, 1):
        names(api)
