from __future__ import annotations


def test_the_root_lists_versions_without_a_token(ask):
    answer = ask("GET", "/", token="")
    assert answer.status_int == ask("HEAD", "/").status_int == 300
    (version,) = answer.json["versions"]
    assert (version["id"], version["status"]) == ("v2.0", "CURRENT")
    assert (version["min_version"], version["version"]) == ("2.0", "2.99")
    assert version["links"][1] == {"rel": "self", "href": "http://localhost/v2/"}
    assert "X-OpenStack-Manila-API-Version" not in answer.headers
    assert "Vary" not in answer.headers


def test_below_v2_the_same_list_has_a_microversion(ask):
    for method in ("GET", "POST", "DELETE"):
        answer = ask(method, "/v2/", version="2.50")
        assert answer.status_int == 200
        assert [entry["id"] for entry in answer.json["versions"]] == ["v2.0"]
        assert answer.headers["X-OpenStack-Manila-API-Version"] == "2.50"
        assert "X-OpenStack-Manila-API-Version" in answer.headers["Vary"]


def test_v2_without_a_slash_moves_once_the_token_is_known(ask):
    assert ask("GET", "/v2").status_int == 302
    assert ask("GET", "/v2").headers["Location"] == "http://localhost/v2/"
    assert ask("GET", "/v2", token=":").status_int == 401


def test_other_versions_are_gone(ask):
    for path in ("/v1", "/v1/", "/v3/", "/nothing", "/v2x"):
        answer = ask("GET", path)
        assert answer.status_int == 404
        assert answer.json["title"] == "Not Found"


def test_health_needs_no_token(ask):
    answer = ask("GET", "/healthcheck", token="")
    assert answer.status_int == 200
    assert answer.json == {"detailed": False, "reasons": ["OK"]}
    assert "x-openstack-request-id" not in answer.headers


def test_there_are_no_extensions(ask):
    assert ask("GET", "/v2/extensions").json == {"extensions": []}
    assert ask("GET", "/v2/extensions/x").status_int == 404
    for method, path in (("POST", "/v2/extensions"), ("DELETE", "/v2/extensions/x")):
        answer = ask(method, path)
        assert answer.status_int == 404
        assert list(answer.json) == ["itemNotFound"]
    assert ask("POST", "/v2/extensions", {"a": 1}).status_int == 400
