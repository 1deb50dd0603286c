"""The way of a request: routes, versions, actions, errors, headers."""

from __future__ import annotations

import logging

import pytest
import toy
from toy import UUID_1

VERSION = "X-OpenStack-Manila-API-Version"
EXPERIMENTAL = {"X_OpenStack_Manila_API_Experimental": "true"}


@pytest.fixture
def made(ask):
    assert ask("POST", "/v2/toys", {"toy": {"size": 1, "name": "bear"}}).status_int == 200
    return f"/v2/toys/{UUID_1}"


def fault(answer, status, name):
    assert answer.status_int == status, answer.body
    assert list(answer.json) == [name]
    assert answer.json[name]["code"] == status
    assert answer.content_type == "application/json"
    return answer.json[name]["message"]


class TestVersions:
    @pytest.mark.parametrize(("asked", "used"), [(None, "2.0"), ("2.0", "2.0"), ("2.99", "2.99")])
    def test_served(self, ask, asked, used):
        answer = ask("GET", "/v2/toys", version=asked)
        assert answer.status_int == 200
        assert answer.headers[VERSION] == used
        assert answer.headers["Vary"] == VERSION
        assert answer.headers["x-compute-request-id"] == answer.headers["x-openstack-request-id"]

    @pytest.mark.parametrize("asked", ["1.0", "2.100", "3.0"])
    def test_outside(self, ask, asked):
        answer = ask("GET", "/v2/toys", version=asked)
        assert asked in fault(answer, 406, "computeFault")
        assert answer.headers[VERSION] == asked

    @pytest.mark.parametrize("asked", ["abc", "2.1.3", "latest", "02.1", "2.01", "2", " ", "²．1"])
    def test_malformed(self, ask, asked):
        answer = ask("GET", "/v2/toys", version=asked)
        fault(answer, 400, "badRequest")
        assert VERSION not in answer.headers
        assert "Vary" not in answer.headers
        assert "x-compute-request-id" in answer.headers

    def test_other_header_is_not_heard(self, ask):
        assert ask("GET", "/v2/toys", OpenStack_API_Version="x").headers[VERSION] == "2.0"


class TestRoutes:
    @pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PATCH", "TRACE", "FOO"])
    def test_other_methods_are_unrouted(self, ask, method):
        answer = ask(method, "/v2/toys")
        assert answer.status_int == 404
        assert VERSION not in answer.headers
        assert "x-compute-request-id" not in answer.headers

    @pytest.mark.parametrize(
        "path",
        ["/v2/toys/", "/v2/nothing", "/v2/toys/x/y/z", "/v2/abc", "/v2/toys/a%00b", "/v2//"],
    )
    def test_unrouted(self, ask, path):
        answer = ask("GET", path)
        assert answer.status_int == 404
        assert (answer.json["code"], answer.json["title"]) == ("404 Not Found", "Not Found")

    def test_path_that_is_no_text(self, ask):
        assert ask("GET", "/v2/toys/%ff").status_int == 404

    def test_the_form_of_unrouted_follows_accept(self, ask):
        kinds = {
            "application/json": "application/json",
            "text/plain": "text/plain",
            "image/png": "text/plain",
            "text/html": "text/html",
            "*/*": "text/html",
        }
        for accept, kind in kinds.items():
            assert ask("GET", "/v2/nothing", Accept=accept).content_type == kind

    def test_doubled_slash_in_front(self, ask):
        assert ask("GET", "/v2//toys").status_int == 200

    def test_suffix(self, ask, made):
        for path in ("/v2/toys.json", "/v2/toys/detail.xml", f"{made}.json", "/v2/a1/toys.json"):
            assert ask("GET", path).content_type == "application/json"
            assert ask("GET", path).status_int == 200

    def test_a_suffix_belongs_to_a_metadata_key(self, ask, made):
        answer = ask("PUT", f"{made}/metadata/x.json", {"x.json": "1"})
        assert answer.json == {"x.json": "1"}

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("POST", "/v2/shelves", 404),
            ("DELETE", "/v2/shelves/1", 404),
            ("GET", "/v2/shelves/1", 404),
            ("GET", "/v2/toys/1/edit", 404),
            ("PUT", "/v2/toys/1", 404),
            ("PUT", "/v2/os-shelves", 404),
        ],
    )
    def test_what_collections_route_and_do_not_serve(self, ask, method, path, status):
        answer = ask(method, path, version="2.99")
        if path == "/v2/os-shelves":
            assert "title" in answer.json
        else:
            fault(answer, status, "itemNotFound")
            assert answer.headers[VERSION] == "2.99"

    def test_a_collection_with_actions_asks_for_one(self, runtime):
        bare = toy.Resource("cups", "/cups")
        fill = bare.action("fill", body=toy.Body(toy.ACTION, anything=True))
        fill(lambda request, **variables: None)
        ask = toy.Client(runtime, toy.wsgi.build(runtime, [bare]))
        assert "create" in fault(ask("POST", "/v2/cups"), 400, "badRequest")
        assert "delete" in fault(ask("DELETE", "/v2/cups/1"), 400, "badRequest")
        fault(ask("GET", "/v2/cups/1"), 404, "itemNotFound")


