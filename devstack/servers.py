"""The servers that fileshare stands on, each as one command in a directory of its own.

Nothing here touches a server of the machine: every server gets its own data directory, its own
ports on 127.0.0.1 and its own configuration, runs in the foreground of whoever starts it, and is
stopped by its process group. The stand-alone stack and the tests' fixtures both use these classes.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import fcntl
import os
import pwd
import random
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

HOST = "127.0.0.1"
# Below Linux' range for outgoing connections (32768–60999), so that none of those takes a port
# between our look and the server's bind.
PORTS = range(20000, 32000)


class MissingServer(Exception):
    """A server's program is not installed."""


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens.

    A server may need long until it listens on it.  So all processes of a user go round the ports
    together, and none is given out again before all others were.
    """
    with Path(tempfile.gettempdir(), f"fileshare-port-{os.geteuid()}").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        newest = int(file.read() or random.choice(PORTS))
        for step in range(1, len(PORTS)):
            port = PORTS[(newest - PORTS.start + step) % len(PORTS)]
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((HOST, port))
                file.truncate(0)
                file.write(str(port))
                return port
    raise RuntimeError(f"No port is free between {PORTS.start} and {PORTS.stop}.")


def program(*names: str) -> str:
    """Return the path of the first program found, also where only root's PATH would look."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin"
    for name in names:
        if "/" in name:
            found = [str(match) for match in sorted(Path("/").glob(name.lstrip("/")))]
        else:
            found = [shutil.which(name, path=path) or ""]
        if found and found[-1]:
            return found[-1]
    raise MissingServer(f"{names[0]} is not installed.")


def answer(port: int, question: bytes = b"", size: int = 1) -> bytes:
    """Return the first bytes that a port says after `question`; nothing when it is silent."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection((HOST, port), timeout=2) as connection,
    ):
        connection.sendall(question)
        return connection.recv(size)
    return b""


@dataclasses.dataclass
class Server(abc.ABC):
    """One server: where it lives, where it listens and what starts it.

    `throwaway` trades durability for speed: right for tests, wrong for a stack that is killed.
    """

    name: ClassVar[str]

    directory: Path
    port: int
    throwaway: bool = False

    @property
    def account(self) -> str | None:
        """The system user to run as, None for whoever calls."""
        return None

    @property
    def environment(self) -> dict[str, str]:
        """What the server needs beside the caller's environment."""
        return {}

    def prepare(self) -> None:
        """Make the data directory unless a finished one is there."""
        self.directory.mkdir(parents=True, exist_ok=True)

    @abc.abstractmethod
    def command(self) -> list[str]:
        """The command that runs the server in the foreground."""

    @abc.abstractmethod
    def ready(self) -> bool:
        """Whether the server serves."""

    def _once(self, command: list[str]) -> str:
        """Run a command to its end; what it said, which is in the error when it fails."""
        account = self.account
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            user=account,
            group=pwd.getpwnam(account).pw_gid if account else None,
            extra_groups=[] if account else None,
            env={**os.environ, **self.environment},
            cwd="/",
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed ({done.returncode}):\n{done.stdout}")
        return done.stdout


class Database(Server):
    """A server whose data have to be made once, before it can be started."""

    def prepare(self) -> None:
        super().prepare()
        done = self.directory / "prepared"
        if done.exists():
            return
        data = self.directory / "data"
        shutil.rmtree(data, ignore_errors=True)
        self.make(data)
        done.touch()

    @abc.abstractmethod
    def make(self, data: Path) -> None:
        """Make the data, in a directory that is not there yet."""


class MariaDB(Database):
    """A MariaDB with one user, `fileshare` (password `fileshare`), who may do everything."""

    name = "mariadb"

    def make(self, data: Path) -> None:
        self._once(
            [
                program("mariadb-install-db"),
                "--no-defaults",
                f"--datadir={data}",
                f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ],
        )
        (self.directory / "users.sql").write_text(
            "CREATE USER IF NOT EXISTS fileshare@'127.0.0.1' IDENTIFIED BY 'fileshare';\n"
            "GRANT ALL ON *.* TO fileshare@'127.0.0.1' WITH GRANT OPTION;\n",
        )

    def command(self) -> list[str]:
        fast = [
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-doublewrite=0",
            "--innodb-log-file-size=32M",
        ]
        return [
            program("mariadbd"),
            "--no-defaults",
            f"--datadir={self.directory / 'data'}",
            f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
            # Relative to the data directory: a socket's path has a limit of 107 bytes.
            "--socket=mariadb.sock",
            f"--pid-file={self.directory / 'mariadb.pid'}",
            # Its own: a server that starts removes temporary tables that others have there.
            f"--tmpdir={self.directory}",
            f"--port={self.port}",
            f"--bind-address={HOST}",
            f"--init-file={self.directory / 'users.sql'}",
            "--skip-name-resolve",
            "--skip-log-bin",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_general_ci",
            "--max-connections=400",
            "--innodb-buffer-pool-size=128M",
            *(fast if self.throwaway else []),
        ]

    def ready(self) -> bool:
        # The greeting: three bytes of length, a number, then protocol version 10.
        return answer(self.port, size=5)[4:5] == b"\x0a"

    def url(self, database: str, driver: str = "pymysql") -> str:
        """The SQLAlchemy URL of a database."""
        where = f"{HOST}:{self.port}/{database}"
        return f"mysql+{driver}://fileshare:fileshare@{where}?charset=utf8mb4"


