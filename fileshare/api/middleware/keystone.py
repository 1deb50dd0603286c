"""Callers with a token of the identity service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import webob.exc
from keystonemiddleware import auth_token
from oslo_config import cfg

from fileshare.api.middleware.identity import WSGI, Environ, IsAdmin, StartResponse, install


class ContextFromHeaders:
    """The context of what keystonemiddleware has found in the token."""

    def __init__(self, application: WSGI, is_admin: IsAdmin) -> None:
        self.application, self.is_admin = application, is_admin

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        user = environ.get("HTTP_X_USER_ID") or environ.get("HTTP_X_USER")
        if not user:
            return webob.exc.HTTPUnauthorized()(environ, start_response)
        roles = (role.strip() for role in environ.get("HTTP_X_ROLES", "").split(","))
        install(
            environ,
            self.is_admin,
            user_id=user,
            project_id=environ.get("HTTP_X_PROJECT_ID") or environ.get("HTTP_X_TENANT_ID"),
            roles=tuple(role for role in roles if role),
            domain_id=environ.get("HTTP_X_DOMAIN_ID"),
            user_domain_id=environ.get("HTTP_X_USER_DOMAIN_ID"),
            project_domain_id=environ.get("HTTP_X_PROJECT_DOMAIN_ID"),
            system_scope=environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE"),
        )
        return self.application(environ, start_response)


def wrap(application: WSGI, conf: cfg.ConfigOpts, is_admin: IsAdmin) -> WSGI:
    """Check tokens before, and make the context of them."""
    inner = ContextFromHeaders(application, is_admin)
    options: dict[str, Any] = {
        "oslo_config_config": conf,
        # Nothing here asks where other services are; the catalogue of a cloud is long.
        "include_service_catalog": False,
    }
    return cast("WSGI", auth_token.AuthProtocol(inner, options))
