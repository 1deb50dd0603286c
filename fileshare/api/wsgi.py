"""The WSGI application: what a request passes on its way, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import webob
from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

from fileshare.api import faults
from fileshare.api.app import EXPERIMENTAL_HEADER, VERSION_HEADER, Application
from fileshare.api.middleware import keystone, noauth, tokens
from fileshare.api.middleware.identity import WSGI, Environ, IsAdmin, StartResponse
from fileshare.api.middleware.requestid import RequestId
from fileshare.api.middleware.requestlog import RequestLog
from fileshare.api.middleware.sizelimit import SizeLimit
from fileshare.api.resource import Resource
from fileshare.api.resources import all_resources, versions

_TOKENS = ["X-Auth-Token", "X-OpenStack-Request-ID"]
_OURS = [VERSION_HEADER, EXPERIMENTAL_HEADER]
_MORE = ["X-Subject-Token", "X-Service-Token"]
_IDENTITY = ["X-Identity-Status", "X-Roles", "X-Service-Catalog", "X-User-Id", "X-Tenant-Id"]
_DISABLE_FILE = "/etc/fileshare/healthcheck_disable"

Wrap = Callable[[WSGI], WSGI]


def build(runtime: Any, resources: Iterable[Resource] | None = None) -> WSGI:
    """The whole application, for one runtime; raises OpenToTheWorldError as ``noauth`` says."""
    conf = runtime.conf
    versioned = Application(runtime, all_resources() if resources is None else resources)
    below: list[Wrap] = [
        # Too long a body is refused before anything looks at it.
        lambda app: SizeLimit(app, conf),
        # Who asks; from here on there is a context.
        lambda app: _authentication(app, conf, versioned.enforcer.is_admin),
    ]
    before: list[Wrap] = [
        # Browsers ask with OPTIONS first, and without a token.
        lambda app: _cross_origin(app, conf),
        # Scheme, host and address as the client saw them, for links and logs.
        lambda app: _behind_proxy(app, conf),
        # The id that stands in the answer and in each line of the log.
        RequestId,
        RequestLog,
    ]
    root = Root(runtime, _through(below, versioned))
    return Health(conf, _through(before, root))


def application(runtime: Any) -> WSGI:
    """The same, under the name that WSGI servers look for."""
    return build(runtime)


def _through(wraps: list[Wrap], app: WSGI) -> WSGI:
    for wrap in reversed(wraps):
        app = wrap(app)
    return app


def _authentication(app: WSGI, conf: cfg.ConfigOpts, is_admin: IsAdmin) -> WSGI:
    if conf.auth_strategy == "keystone":
        return keystone.wrap(app, conf, is_admin)
    if conf.auth_strategy == "tokens":
        return tokens.Tokens(app, conf, is_admin)
    noauth.refuse_outside_loopback(conf)
    return noauth.NoAuth(app, is_admin)


def _cross_origin(app: WSGI, conf: cfg.ConfigOpts) -> WSGI:
    conf.register_opts(cors.CORS_OPTS, "cors")
    conf.set_default("allow_headers", [*_TOKENS, *_OURS, *_IDENTITY], "cors")
    conf.set_default("expose_headers", [*_TOKENS, *_OURS, *_MORE], "cors")
    conf.set_default("allow_methods", ["GET", "PUT", "POST", "DELETE", "PATCH"], "cors")
    allowed = cast("WSGI", cors.CORS(app, conf))
    return allowed if conf.cors.allowed_origin else app


def _behind_proxy(app: WSGI, conf: cfg.ConfigOpts) -> WSGI:
    aware = cast("WSGI", http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf))
    return aware if conf.oslo_middleware.enable_proxy_headers_parsing else app


class Health:
    """``/healthcheck``, which needs neither a token nor a request id; all else goes on."""

    def __init__(self, conf: cfg.ConfigOpts, application: WSGI) -> None:
        conf.register_opts(healthcheck.opts.HEALTHCHECK_OPTS, "healthcheck")
        conf.register_opts(healthcheck.opts.DISABLE_BY_FILE_OPTS, "healthcheck")
        conf.set_default("backends", ["disable_by_file"], "healthcheck")
        conf.set_default("disable_by_file_path", _DISABLE_FILE, "healthcheck")
        self.check = cast("WSGI", healthcheck.Healthcheck(None, conf))
        self.application = application

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        healthy = environ.get("PATH_INFO") == "/healthcheck"
        return (self.check if healthy else self.application)(environ, start_response)


class Root:
    """The list of versions at ``/``; below ``/v2`` the versioned application."""

    def __init__(self, runtime: Any, versioned: WSGI) -> None:
        self.runtime, self.versioned = runtime, versioned

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/v2" or path.startswith("/v2/"):
            environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + "/v2"
            environ["PATH_INFO"] = path[3:]
            return self.versioned(environ, start_response)
        return self._answer(webob.Request(environ), path)(environ, start_response)

    def _answer(self, http: webob.Request, path: str) -> webob.Response:
        if path == "":
            return faults.moved(http.application_url + "/")
        if path != "/":
            return faults.unrouted()
        return versions.choices(http.application_url, self.runtime.conf.osapi_share_base_URL)
