"""The servers that other tests stand on: they start, serve, and keep tests apart."""

from __future__ import annotations

import kombu
import pymemcache
import pytest
import sqlalchemy

pytestmark = pytest.mark.integration


def _versions(url):
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE probe (id INTEGER PRIMARY KEY)"))
        connection.execute(sqlalchemy.text("INSERT INTO probe VALUES (7)"))
    with engine.connect() as connection:
        number = connection.execute(sqlalchemy.text("SELECT id FROM probe")).scalar_one()
        version = connection.execute(sqlalchemy.text("SELECT version()")).scalar_one()
    engine.dispose()
    return number, version


@pytest.mark.parametrize("_again", range(2))
def test_mariadb(mariadb_url, _again):
    number, version = _versions(mariadb_url)
    assert number == 7
    assert "MariaDB" in version


@pytest.mark.parametrize("_again", range(2))
def test_postgresql(postgresql_url, _again):
    number, version = _versions(postgresql_url)
    assert number == 7
    assert version.startswith("PostgreSQL")


def test_rabbitmq(rabbitmq_url):
    with kombu.Connection(rabbitmq_url.replace("rabbit://", "amqp://")) as connection:
        queue = connection.SimpleQueue("probe")
        queue.put({"ring": 7})
        assert queue.get(timeout=10).payload == {"ring": 7}
        queue.close()


def test_memcached(memcached):
    client = pymemcache.Client(memcached.url())
    client.set("probe", b"7")
    assert client.get("probe") == b"7"
    client.close()