class TestLegacyPaths:
    def test_two_paths_one_handler(self, ask):
        query = f"?id={UUID_1}"
        assert ask("GET", f"/v2/os-shelves{query}", version="2.6").status_int == 200
        assert ask("GET", f"/v2/shelves{query}", version="2.7").status_int == 200
        fault(ask("GET", f"/v2/os-shelves{query}", version="2.7"), 404, "itemNotFound")
        fault(ask("GET", f"/v2/shelves{query}", version="2.6"), 404, "itemNotFound")


class TestProjectIds:
    def test_links_echo_it(self, ask, made):
        for prefix in ("/v2", "/v2/a1"):
            answer = ask("GET", f"{prefix}/toys/{UUID_1}")
            links = {link["rel"]: link["href"] for link in answer.json["toy"]["links"]}
            assert links["self"] == f"http://localhost{prefix}/toys/{UUID_1}"
            bookmark = prefix.replace("/v2", "")
            assert links["bookmark"] == f"http://localhost{bookmark}/toys/{UUID_1}"

    def test_another_project(self, ask):
        for token in ("u1:a1", "admin:a1", "u1"):
            answer = ask("GET", "/v2/abcd/toys", token=token)
            assert fault(answer, 400, "badRequest") == "Malformed request url"

    def test_only_plain_paths_look_at_its_form(self, ask):
        assert "title" in ask("GET", "/v2/not-hex/toys").json
        answer = ask("POST", "/v2/not-hex/toys/x/metadata", {"metadata": {}})
        fault(answer, 400, "badRequest")

    def test_public_url(self):
        runtime = toy.make_runtime(osapi_share_base_URL="https://cloud.example/shares")
        ask = toy.Client(runtime)
        ask("POST", "/v2/toys", {"toy": {"size": 1}})
        (row,) = ask("GET", "/v2/toys?limit=1").json["toys"]
        assert row["links"][0]["href"] == f"https://cloud.example/shares/v2/toys/{UUID_1}"
        assert row["links"][1]["href"] == f"https://cloud.example/shares/toys/{UUID_1}"
        (following,) = ask("GET", "/v2/toys?limit=1").json["toys_links"]
        assert following["href"].startswith("https://cloud.example/shares/v2/toys?limit=1&marker=")
        (version,) = ask("GET", "/").json["versions"]
        assert version["links"][1]["href"] == "https://cloud.example/shares/v2/"


