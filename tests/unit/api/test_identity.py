"""Who asks: tokens of our own, tokens of the identity service, and believed callers."""

from __future__ import annotations

import json
import os

import pytest
import toy
import webob
from keystonemiddleware import auth_token
from oslo_context import context as oslo_context

from fileshare.api import wsgi
from fileshare.api.middleware import keystone, noauth, tokens
from fileshare.api.middleware.identity import CONTEXT, with_implied


def seen(runtime, wrap, **headers):
    """The context that an application behind a middleware gets, and the answer."""
    contexts = []

    def application(environ, start_response):
        contexts.append(environ[CONTEXT])
        return webob.Response()(environ, start_response)

    request = webob.Request.blank("/v2/toys")
    request.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    request.environ["openstack.request_id"] = "req-1"
    answer = request.get_response(wrap(application))
    return (contexts or [None])[0], answer


def is_admin(ctx):
    return "admin" in ctx.roles


def test_implied_roles():
    assert with_implied(["admin"]) == ("admin", "member", "reader")
    assert with_implied(["member"]) == ("member", "reader")
    assert with_implied(["reader", "other"]) == ("reader", "other")


class TestTokens:
    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "state" / "tokens.json"

    @pytest.fixture
    def ask(self, path):
        runtime = toy.make_runtime(auth_strategy="tokens")
        runtime.conf.set_override("tokens_file", str(path), "api")
        return toy.Client(runtime)

    def test_first_start(self, path, ask):
        made = tokens.first_start(path, "a1")
        assert set(made) == {"admin", "user"}
        assert tokens.first_start(path, "a1") == {}
        assert path.stat().st_mode & 0o777 == 0o600
        assert not any(token in path.read_text() for token in made.values())
        assert ask("GET", "/v2/a1/toys", token=made["user"]).status_int == 200
        ask("POST", "/v2/toys", {"toy": {"size": 1}}, token=made["user"])
        shown = {who: ask("GET", "/v2/toys/detail", token=token) for who, token in made.items()}
        assert "host" in shown["admin"].json["toys"][0]
        assert "host" not in shown["user"].json["toys"][0]

    @pytest.mark.parametrize("token", ["", "x", "user:a1", "é"])
    def test_others_are_refused(self, path, ask, token):
        tokens.first_start(path, "a1")
        for url in ("/v2/toys", "/v2/nothing", "/v2/", "/v2"):
            request = webob.Request.blank(url)
            if token:
                request.environ["HTTP_X_AUTH_TOKEN"] = token
            answer = request.get_response(ask.application)
            assert answer.status_int == 401
            assert answer.json["error"]["code"] == 401
            assert answer.json["error"]["title"] == "Unauthorized"
            assert answer.headers["WWW-Authenticate"] == 'Keystone uri="http://localhost:80"'
            assert answer.headers["x-openstack-request-id"]

    def test_a_hash_is_no_token(self, path, ask):
        tokens.first_start(path, "a1")
        (hash, *_) = [entry["hash"] for entry in json.loads(path.read_text())]
        assert ask("GET", "/v2/toys", token=hash).status_int == 401

    def test_a_new_token_is_known_at_once(self, path, ask):
        assert ask("GET", "/v2/toys", token="nobody").status_int == 401
        token = tokens.create(path, "u2", "b2", ["reader"])
        os.utime(path, ns=(1, 1))
        assert ask("GET", "/v2/b2/toys", token=token).status_int == 200
        tokens.write(path, [])
        assert ask("GET", "/v2/toys", token=token).status_int == 401


class TestNoAuth:
    def test_callers(self, runtime):
        def wrap(application):
            return noauth.NoAuth(application, is_admin)

        ctx, _ = seen(runtime, wrap, X_Auth_Token="u:p")
        assert (ctx.user_id, ctx.project_id, ctx.roles) == ("u", "p", ("member", "reader"))
        assert ctx.request_id == "req-1"
        ctx, _ = seen(runtime, wrap, X_Auth_Token="u:p:reader, other")
        assert ctx.roles == ("reader", "other")
        ctx, _ = seen(runtime, wrap, X_Auth_Token="admin:p")
        assert ctx.is_admin
        ctx, _ = seen(runtime, wrap, X_User_Id="u", X_Project_Id="p", X_Roles="admin")
        assert ctx.roles == ("admin", "member", "reader")
        ctx, answer = seen(runtime, wrap)
        assert ctx is None
        assert answer.status_int == 401

    def test_from_elsewhere(self, ask):
        request = webob.Request.blank("/v2/toys", headers={"X-Auth-Token": "u:a1"})
        request.environ["REMOTE_ADDR"] = "192.0.2.1"
        assert request.get_response(ask.application).status_int == 401

    @pytest.mark.parametrize("address", ["::", "0.0.0.0", "192.0.2.1", "cloud.example"])
    def test_it_does_not_listen_to_the_world(self, address):
        runtime = toy.make_runtime(osapi_share_listen=address)
        with pytest.raises(noauth.OpenToTheWorldError, match="loopback"):
            wsgi.build(runtime, [])

    @pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    def test_it_listens_at_home(self, address):
        assert wsgi.build(toy.make_runtime(osapi_share_listen=address), [])


