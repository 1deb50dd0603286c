"""Callers of a service that stands alone: bearer tokens, of which only hashes are kept.

Unmodified clients send such a token as X-Auth-Token (``OS_AUTH_TYPE=admin_token``).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

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

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who presents a token of this hash."""

    hash: str
    user: str
    project: str
    roles: tuple[str, ...]


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def read(path: Path) -> list[Bearer]:
    """All bearers of a tokens file; none when there is no file."""
    try:
        entries = json.loads(path.read_text())
    except FileNotFoundError:
        return []
    return [Bearer(e["hash"], e["user"], e["project"], tuple(e["roles"])) for e in entries]


def write(path: Path, bearers: Sequence[Bearer]) -> None:
    """Replace a tokens file at once; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump([asdict(bearer) for bearer in bearers], file, indent=1)
    draft.replace(path)


def create(path: Path, user: str, project: str, roles: Sequence[str]) -> str:
    """Add a new token to a file and return it; it can be read nowhere again."""
    token = secrets.token_urlsafe(32)
    bearer = Bearer(digest(token), user, project, tuple(roles))
    write(path, [*read(path), bearer])
    return token


def first_start(path: Path, project: str) -> dict[str, str]:
    """The tokens of a new service: one for the administrator, one for a member of *project*.

    Returns them by user name, or nothing when the file is there already.
    """
    if path.exists():
        return {}
    return {
        "admin": create(path, "admin", project, ("admin",)),
        "user": create(path, "user", project, ("member",)),
    }


class Tokens:
    """Finds the bearer of the token in a request; answers 401 where there is none."""

    def __init__(self, application: WSGI, conf: cfg.ConfigOpts, is_admin: IsAdmin) -> None:
        self.application, self.is_admin = application, is_admin
        self._path = Path(conf.api.tokens_file)
        self._read_at = -1
        self._bearers: list[Bearer] = []
        self._lock = threading.Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        bearer = self.find(environ.get("HTTP_X_AUTH_TOKEN", ""))
        if bearer is None:
            uri = f"{environ['wsgi.url_scheme']}://{environ.get('HTTP_HOST', '')}"
            return faults.unauthenticated(uri)(environ, start_response)
        install(
            environ,
            self.is_admin,
            user_id=bearer.user,
            project_id=bearer.project,
            roles=with_implied(bearer.roles),
        )
        return self.application(environ, start_response)

    def find(self, token: str) -> Bearer | None:
        """The bearer of a token.  All hashes are compared, so that time tells nothing."""
        if not token:
            return None
        wanted, found = digest(token), None
        for bearer in self._current():
            if hmac.compare_digest(bearer.hash, wanted):
                found = bearer
        return found

    def _current(self) -> list[Bearer]:
        try:
            changed = self._path.stat().st_mtime_ns
        except OSError:
            changed = 0
        with self._lock:
            if changed != self._read_at:
                self._bearers, self._read_at = read(self._path), changed
                LOG.info("Read %d tokens", len(self._bearers))
            return self._bearers
