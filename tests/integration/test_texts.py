"""Texts of every language, on each kind of database: as they were sent, and found by nothing else."""

from __future__ import annotations

import urllib.parse

import pytest
from inprocess import ADMIN, running

TEXTS = (
    "Gold",
    "gold",
    "gold ",
    "Z",
    "a",
    "\U0001f5c4\ufe0f",
    "שלום",
    "e\u0301",
    "é",
    "İ",
    "ß",
    "SS",
)


@pytest.fixture
def api(any_url, tmp_path):
    with running(tmp_path, any_url) as made:
        yield made


def a_type(api, name):
    body = {"name": name, "extra_specs": {"driver_handles_share_servers": "False"}}
    answer = api.post("/types", {"share_type": body}, as_=ADMIN)
    assert answer.status == 200, answer.body
    return answer["share_type"]["id"]


def listed(api, query):
    return [share["name"] for share in api.get(f"/shares/detail?{query}")["shares"]]


def test_names_that_look_alike_are_two(api):
    """C124: byte for byte, in types, names and metadata; each database gives the one answer."""
    types = {name: a_type(api, name) for name in ("Gold", "gold")}
    assert len(set(types.values())) == 2
    for name, id in types.items():
        assert api.get(f"/types/{id}")["share_type"]["name"] == name
    for text in TEXTS:
        values = {
            "name": text,
            "description": text,
            "share_type": "gold",
            "metadata": {text: text},
        }
        id = api.new_share(drain=False, **values)
        shown = api.show(id)
        assert (shown["name"], shown["description"]) == (text, text)
        assert (shown["share_type"], shown["metadata"]) == (types["gold"], {text: text})
    for text in TEXTS:
        name = urllib.parse.quote(text)
        assert listed(api, f"name={name}") == [text]
        assert listed(api, f"description={name}") == [text]
        pair = urllib.parse.quote(str({text: text}))
        assert listed(api, f"metadata={pair}") == [text]
    all_at_once = {text: text for text in TEXTS if text != "gold "}
    assert api.show(api.new_share(drain=False, metadata=all_at_once))["metadata"] == all_at_once
    # MariaDB sorts what differs in blanks at the end as equal.
    in_order = sorted(set(TEXTS) - {"gold "}, key=str.encode)
    for direction, wanted in (("asc", in_order), ("desc", in_order[::-1])):
        found = listed(api, f"name~=.&sort_key=name&sort_dir={direction}")
        assert [name for name in found if name != "gold "] == wanted


@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("old", {"Gold", "gold", "gold "}),
        ("gold", {"gold", "gold "}),
        ("GOLD", set()),
        ("é", {"é"}),
    ],
)
def test_a_part_of_a_name_is_found_by_the_same_letters(api, part, names):
    """C124: capitals are other letters, on each database."""
    for text in TEXTS:
        api.new_share(drain=False, name=text, description=text)
    for field in ("name", "description"):
        assert set(listed(api, f"{field}~={urllib.parse.quote(part)}")) == names


def test_keys_that_differ_in_a_blank_at_the_end_are_not_taken_together(api):
    """C124: one of the databases takes them as one; each answers the same."""
    a_type(api, "gold")
    twins = {"k": "1", "k ": "2"}
    body = {"share_proto": "NFS", "size": 1, "share_type": "gold", "metadata": twins}
    assert api.post("/shares", {"share": body}).status == 400
    id = api.new_share(drain=False, share_type="gold", metadata={"k ": "2", " k": "3"})
    path = f"/shares/{id}/metadata"
    assert api.post(path, {"metadata": {"k": "1"}}).status == 400
    assert api.put(path, {"metadata": twins}).status == 400
    assert api.get(path)["metadata"] == {"k ": "2", " k": "3"}
    assert api.put(path, {"metadata": {"k": "1"}}).status == 200
    assert api.get(path)["metadata"] == {"k": "1"}