class TestKeystone:
    def test_context(self, runtime):
        ctx, _ = seen(
            runtime,
            lambda application: keystone.ContextFromHeaders(application, is_admin),
            X_User_Id="u",
            X_Project_Id="p",
            X_Roles="admin,member",
            X_User_Domain_Id="ud",
            X_Project_Domain_Id="pd",
            X_Domain_Id="d",
            OpenStack_System_Scope="all",
        )
        assert (ctx.user_id, ctx.project_id, ctx.roles) == ("u", "p", ("admin", "member"))
        assert (ctx.domain_id, ctx.user_domain_id, ctx.project_domain_id) == ("d", "ud", "pd")
        assert ctx.system_scope == "all"
        assert ctx.is_admin

    def test_a_token_without_a_user(self, runtime):
        ctx, answer = seen(
            runtime, lambda application: keystone.ContextFromHeaders(application, is_admin)
        )
        assert ctx is None
        assert answer.status_int == 401

    def test_no_token(self):
        runtime = toy.make_runtime(auth_strategy="keystone")
        for group, options in auth_token.list_opts():
            runtime.conf.register_opts(options, group)
        uri = "http://127.0.0.1:9/identity"
        runtime.conf.set_override("www_authenticate_uri", uri, "keystone_authtoken")
        ask = toy.Client(runtime)
        answer = webob.Request.blank("/v2/toys").get_response(ask.application)
        assert answer.status_int == 401
        assert answer.json["error"]["code"] == 401
        assert answer.headers["WWW-Authenticate"] == f'Keystone uri="{uri}"'
        assert ask("GET", "/", token="").status_int == 300


def test_request_ids(ask):
    one, two = ask("GET", "/v2/toys"), ask("GET", "/v2/toys")
    name = "x-openstack-request-id"
    assert one.headers[name] != two.headers[name]
    assert one.headers.getall(name) == [one.headers[name]]


def test_an_inbound_id_is_the_global_one(runtime):
    inbound = "req-7e7f7a0c-0ed8-4d46-8d31-6b8a1f9d0c11"
    contexts = []
    things = toy.Resource("things", "/things")

    @things.get()
    def index(request):
        contexts.append(request.ctx)

    ask = toy.Client(runtime, wsgi.build(runtime, [things]))
    answer = ask("GET", "/v2/things", X_OpenStack_Request_ID=inbound)
    assert answer.headers["x-openstack-request-id"] == contexts[0].request_id != inbound
    assert contexts[0].global_request_id == inbound
    ask("GET", "/v2/things", X_OpenStack_Request_ID="anything")
    assert contexts[1].global_request_id is None


def test_browsers(runtime):
    assert (
        "Access-Control-Allow-Origin"
        not in toy.Client(runtime)("GET", "/v2/toys", Origin="https://x").headers
    )
    runtime.conf.set_override("allowed_origin", ["https://x"], "cors")
    ask = toy.Client(runtime)
    answer = ask("GET", "/v2/toys", Origin="https://x")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://x"
    exposed = answer.headers["Access-Control-Expose-Headers"]
    assert "X-OpenStack-Manila-API-Version" in exposed
    request = webob.Request.blank("/v2/toys", method="OPTIONS")
    request.headers.update({"Origin": "https://x", "Access-Control-Request-Method": "PUT"})
    assert request.get_response(ask.application).headers["Access-Control-Allow-Methods"] == "PUT"


def test_behind_a_proxy(runtime):
    wsgi.build(runtime, [])
    runtime.conf.set_override("enable_proxy_headers_parsing", True, "oslo_middleware")
    ask = toy.Client(runtime)
    answer = ask("GET", "/", X_Forwarded_Proto="https", X_Forwarded_Host="cloud.example")
    (version,) = answer.json["versions"]
    assert version["links"][1]["href"] == "https://cloud.example/v2/"


def test_records_of_the_log_carry_the_request(ask):
    answer = ask("GET", "/v2/toys", token="someone:a1")
    told = oslo_context.get_current()
    assert told.request_id == answer.headers["x-openstack-request-id"]
    assert (told.user_id, told.project_id) == ("someone", "a1")


@pytest.mark.parametrize(
    "name", ["%0AINFO%20forged", "%0D%1B%5B2K", "%E2%80%A8", "%FF", "a:b,c~", "%25"]
)
def test_a_path_is_logged_as_it_was_sent(ask, caplog, name):
    """What was decoded could be another line of the log, or speak to a terminal."""
    with caplog.at_level("INFO"):
        ask("GET", f"/v2/toys/{name}")
    (line,) = [r.getMessage() for r in caplog.records if r.getMessage().startswith("GET ")]
    assert line.startswith(f"GET /v2/toys/{name} (")


def test_the_log_has_no_token(ask, caplog):
    with caplog.at_level("INFO"):
        ask("GET", "/v2/toys?name=x", token="someone:a1")
    (line,) = [r.getMessage() for r in caplog.records if "/v2/toys" in r.getMessage()]
    assert "GET /v2/toys (toys.index at 2.0) by someone of a1: status 200" in line
    assert "someone:a1" not in caplog.text
