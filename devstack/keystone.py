"""A real Keystone for the local stack: fernet tokens, people, roles and a catalogue."""

from __future__ import annotations

import dataclasses
import grp
import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import requests
from keystoneauth1 import session
from keystoneauth1.identity import v3

from devstack import environments
from devstack.servers import HOST, MariaDB, Memcached
from devstack.settings import PASSWORD, REGION

REQUIREMENTS = ("keystone", "gunicorn", "PyMySQL", "python-memcached", "pymemcache")
# Both types that clients look for; the second is the older one.
SERVICE_TYPES = ("shared-file-system", "sharev2")
# Who is who: (user, project, role).
PEOPLE = (
    ("admin", "admin", "admin"),
    ("admin", "demo", "admin"),
    ("demo", "demo", "member"),
    ("reader", "demo", "reader"),
    ("alt", "alt_demo", "member"),
    ("fileshare", "service", "service"),
    ("fileshare", "service", "admin"),
)


def installed(cache: Path) -> Path:
    """Return the bin directory of Keystone's own virtual environment, made when missing."""
    return environments.installed(cache / "keystone-venv", REQUIREMENTS)


@dataclasses.dataclass
class Keystone:
    """One Keystone: its directory, its port, and what it stands on."""

    directory: Path
    port: int
    programs: Path
    mariadb: MariaDB
    memcached: Memcached

    @property
    def url(self) -> str:
        """The identity endpoint."""
        return f"http://{HOST}:{self.port}/v3"

    @property
    def environment(self) -> dict[str, str]:
        """Where Keystone and the server around it find their configuration."""
        return {
            "OS_KEYSTONE_CONFIG_FILES": str(self.directory / "keystone.conf"),
            "GUNICORN_CMD_ARGS": f"--config={self.directory / 'gunicorn.conf.py'}",
        }

    def command(self) -> list[str]:
        """The command that serves it."""
        # No arguments: Keystone takes those of its process for its own.
        return [str(self.programs / "gunicorn")]

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            return requests.get(self.url, timeout=10).ok
        except requests.RequestException:
            return False

    def configure(self) -> None:
        """Write its configuration."""
        keys = self.directory / "fernet-keys"
        keys.mkdir(parents=True, exist_ok=True)
        (self.directory / "gunicorn.conf.py").write_text(
            'wsgi_app = "keystone.wsgi.api:application"\n'
            f'bind = "{HOST}:{self.port}"\n'
            f'worker_tmp_dir = "{self.directory}"\n'
            # One thread each: Keystone makes its policies at the first request, and refuses
            # one that comes meanwhile.
            "workers = 2\n"
            "graceful_timeout = 2\n"
            "control_socket_disable = True\n",
        )
        (self.directory / "keystone.conf").write_text(
            f"""[DEFAULT]
public_endpoint = http://{HOST}:{self.port}
use_stderr = true

[database]
connection = {self.mariadb.url("keystone")}
max_pool_size = 10

[token]
provider = fernet
expiration = 86400

[fernet_tokens]
key_repository = {keys}

[fernet_receipts]
key_repository = {keys}

[identity]
# The fewest that bcrypt takes: these passwords are known to all.
password_hash_rounds = 4

[cache]
enabled = true
backend = dogpile.cache.pymemcache
memcache_servers = {self.memcached.url()}
""",
        )

    def prepare(self) -> None:
        """Make the keys, the tables, the administrator and the roles; once."""
        self.configure()
        done = self.directory / "prepared"
        if done.exists():
            return
        me = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(me.pw_gid).gr_name
        self._manage("fernet_setup", "--keystone-user", me.pw_name, "--keystone-group", group)
        self._manage("db_sync")
        self._manage(
            "bootstrap",
            f"--bootstrap-password={PASSWORD}",
            "--bootstrap-service-name=keystone",
            f"--bootstrap-region-id={REGION}",
            *(f"--bootstrap-{face}-url={self.url}" for face in ("public", "internal", "admin")),
        )
        done.touch()

    def _manage(self, *arguments: str) -> None:
        done = subprocess.run(
            [
                self.programs / "keystone-manage",
                f"--config-file={self.directory / 'keystone.conf'}",
                *arguments,
            ],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"keystone-manage {arguments[0]} failed:\n{done.stdout[-4000:]}")

    def populate(self, share_url: str) -> None:
        """Make the people of `PEOPLE` and the service's catalogue entries; safe to repeat."""
        Directory(self.url).populate(share_url)


class Directory:
    """What Keystone holds, seen by its administrator; every call finds or makes."""

    def __init__(self, url: str) -> None:
        self.url = url
        auth = v3.Password(
            url,
            username="admin",
            password=PASSWORD,
            project_name="admin",
            user_domain_id="default",
            project_domain_id="default",
        )
        self.session = session.Session(auth=auth, timeout=30)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Call the API and return the decoded answer."""
        response = self.session.request(self.url + path, method, json=body, connect_retries=2)
        return response.json() if response.content else None

    def find_or_make(self, plural: str, wanted: dict[str, Any], **fields: Any) -> str:
        """Return the id of the first object with the wanted values, made when there is none."""
        for item in self.call("GET", f"/{plural}")[plural]:
            if all(item.get(key) == value for key, value in wanted.items()):
                return str(item["id"])
        singular = plural[:-1]
        made = self.call("POST", f"/{plural}", {singular: {**wanted, **fields}})
        return str(made[singular]["id"])

    def populate(self, share_url: str) -> None:
        """Make the people and the catalogue."""
        for user, project, role in PEOPLE:
            self.grant(user, project, role)
        for kind in SERVICE_TYPES:
            self.offer(kind, share_url)

    def grant(self, user: str, project: str, role: str) -> None:
        """Give a user a role in a project."""
        domain = {"domain_id": "default"}
        user_id = self.find_or_make("users", {"name": user}, password=PASSWORD, **domain)
        project_id = self.find_or_make("projects", {"name": project}, **domain)
        role_id = self.find_or_make("roles", {"name": role})
        self.call("PUT", f"/projects/{project_id}/users/{user_id}/roles/{role_id}")

    def offer(self, kind: str, url: str) -> None:
        """Enter the service in the catalogue, or correct its address there."""
        name = "fileshare" if kind == SERVICE_TYPES[0] else "fileshare-v2"
        service = self.find_or_make("services", {"type": kind}, name=name)
        for face in ("public", "internal", "admin"):
            place = {"service_id": service, "interface": face, "region_id": REGION}
            endpoint = self.find_or_make("endpoints", place, url=url)
            self.call("PATCH", f"/endpoints/{endpoint}", {"endpoint": {"url": url}})
