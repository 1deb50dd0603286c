from __future__ import annotations

import datetime as dt

import jsonschema
import pytest

from fileshare import errors
from fileshare.api import encoding, shapes


def accepts(shape, value):
    return jsonschema.Draft202012Validator(shape.schema).is_valid(value)


@pytest.mark.parametrize("value", [True, 1, "1", "true", "TRUE", "t", "yes", "y", "On", " true "])
def test_truths(value):
    assert accepts(shapes.BOOLEAN, value)
    assert shapes.BOOLEAN.load(value) is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "F", "no", "N", "off"])
def test_untruths(value):
    assert accepts(shapes.BOOLEAN, value)
    assert shapes.BOOLEAN.load(value) is False


@pytest.mark.parametrize("value", [None, 2, -1, "", "maybe", "tru", "10", [], {}])
def test_neither(value):
    assert not accepts(shapes.BOOLEAN, value)


@pytest.mark.parametrize(("value", "number"), [(5, 5), ("5", 5), (" 7 ", 7), (5.0, 5)])
def test_numbers(value, number):
    shape = shapes.integer(1)
    assert accepts(shape, value)
    assert shape.load(value) == number


@pytest.mark.parametrize("value", [0, 2**31, 1.5, "x", "1.5", "", None, True, [], "٣"])
def test_no_numbers(value):
    assert not accepts(shapes.integer(1), value)


@pytest.mark.parametrize("text", ["0", "-3", str(2**31)])
def test_texts_of_numbers_keep_the_bounds(text):
    with pytest.raises(ValueError):
        shapes.integer(1).load(text)


@pytest.mark.parametrize(
    "value", ["7e7f7a0c-0ed8-4d46-8d31-6b8a1f9d0c11", "7E7F7A0C0ED84D468D316B8A1F9D0C11"]
)
def test_uuids(value):
    assert accepts(shapes.UUID, value)


@pytest.mark.parametrize(
    "value", ["", "x", "7e7f7a0c", None, 5, "7e7f7a0c-0ed8-4d46-8d31-6b8a1f9d0c11x"]
)
def test_no_uuids(value):
    assert not accepts(shapes.UUID, value)


def test_nullable_keeps_null_null():
    for shape in (shapes.BOOLEAN, shapes.integer(1), shapes.MOMENT, shapes.choice("a", "b")):
        wide = shapes.nullable(shape)
        assert accepts(wide, None)
        assert not accepts(shape, None)
        assert wide.load is None or wide.load(None) is None


def test_choices_in_any_case_come_out_as_written():
    shape = shapes.choice("NFS", "MapR-FS", any_case=True)
    assert accepts(shape, "nfs")
    assert shape.load("mapr-fs") == "MapR-FS"
    assert not accepts(shape, "nfs4")
    assert not accepts(shape, None)


@pytest.mark.parametrize(
    "pairs", [{"": "v"}, {"k" * 256: "v"}, {"k": ""}, {"k": "v" * 1024}, {"k": 1}, {"k": None}, []]
)
def test_metadata_out_of_bounds(pairs):
    assert not accepts(shapes.METADATA, pairs)


def test_specs_become_texts():
    specs = {"snapshot_support": True, "a:b": "<is> False"}
    assert accepts(shapes.SPECS, specs)
    assert shapes.SPECS.load(specs) == {"snapshot_support": "True", "a:b": "<is> False"}


class TestQueryTexts:
    @pytest.mark.parametrize("text", ["{'k': 'v'}", '{"k": "v"}', "{u'k': u'v'}"])
    def test_literal_dicts(self, text):
        assert shapes.METADATA.parse("metadata", text) == {"k": "v"}

    @pytest.mark.parametrize(
        "text", ["", "k", "{", "{'k'}", "[]", "{'k': 1}", "{1: 'v'}", "open('x')", "{'k': [" * 500]
    )
    def test_no_literal_dicts(self, text):
        with pytest.raises(errors.InvalidInput, match="metadata"):
            shapes.METADATA.parse("metadata", text)

    def test_moments(self):
        moment = dt.datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - moments are UTC without a zone
        for text in ("2026-01-02T03:04:05", "2026-01-02 03:04:05", "2026-01-02T05:04:05+02:00"):
            assert shapes.MOMENT.parse("since", text) == moment

    @pytest.mark.parametrize(
        "text", ["yesterday", "", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
    )
    def test_no_moments(self, text):
        with pytest.raises(errors.InvalidInput, match="since"):
            shapes.MOMENT.parse("since", text)

    def test_a_long_text_is_not_repeated_in_full(self):
        with pytest.raises(errors.InvalidInput) as caught:
            shapes.UUID.parse("id", "x" * 5000)
        assert len(str(caught.value)) < 400


class TestEncoding:
    def test_moments_have_microseconds_and_no_zone(self):
        moment = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone(dt.timedelta(hours=2)))
        assert encoding.dump([moment]) == b'["2026-01-02T01:04:05.000000"]'

    def test_other_collections(self):
        assert encoding.dump({"a": {3, 1, 2}, "b": (1, 2)}) == b'{"a":[1,2,3],"b":[1,2]}'
        with pytest.raises(TypeError):
            encoding.dump(object())

    @pytest.mark.parametrize("data", [b'["a\\u0000"]', b'["\\\\\\u0000"]'])
    def test_null_characters(self, data):
        with pytest.raises(errors.MalformedBody):
            encoding.load(data)

    def test_an_escaped_backslash_is_none(self):
        assert encoding.load(b'["\\\\u0000"]') == ["\\u0000"]
