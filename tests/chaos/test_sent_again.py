"""Users whose connection is cut before the answer, and who ask again."""

from __future__ import annotations

import collections
import json
import socket
import struct

import pytest
import requests
import sqlalchemy as sa

from devstack.servers import HOST
from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from tests.chaos.deployment import MEMBER, deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

TIMES = 100


@pytest.fixture
def cloud(tmp_path):
    """An API; nothing need be made of what it promises."""
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db") as made:
        made.sessions = Sessions(create_engine(made.database))
        migration.upgrade(made.sessions.engine)
        made.node(backends=("alpha",))
        made.start("api")
        until(made.serves, "the API serves")
        made.make_type()
        yield made
        made.sessions.dispose()


def head(key):
    return {
        "X-OpenStack-Manila-API-Version": "2.80",
        "X-Auth-Token": MEMBER,
        "Idempotency-Key": key,
        "Content-Type": "application/json",
    }


def body(key, size=1):
    return json.dumps({"share": {"name": key, "size": size, "share_proto": "NFS"}}).encode()


def cut(cloud, key, *, reset):
    """Ask, and be gone before the answer: by an end, or (*reset*) as when the power fails."""
    content = body(key)
    lines = ["POST /v2/shares HTTP/1.1", f"Host: {HOST}", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in head(key).items()]
    with socket.create_connection((HOST, cloud.nodes["node"].port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        if reset:
            at_once = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)


def again(cloud, key, **values):
    return requests.post(
        f"{cloud.url()}/shares", data=body(key, **values), headers=head(key), timeout=30
    )


def made(cloud):
    """How many shares there are of each name."""
    names = sa.select(models.Share.display_name)
    found = cloud.sessions.run(lambda session: session.scalars(names).all())
    return collections.Counter(found)


def test_what_is_sent_again_is_made_once(cloud):
    """C156: a hundred times, each after a connection that was cut before the answer."""
    keys = [f"key-{number}" for number in range(TIMES)]
    for number, key in enumerate(keys):
        cut(cloud, key, reset=bool(number % 2))
    # Who only hung up is served; who was torn away may not have been heard.
    heard = keys[::2]
    until(lambda: set(heard) <= set(made(cloud)), "the requests were worked on")
    replies = {key: [again(cloud, key) for _time in range(2)] for key in keys}
    for key, answers in replies.items():
        assert [answer.status_code for answer in answers] == [200, 200], key
        assert len({answer.json()["share"]["id"] for answer in answers}) == 1
        assert {answer.json()["share"]["name"] for answer in answers} == {key}
    assert made(cloud) == dict.fromkeys(keys, 1)
    assert {again(cloud, key, size=2).status_code for key in keys[:10]} == {409}
    assert made(cloud) == dict.fromkeys(keys, 1)