class TestExperiments:
    def test_without_the_header_it_is_absent(self, ask):
        fault(ask("GET", "/v2/lab", version="2.20"), 404, "itemNotFound")
        fault(ask("GET", "/v2/lab", version="2.10", **EXPERIMENTAL), 404, "itemNotFound")

    @pytest.mark.parametrize("text", ["true", "True", "1", "yes", "t", "on"])
    def test_with_it(self, ask, text):
        answer = ask("GET", "/v2/lab", version="2.20", X_OpenStack_Manila_API_Experimental=text)
        assert answer.json == {"lab": []}
        assert answer.headers["X-OpenStack-Manila-API-Experimental"] == "True"

    def test_what_cannot_be_read_is_false(self, ask):
        answer = ask("GET", "/v2/lab", version="2.20", X_OpenStack_Manila_API_Experimental="maybe")
        assert answer.status_int == 404
        assert "X-OpenStack-Manila-API-Experimental" not in answer.headers

    def test_it_ends(self, ask):
        assert ask("GET", "/v2/lab", version="2.56").status_int == 200
        answer = ask("GET", "/v2/lab", version="2.56", **EXPERIMENTAL)
        assert answer.headers["X-OpenStack-Manila-API-Experimental"] == "True"


class TestActions:
    def test_both_spellings(self, ask, made, runtime):
        for version, name in (("2.6", "os-extend"), ("2.7", "extend")):
            answer = ask("POST", f"{made}/action", {name: {"new_size": 5}}, version=version)
            assert answer.status_int == 202
            assert answer.body == b""
            assert answer.content_type == "application/json"
        for version, name in (("2.7", "os-extend"), ("2.6", "extend")):
            answer = ask("POST", f"{made}/action", {name: {"new_size": 5}}, version=version)
            fault(answer, 404, "itemNotFound")
        assert runtime.toys[UUID_1].size == 5

    def test_arguments_by_version(self, ask, made, runtime):
        body = {"extend": {"new_size": "7", "force": "true"}}
        ask("POST", f"{made}/action", body, version="2.63")
        assert runtime.asked == {"new_size": 7, "force": False}
        ask("POST", f"{made}/action", body, version="2.64")
        assert runtime.asked == {"new_size": 7, "force": True}

    def test_unknown_or_none(self, ask, made):
        answer = ask("POST", f"{made}/action", {"explode": None})
        assert "explode" in fault(answer, 400, "badRequest")
        fault(ask("POST", f"{made}/action"), 400, "badRequest")

    @pytest.mark.parametrize("body", [{"extend": {}, "os-extend": {}}, {}, [], "extend", 3])
    def test_not_one_key(self, ask, made, body):
        fault(ask("POST", f"{made}/action", body), 400, "badRequest")

    def test_ended(self, ask, made):
        assert ask("POST", f"{made}/action", {"gone": None}, version="2.40").status_int == 202
        answer = ask("POST", f"{made}/action", {"gone": None}, version="2.41")
        fault(answer, 404, "itemNotFound")

    def test_value_in_place_of_an_object(self, ask, made, runtime):
        ask("POST", f"{made}/action", {"restore": None}, version="2.90")
        assert runtime.asked == {"target": None}
        answer = ask("POST", f"{made}/action", {"restore": UUID_1}, version="2.90")
        fault(answer, 400, "badRequest")
        ask("POST", f"{made}/action", {"restore": UUID_1}, version="2.91")
        assert runtime.asked == {"target": UUID_1}

    def test_any_value(self, ask, made):
        for value in (None, {}, {"a": 1}, [1], "x"):
            answer = ask("POST", f"{made}/action", {"break_it": value}, token="admin:a1")
            assert answer.json == {"broken": True}

    def test_remapped_status(self, ask, made, runtime):
        runtime.toys[UUID_1].status = "error"
        answer = ask("POST", f"{made}/action", {"os-extend": {"new_size": 9}})
        fault(answer, 400, "badRequest")


