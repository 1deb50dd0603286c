"""User messages over HTTP."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, NOBODY, OTHER_PROJECT, PROJECT, READER, STRANGER

from fileshare.db.clock import after
from fileshare.db.models import Message, new_id
from tests.fixtures.queries import assert_queries

KEYS = {
    "id",
    "project_id",
    "action_id",
    "detail_id",
    "message_level",
    "created_at",
    "expires_at",
    "request_id",
    "links",
    "resource_type",
    "resource_id",
    "user_message",
}


@pytest.fixture
def add(api):
    """Write a message of *age* seconds; its id."""

    def write(age=0, **columns):
        row = {
            "id": new_id(),
            "project_id": PROJECT,
            "request_id": "req-1",
            "resource_type": "SHARE",
            "resource_id": new_id(),
            "action_id": "001",
            "detail_id": "002",
            "message_level": "ERROR",
            **columns,
        }
        insert = sa.insert(Message).values(
            **row, created_at=after(-age), expires_at=after(1000 - age)
        )
        api.write(insert)
        return row["id"]

    return write


@pytest.fixture
def ids(api):
    def find(query="", status=200, **kw):
        answer = api.get(f"/messages?{query}", **kw)
        assert answer.status == status, answer.body
        return [row["id"] for row in answer["messages"]] if status == 200 else None

    return find


def test_a_failed_create_leaves_one(api):
    api.share_type("impossible", share_backend_name="nobody")
    share_id = api.new_share(share_type="impossible")
    assert api.show(share_id)["status"] == "error"
    (message,) = api.get(f"/messages?resource_id={share_id}")["messages"]
    assert set(message) == KEYS
    assert (message["action_id"], message["resource_type"]) == ("001", "SHARE")
    assert message["message_level"] == "ERROR"
    assert message["project_id"] == PROJECT
    assert "No storage could be allocated for this share request" in message["user_message"]
    assert message["user_message"].startswith("allocate host: ")
    assert message["expires_at"] > message["created_at"]
    path = f"/messages/{message['id']}"
    assert api.get(path)["message"] == message
    assert [link["rel"] for link in message["links"]] == ["self", "bookmark"]
    assert message["links"][0]["href"].endswith(f"/v2{path}")
    assert api.delete(path).status == 204
    assert api.get(path).status == 404


def test_they_came_with_2_37(api, add):
    path = f"/messages/{add()}"
    assert api.get("/messages", version="2.36").status == 404
    assert api.get(path, version="2.36").status == 404
    assert api.delete(path, version="2.36").status == 404
    assert api.get(path, version="2.37").status == 200


def test_whose(api, add, ids):
    mine, theirs = add(2), add(1, project_id=OTHER_PROJECT)
    assert ids(as_=MEMBER) == [mine]
    assert ids(as_=READER) == [mine]
    assert ids(as_=STRANGER) == [theirs]
    assert ids(as_=ADMIN) == [theirs, mine]
    missing = api.get(f"/messages/{NOBODY}", as_=STRANGER)
    found = api.get(f"/messages/{mine}", as_=STRANGER)
    assert (missing.status, found.status) == (404, 404)
    assert str(found.body).replace(mine, NOBODY) == str(missing.body)
    assert api.delete(f"/messages/{mine}", as_=STRANGER).status == 404
    assert api.delete(f"/messages/{mine}", as_=READER).status == 403
    assert api.delete(f"/messages/{mine}", as_=ADMIN).status == 204
    assert api.delete(f"/messages/{mine}", as_=ADMIN).status == 404


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("request_id", "req-2"),
        ("resource_type", "SHARE_SNAPSHOT"),
        ("resource_id", NOBODY),
        ("action_id", "002"),
        ("detail_id", "009"),
        ("message_level", "INFO"),
    ],
)
def test_filters(add, ids, name, other):
    one, two = add(2), add(1, **{name: other})
    assert ids(f"{name}={other}") == [two]
    assert ids(f"{name}=nothing", status=400 if name == "resource_id" else 200) in ([], None)
    assert ids("unknown=1") == [two, one]


def test_filters_of_time(api, add, ids):
    old, middle, new = add(3000), add(2000), add(1000)
    when = api.get(f"/messages/{middle}")["message"]["created_at"]
    assert ids(f"created_since={when}") == [new, middle]
    assert ids(f"created_before={when}") == [middle, old]
    assert ids(f"created_since={when}&created_before={when}") == [middle]
    assert ids(f"created_since={when}%2B00:00") == [new, middle]
    assert ids(f"created_since={when[:10]}T00:00:00Z&created_before=2100-01-01") is not None
    assert ids(f"created_since={when}", version="2.51") == [new, middle, old]
    assert ids("created_since=yesterday", status=400) is None
    assert ids("created_since=0001-01-01T00:00:00%2B14:00", status=400) is None
    assert ids("created_since=yesterday", version="2.51") == [new, middle, old]


def test_pages(api, add, ids):
    four, three, two, one = (add(age) for age in (4, 3, 2, 1))
    assert ids() == [one, two, three, four]
    assert ids("limit=2") == [one, two]
    assert ids("limit=2&offset=1") == [two, three]
    assert ids("offset=3") == [four]
    assert ids("offset=4") == []
    assert ids("limit=0") == []
    assert ids(f"limit=2&marker={two}") == [three, four]
    assert "messages_links" not in api.get("/messages").body
    assert "messages_links" not in api.get("/messages?limit=5").body
    (link,) = api.get("/messages?limit=2&sort_dir=asc")["messages_links"]
    assert link["rel"] == "next"
    assert ids(link["href"].partition("?")[2]) == [two, one]


@pytest.mark.parametrize(
    "query",
    [
        "limit=-1",
        "limit=x",
        "limit=2147483648",
        "limit=1&limit=2",
        "limit=+1",
        "offset=+1",
        "offset=-1",
        "offset=x",
        "sort_key=nothing",
        "sort_key=__class__",
        "sort_key=reason",
    ],
)
def test_refusals(ids, query):
    assert ids(query, status=400) is None


def test_sorting(add, ids):
    one, two = add(2, action_id="002"), add(1, action_id="001")
    assert ids("sort_key=action_id") == [one, two]
    assert ids("sort_key=action_id&sort_dir=asc") == [two, one]
    assert ids("sort_dir=whatever") == [one, two]  # anything but desc
    for key in ("id", "project_id", "request_id", "resource_type", "resource_id",
                "detail_id", "message_level", "created_at", "expires_at"):  # fmt: skip
        assert set(ids(f"sort_key={key}")) == {one, two}


def test_the_largest_page(api, add, ids):
    api.conf.set_override("osapi_max_limit", 2)
    three, two, one = (add(age) for age in (3, 2, 1))
    assert ids() == [one, two]
    assert ids("limit=7") == [one, two]
    assert ids("limit=7&offset=2") == [three]


def test_unknown_ids_of_action_and_detail(api, add):
    message = api.get(f"/messages/{add(action_id='999', detail_id='999')}")["message"]
    assert message["user_message"] == "unknown action: An unknown error occurred."


def test_there_is_nothing_to_create(api):
    assert api.post("/messages", {"message": {}}).status == 400


def test_statements(api, add):
    for age in range(20):
        add(age)
    with assert_queries(api.sessions.engine, 1):
        api.get("/messages?limit=20")
