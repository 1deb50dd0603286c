"""Callers who are believed: for tests, on loopback addresses only."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from oslo_config import cfg

from fileshare.api import faults
from fileshare.api.middleware.identity import (
    WSGI,
    Environ,
    IsAdmin,
    StartResponse,
    install,
    with_implied,
)


class OpenToTheWorldError(Exception):
    """The service would believe anybody on an address that others can reach."""


def is_loopback(address: str) -> bool:
    if address in {"localhost", ""}:
        return address == "localhost"
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse_outside_loopback(conf: cfg.ConfigOpts) -> None:
    """Raise OpenToTheWorldError unless the API listens on a loopback address."""
    if not is_loopback(str(conf.osapi_share_listen)):
        raise OpenToTheWorldError(
            f"auth_strategy noauth believes every caller, so osapi_share_listen must be a "
            f"loopback address, not {conf.osapi_share_listen}"
        )


class NoAuth:
    """Takes the caller from the token ``user:project[:role,role]``, or from headers.

    The headers are X-User-Id, X-Project-Id and X-Roles.
    """

    def __init__(self, application: WSGI, is_admin: IsAdmin) -> None:
        self.application, self.is_admin = application, is_admin

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        user, project, roles = self._caller(environ)
        if not user or not is_loopback(environ.get("REMOTE_ADDR", "127.0.0.1")):
            uri = f"{environ['wsgi.url_scheme']}://{environ.get('HTTP_HOST', '')}"
            return faults.unauthenticated(uri)(environ, start_response)
        given = [role.strip() for role in roles.split(",") if role.strip()]
        install(
            environ,
            self.is_admin,
            user_id=user,
            project_id=project or None,
            roles=with_implied(given or (["admin"] if user == "admin" else ["member"])),
        )
        return self.application(environ, start_response)

    def _caller(self, environ: Environ) -> tuple[str, str, str]:
        user, _, rest = environ.get("HTTP_X_AUTH_TOKEN", "").partition(":")
        project, _, roles = rest.partition(":")
        return (
            environ.get("HTTP_X_USER_ID") or user,
            environ.get("HTTP_X_PROJECT_ID") or project,
            environ.get("HTTP_X_ROLES") or roles,
        )