class PostgreSQL(Database):
    """A PostgreSQL that trusts whoever connects as `fileshare`, its superuser."""

    name = "postgresql"

    @property
    def account(self) -> str | None:
        # PostgreSQL refuses to run as root.
        if os.geteuid() != 0:
            return None
        known = {user.pw_name for user in pwd.getpwall()}
        return "postgres" if "postgres" in known else "nobody"

    def make(self, data: Path) -> None:
        data.mkdir(mode=0o700)
        if self.account:
            shutil.chown(data, self.account)
        self._once(
            [
                program("/usr/lib/postgresql/*/bin/initdb", "initdb"),
                f"--pgdata={data}",
                "--username=fileshare",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
            ],
        )

    def command(self) -> list[str]:
        fast = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        return [
            program("/usr/lib/postgresql/*/bin/postgres", "postgres"),
            "-D",
            str(self.directory / "data"),
            "-c",
            f"port={self.port}",
            "-c",
            f"listen_addresses={HOST}",
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=200",
            *(fast if self.throwaway else []),
        ]

    def ready(self) -> bool:
        # The server writes its state on the last line of its pid file.
        with contextlib.suppress(OSError):
            lines = (self.directory / "data" / "postmaster.pid").read_text().splitlines()
            return lines[3] == str(self.port) and lines[-1].strip() == "ready"
        return False

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database."""
        return f"postgresql+psycopg://fileshare@{HOST}:{self.port}/{database}"


@dataclasses.dataclass
class RabbitMQ(Server):
    """A RabbitMQ with an Erlang port mapper and cookie of its own; user and password guest."""

    name: ClassVar[str] = "rabbitmq"

    mapper_port: int = dataclasses.field(default_factory=free_port)
    node_port: int = dataclasses.field(default_factory=free_port)

    @property
    def environment(self) -> dict[str, str]:
        where = self.directory
        return {
            "HOME": str(where),
            "ERL_EPMD_PORT": str(self.mapper_port),
            "ERL_EPMD_ADDRESS": HOST,
            "RABBITMQ_NODENAME": f"fileshare-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.node_port),
            "RABBITMQ_MNESIA_BASE": str(where / "mnesia"),
            "RABBITMQ_LOG_BASE": str(where / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(where / "rabbitmq"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(where / "advanced"),
            "RABBITMQ_CONF_ENV_FILE": str(where / "rabbitmq-env.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(where / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +S 2:2"
            ),
        }

    def prepare(self) -> None:
        super().prepare()
        (self.directory / "enabled_plugins").write_text("[].\n")
        # The machine's disk is not ours to judge.
        (self.directory / "rabbitmq.conf").write_text("disk_free_limit.absolute = 50MB\n")

    def command(self) -> list[str]:
        # The port mapper lives and dies with this server's process group; left to itself, the
        # server would start one that outlives it.
        mapper = program("epmd")
        server = program("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server")
        return ["/bin/sh", "-c", f"{mapper} & exec {server}"]

    def ready(self) -> bool:
        # The listener opens last of all; it greets with a method frame.
        return answer(self.port, b"AMQP\x00\x00\x09\x01") == b"\x01"

    def control(self, *arguments: str) -> str:
        """Run rabbitmqctl on this server; what it said."""
        node = self.environment["RABBITMQ_NODENAME"]
        control = program("/usr/lib/rabbitmq/bin/rabbitmqctl", "rabbitmqctl")
        return self._once([control, "--node", node, *arguments])

    def url(self, virtual_host: str = "/") -> str:
        """The oslo.messaging URL of a virtual host."""
        return f"rabbit://guest:guest@{HOST}:{self.port}/{virtual_host.lstrip('/')}"


class Memcached(Server):
    """A memcached of 64 MiB."""

    name = "memcached"

    def command(self) -> list[str]:
        user = pwd.getpwuid(os.geteuid()).pw_name
        return [program("memcached"), "-l", HOST, "-p", str(self.port), "-m", "64", "-u", user]

    def ready(self) -> bool:
        return answer(self.port, b"version\r\n", 7) == b"VERSION"

    def url(self) -> str:
        """Its address, as token caches want it."""
        return f"{HOST}:{self.port}"


@dataclasses.dataclass
class Etcd(Server):
    """An etcd of one member."""

    name: ClassVar[str] = "etcd"

    peer_port: int = dataclasses.field(default_factory=free_port)

    def command(self) -> list[str]:
        here, peers = f"http://{HOST}:{self.port}", f"http://{HOST}:{self.peer_port}"
        return [
            program("etcd"),
            f"--data-dir={self.directory / 'data'}",
            f"--listen-client-urls={here}",
            f"--advertise-client-urls={here}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            *(["--unsafe-no-fsync"] if self.throwaway else []),
        ]

    def ready(self) -> bool:
        said = answer(self.port, b"GET /health HTTP/1.0\r\n\r\n", 4096)
        return said.startswith(b"HTTP/1.0 200")

    def url(self) -> str:
        """Its URL as tooz wants it."""
        return f"etcd3+http://{HOST}:{self.port}"


class Redis(Server):
    """A Redis without passwords, which keeps nothing on disk."""

    name = "redis"

    def command(self) -> list[str]:
        options = {"port": self.port, "bind": HOST, "dir": self.directory, "save": ""}
        words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        return [program("redis-server"), *words]

    def ready(self) -> bool:
        return answer(self.port, b"PING\r\n", 5) == b"+PONG"

    def url(self) -> str:
        """Its URL as tooz wants it."""
        return f"redis://{HOST}:{self.port}"