class TestBodies:
    def test_no_json_no_body(self, ask):
        for body, kind in ((None, None), (b'{"toy": {"size": 1}}', "text/plain")):
            headers = {"Content_Type": kind} if kind else {}
            answer = ask("POST", "/v2/toys", body, **headers)
            if kind:
                answer = with_type(ask, body, kind)
            fault(answer, 400, "badRequest")

    @pytest.mark.parametrize("body", [b"{", b"", b'{"toy": NaN}', b'"\\ud800"', b'["a\\u0000"]'])
    def test_broken(self, ask, body):
        fault(ask("POST", "/v2/toys", body), 400, "badRequest")

    def test_broken_where_none_is_needed(self, ask, made):
        fault(ask("DELETE", made, b"{"), 400, "badRequest")

    @pytest.mark.parametrize("body", [{}, {"share": {}}, {"toy": None}, {"toy": []}, [], "toy"])
    def test_wrapper(self, ask, body):
        fault(ask("POST", "/v2/toys", body), 422, "computeFault")
        fault(ask("POST", f"/v2/toys/{UUID_1}/metadata", body), 400, "badRequest")

    def test_older_wrapper(self, ask):
        assert ask("POST", "/v2/toys", {"old_toy": {"size": 1}}).json["toy"]["size"] == 1
        shown = ask("GET", f"/v2/toys/{UUID_1}").json
        assert shown["old_toy"] == shown["toy"]

    def test_too_long(self, ask):
        answer = ask("POST", "/v2/toys", b" " * 114689)
        assert answer.status_int == 413
        assert "max_request_body_size (114688)" in answer.json["message"]
        assert answer.json["title"] == "Request Entity Too Large"
        assert VERSION not in answer.headers
        assert ask("POST", "/v2/toys", b" " * 114688).status_int == 400

    def test_too_long_without_a_length(self, runtime):
        ask = toy.Client(runtime)
        request = toy.webob.Request.blank("/v2/toys", method="POST", accept="application/json")
        request.headers.update({"X-Auth-Token": "u1:a1", "Transfer-Encoding": "chunked"})
        request.body = b" " * 114689
        request.content_type = "application/json"
        request.content_length = None
        request.environ["wsgi.input_terminated"] = True
        assert request.get_response(ask.application).status_int == 413


def with_type(ask, body, kind):
    request = toy.webob.Request.blank("/v2/toys", method="POST", body=body, content_type=kind)
    request.headers["X-Auth-Token"] = ask.token
    return request.get_response(ask.application)


class TestErrors:
    def test_not_found_names_its_class(self, ask):
        answer = ask("GET", "/v2/toys/absent")
        assert fault(answer, 404, "itemNotFound") == "NotFound: Toy absent could not be found."

    def test_quota(self, ask):
        answer = ask("POST", "/v2/toys/quota")
        assert "exceed" in fault(answer, 413, "overLimit")
        assert answer.json["overLimit"]["retryAfter"] == "0"
        assert answer.headers["Retry-After"] == "0"

    def test_unforeseen(self, ask, caplog):
        with caplog.at_level(logging.ERROR):
            answer = ask("POST", "/v2/toys/crash")
        assert "secret" not in fault(answer, 500, "computeFault")
        assert answer.headers["x-compute-request-id"].startswith("req-")
        assert "a secret detail" in caplog.text

    def test_an_answer_that_breaks_its_schema(self, ask, made, runtime):
        runtime.toys[UUID_1].size = "large"
        fault(ask("GET", made), 500, "computeFault")
        runtime.conf.set_override("response_validation", "warn", "api")
        assert toy.Client(runtime)("GET", made).json["toy"]["size"] == "large"


