"""Tables of fields: what each version sees of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from toy import DETAIL, NEW, UUID_1, Toy

from fileshare import errors
from fileshare.api.fields import ACTION, FREE, Body, Field, Query, View
from fileshare.api.microversions import VERSIONS, span
from fileshare.api.shapes import BOOLEAN, INTEGER, TEXT, UUID, choice


class Caller:
    """What tables ask of a request."""

    def __init__(self, version="2.99", admin=False, rules=()):
        self.version, self.is_admin, self.rules = VERSIONS[version], admin, rules

    def allowed(self, rule):
        return (rule if isinstance(rule, str) else rule.name) in self.rules

    def authorize(self, rule):
        if not self.allowed(rule):
            raise errors.Forbidden(rule=rule)

    def links(self, collection, id):
        return [f"{collection}/{id}"]


def read(body, payload, version="2.99", caller=None, action=None):
    caller = caller or Caller(version)
    return body.read(payload, VERSIONS[version], caller, action)


class TestBodies:
    def test_only_what_is_given_arrives_and_defaults(self):
        assert read(NEW, {"toy": {"size": 1}}) == {"size": 1, "proto": "NFS", "is_public": False}

    def test_an_alias_gives_way(self):
        both = {"toy": {"size": 1, "display_name": "old", "name": "new"}}
        assert read(NEW, both)["name"] == "new"
        del both["toy"]["name"]
        assert read(NEW, both)["name"] == "old"

    def test_too_new_fields(self):
        given = {"toy": {"size": 1, "group_id": UUID_1}}
        assert "group_id" not in read(NEW, given, "2.30")
        assert read(NEW, given, "2.31")["group_id"] == UUID_1
        given["toy"]["mount_point_name"] = "m"
        with pytest.raises(errors.InvalidInput, match=r"mount_point_name.*microversion"):
            read(NEW, given, "2.83")
        assert read(NEW, given, "2.84")["mount_point_name"] == "m"

    @pytest.mark.parametrize(
        ("given", "named"),
        [
            ({}, "size"),
            ({"size": 0}, "size"),
            ({"size": "large"}, "size"),
            ({"size": "0"}, "size"),
            ({"size": 1, "name": "x" * 256}, "name"),
            ({"size": 1, "name": []}, "name"),
            ({"size": 1, "proto": "ftp"}, "proto"),
            ({"size": 1, "metadata": {"k": 1}}, "metadata.k"),
            ({"size": 1, "is_public": "perhaps"}, "is_public"),
        ],
    )
    def test_errors_name_the_field(self, given, named):
        with pytest.raises(errors.InvalidInput, match=f"field {named}: "):
            read(NEW, {"toy": given})

    def test_a_missing_field_may_have_a_status_of_its_own(self):
        body = Body("x", (Field("a", INTEGER, required=True),), required_status=422)
        with pytest.raises(errors.UnprocessableBody, match="field a"):
            read(body, {"x": {}})
        with pytest.raises(errors.InvalidInput):
            read(body, {"x": {"a": "b"}})

    def test_gated_fields_matter_when_true(self):
        given = {"toy": {"size": 1, "is_public": True}}
        with pytest.raises(errors.Forbidden):
            read(NEW, given)
        assert read(NEW, given, caller=Caller(rules=["toy:publish"]))["is_public"] is True

    def test_unknown_keys(self):
        field = Field("a", INTEGER)
        assert read(Body("x", (field,)), {"x": {"a": 1, "b": 2}}) == {"a": 1}
        assert read(Body("x", (field,), unknown="keep"), {"x": {"a": 1, "b": 2}}) == {
            "a": 1,
            "b": 2,
        }
        with pytest.raises(errors.InvalidInput, match="b"):
            read(Body("x", (field,), unknown="reject"), {"x": {"a": 1, "b": 2}})

    def test_bare_bodies(self):
        body = Body(None, (Field("a", INTEGER, required=True),))
        assert read(body, {"a": 1}) == {"a": 1}
        for payload in (None, [], "a", {}):
            with pytest.raises((errors.InvalidInput, errors.MalformedBody)):
                read(body, payload)

    def test_free_keys(self):
        body = Body("metadata", (Field(FREE, TEXT, to="metadata"),))
        assert read(body, {"metadata": {"a": "1", "b": "2"}}) == {"metadata": {"a": "1", "b": "2"}}
        assert read(body, {"metadata": {}}) == {"metadata": {}}
        for bad in ({"a": 1}, {"": "x"}, {"k" * 256: "x"}):
            with pytest.raises(errors.InvalidInput):
                read(body, {"metadata": bad})

    def test_one_key_of_the_path(self):
        body = Body(None, (Field("{key}", BOOLEAN),))
        assert read(body, {"a": "yes"}) == {"values": {"a": True}}
        for bad in ({}, {"a": 1, "b": 1}):
            with pytest.raises(errors.InvalidInput):
                read(body, bad)

    def test_actions(self):
        nothing = Body(ACTION, nullable=True)
        assert read(nothing, {"go": None}, action="go") == {}
        with pytest.raises(errors.InvalidInput, match="go"):
            read(nothing, {"go": {"a": 1}}, action="go")
        some = Body(ACTION, (Field("a", INTEGER, default=3),), nullable=True)
        assert read(some, {"go": None}, action="go") == {"a": 3}
        assert read(some, {"go": {}}, action="go") == {"a": 3}

    def test_schemas_are_made_once_for_each_version(self):
        assert NEW.validator(VERSIONS["2.50"]) is NEW.validator(VERSIONS["2.50"])
        assert NEW.schema(VERSIONS["2.30"]) != NEW.schema(VERSIONS["2.31"])


class TestQueries:
    def test_a_bad_value_that_nobody_hears_is_no_error(self):
        query = Query((Field("host", INTEGER, admin=True),))
        assert query.read([("host", "x")], Caller()) == {}
        with pytest.raises(errors.InvalidInput):
            query.read([("host", "x")], Caller(admin=True))

    def test_too_new(self):
        ignored = Query((Field("a", TEXT, span=span("2.50")),), unknown="keep")
        assert ignored.read([("a", "1"), ("b", "2")], Caller("2.49")) == {"b": "2"}
        refused = Query((Field("a", TEXT, span=span("2.50"), before="reject"),))
        with pytest.raises(errors.InvalidInput, match="a"):
            refused.read([("a", "1")], Caller("2.49"))
        assert refused.read([("a", "1")], Caller("2.50")) == {"a": "1"}

    def test_the_last_of_repeated_ones_counts(self):
        query = Query((Field("a", INTEGER),))
        assert query.read([("a", "1"), ("a", "2")], Caller()) == {"a": 2}

    def test_defaults(self):
        query = Query((Field("sort", choice("a", "b"), default="a"),))
        assert query.read([], Caller()) == {"sort": "a"}


class TestViews:
    def test_versions(self):
        row = Toy(UUID_1, status="creating_from_snapshot")
        seen = {v: shown(DETAIL, row, v) for v in ("2.5", "2.6", "2.53", "2.54")}
        assert (seen["2.5"]["share_type"], seen["2.6"]["share_type"]) == ("gold", UUID_1)
        assert seen["2.53"]["status"] == "creating"
        assert seen["2.54"]["status"] == "creating_from_snapshot"

    def test_left_out(self):
        assert "secret" not in shown(DETAIL, Toy(UUID_1))
        assert shown(DETAIL, Toy(UUID_1, secret="s"))["secret"] == "s"

    def test_admins_and_gates(self):
        view = View(
            (Field("a", TEXT), Field("b", TEXT, admin=True), Field("c", TEXT, policy="see"))
        )
        row = SimpleNamespace(a="1", b="2", c="3")
        for caller, names in (
            (Caller(), {"a"}),
            (Caller(admin=True), {"a", "b"}),
            (Caller(rules=["see"]), {"a", "c"}),
            (Caller(admin=True, rules=["see"]), {"a", "b", "c"}),
        ):
            assert set(view.renderer(caller)(row, caller)) == names

    def test_dotted_sources(self):
        view = View((Field("host", TEXT, source="instance.host"),))
        row = SimpleNamespace(instance=SimpleNamespace(host="h"))
        assert view.renderer(Caller())(row, None) == {"host": "h"}

    def test_mappings_leave_out_what_they_lack(self):
        view = View((Field("a", TEXT), Field("b", UUID, source="x")), mapping=True)
        assert view.renderer(Caller())({"a": 1}, None) == {"a": 1}
        assert view.renderer(Caller())({"a": 1, "x": 2}, None) == {"a": 1, "b": 2}

    def test_free_keys(self):
        view = View((Field(FREE, TEXT),))
        assert view.renderer(Caller())({"k": "v"}, None) == {"k": "v"}
        assert view.schema(VERSIONS["2.0"])["additionalProperties"] == {"type": "string"}

    def test_renderers_are_made_once(self):
        assert DETAIL.renderer(Caller()) is DETAIL.renderer(Caller())
        assert DETAIL.renderer(Caller()) is not DETAIL.renderer(Caller("2.0"))

    def test_a_missing_attribute_is_loud(self):
        with pytest.raises(AttributeError):
            shown(DETAIL, SimpleNamespace(id="x"))


def shown(view, row, version="2.99"):
    caller = Caller(version)
    return view.renderer(caller)(row, caller)