class TestPolicies:
    def test_main_rule(self, ask, made):
        answer = ask("POST", f"{made}/action", {"break_it": None}, token="u1:a1:member")
        assert fault(answer, 403, "forbidden") == "Access was denied to this resource."

    def test_reader_may_look_only(self, ask, made):
        assert ask("GET", made, token="u1:a1:reader").status_int == 200
        answer = ask("POST", "/v2/toys", {"toy": {"size": 1}}, token="u1:a1:reader")
        fault(answer, 403, "forbidden")

    def test_hidden_is_as_absent(self, ask, made):
        hidden = ask("GET", made, token="u2:b2")
        absent = ask("GET", "/v2/toys/absent", token="u2:b2")
        assert hidden.status_int == absent.status_int == 404
        assert (
            hidden.json["itemNotFound"]["message"].replace(UUID_1, "absent")
            == (absent.json["itemNotFound"]["message"])
        )

    def test_gated_fields(self, ask, made):
        assert "host" not in ask("GET", made).json["toy"]
        assert ask("GET", made, token="admin:a1").json["toy"]["host"] == "h@b#p"

    def test_gated_body_field(self, ask):
        body = {"toy": {"size": 1, "is_public": True}}
        assert "toy:publish" in fault(ask("POST", "/v2/toys", body), 403, "forbidden")
        assert ask("POST", "/v2/toys", body, token="admin:a1").status_int == 200
        body["toy"]["is_public"] = False
        assert ask("POST", "/v2/toys", body).status_int == 200


class TestLists:
    @pytest.fixture(autouse=True)
    def rows(self, runtime):
        for number in range(3):
            runtime.toys[f"t{number}"] = toy.Toy(f"t{number}", display_name=f"toy {number}")

    def test_next_link(self, ask):
        answer = ask("GET", "/v2/toys?limit=2&name=x&marker=old")
        assert [row["id"] for row in answer.json["toys"]] == ["t0", "t1"]
        href = "http://localhost/v2/toys?limit=2&name=x&marker=t1"
        assert answer.json["toys_links"] == [{"rel": "next", "href": href}]

    @pytest.mark.parametrize(
        "query", ["", "?limit=2&offset=2", "?limit=5", "?limit=0", "?offset=1"]
    )
    def test_no_next_link(self, ask, query):
        assert "toys_links" not in ask("GET", f"/v2/toys{query}").json

    def test_no_page_is_longer_than_the_limit(self, runtime):
        runtime.conf.set_override("osapi_max_limit", 2)
        answer = toy.Client(runtime)("GET", "/v2/toys?limit=3")
        assert len(answer.json["toys"]) == 2
        assert "toys_links" not in answer.json

    def test_count(self, ask):
        assert ask("GET", "/v2/toys?with_count=true&limit=1", version="2.42").json["count"] == 3
        assert "count" not in ask("GET", "/v2/toys?with_count=true", version="2.41").json
        assert "count" not in ask("GET", "/v2/toys", version="2.42").json

    @pytest.mark.parametrize(
        "query",
        [
            "limit=-1",
            "limit=x",
            "limit=1.5",
            "limit=99999999999999999999",
            "offset=-1",
            "metadata=x",
            "metadata=[1]",
            "metadata={1:2}",
            "metadata=__import__('os')",
            "with_count=perhaps",
            "sort_dir=up",
            "name=%ff",
            "name=%00",
        ],
    )
    def test_bad_values(self, ask, query):
        message = fault(ask("GET", f"/v2/toys?{query}", version="2.99"), 400, "badRequest")
        assert query.partition("=")[0] in message or "query" in message

    def test_what_the_handler_hears(self, ask, runtime):
        query = "name=a&metadata={'k':'v'}&all_tenants=1&project_id=x&nonsense=1&name~=b&host="
        ask("GET", f"/v2/toys?{query}", version="2.35")
        assert runtime.asked == {"display_name": "a", "metadata": {"k": "v"}, "host": ""}
        ask("GET", f"/v2/toys?{query}h", version="2.36", token="admin:a1")
        assert runtime.asked == {
            "display_name": "a",
            "metadata": {"k": "v"},
            "all_tenants": True,
            "project_id": "x",
            "name~": "b",
            "host": "h",
        }

    def test_a_filter_for_others(self, ask):
        assert "toy:list_by_host" in fault(ask("GET", "/v2/toys?host=h"), 403, "forbidden")

    def test_strict_query(self, ask):
        for query in ("", f"?id={UUID_1}&other=1", f"?id={UUID_1}&id={UUID_1}", "?id=x"):
            fault(ask("GET", f"/v2/os-shelves{query}"), 400, "badRequest")
