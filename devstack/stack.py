"""A whole cloud on this machine: `stack.sh` calls this.

up [--backends dummy|local|both] [--port N] [--keystone-port N]
down [--purge] | status | logs NAME [-f] | restart NAME | kill NAME | stop NAME
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pymysql

from devstack import control, settings, waiting
from devstack.keystone import Directory, Keystone, installed
from devstack.servers import HOST, MariaDB, Memcached, RabbitMQ, Server
from devstack.supervisor import Program

RUN = Path(os.environ.get("FILESHARE_RUN") or settings.ROOT / "devstack" / ".run")
DAEMONS = ("fileshare-api", "fileshare-scheduler", "fileshare-share", "fileshare-data")
# Levels of the supervisor: what stands on what.
SERVER, IDENTITY, DAEMON = range(3)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what was done and how long it took."""
    began = time.monotonic()
    yield
    print(f"  {what}: {time.monotonic() - began:.1f} s", flush=True)


def until(ready: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait until something is so; RuntimeError when it is not in time."""
    if not waiting.until(ready, seconds):
        raise RuntimeError(f"{what} was not ready in time; see {RUN}/log")


def database_driver() -> str:
    """The quickest driver of MariaDB that is installed; `stack.sh` tries to build mysqlclient."""
    return "mysqldb" if importlib.util.find_spec("MySQLdb") else "pymysql"


class Stack:
    """The parts of one stack and the order in which they come up."""

    def __init__(self, chosen: settings.Settings) -> None:
        self.settings = chosen
        where, ports = chosen.directory, chosen.ports
        self.mariadb = MariaDB(where / "mariadb", ports["mariadb"])
        self.memcached = Memcached(where / "memcached", ports["memcached"])
        self.rabbitmq = RabbitMQ(
            where / "rabbitmq",
            ports["rabbitmq"],
            mapper_port=ports["rabbitmq_mapper"],
            node_port=ports["rabbitmq_node"],
        )

    def up(self) -> None:
        """Bring everything up; what runs already is left alone."""
        programs = installed(settings.CACHE)
        self.keystone = Keystone(
            self.settings.directory / "keystone",
            self.settings.keystone_port,
            programs,
            self.mariadb,
            self.memcached,
        )
        control.ensure(self.settings.directory)
        with ThreadPoolExecutor() as pool:
            cache = pool.submit(self.serve, self.memcached)
            messages = pool.submit(self.serve, self.rabbitmq)
            self.serve(self.mariadb)
            cache.result()
            identity = pool.submit(self.identify)
            self.synchronise()
            self.start_daemons([messages, identity])
        self.settle()

    def serve(self, server: Server) -> None:
        """Start one server and wait until it serves."""
        with step(server.name):
            server.prepare()
            program = Program(server.name, server.command(), server.environment, level=SERVER)
            control.add(self.settings.directory, program)
            until(server.ready, server.name, 90)

    def database(self, name: str) -> None:
        """Make a database unless it is there."""
        connection = pymysql.connect(
            host=HOST,
            port=self.mariadb.port,
            user="fileshare",
            password="fileshare",
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4")

    def identify(self) -> None:
        """Start Keystone with its people and its catalogue."""
        keystone = self.keystone
        with step("keystone: tables, keys, administrator"):
            self.database("keystone")
            keystone.prepare()
        with step("keystone"):
            program = Program("keystone", keystone.command(), keystone.environment, level=IDENTITY)
            control.add(self.settings.directory, program)
            until(keystone.ready, "keystone")
        with step("keystone: people and catalogue"):
            keystone.populate(self.settings.share_url)

    def synchronise(self) -> None:
        """Write the configuration and bring the program's tables up to date."""
        chosen = self.settings
        with step("fileshare: configuration and tables"):
            settings.write_fileshare(
                chosen,
                self.mariadb.url("fileshare", database_driver()),
                self.rabbitmq.url(),
                self.memcached.url(),
            )
            settings.write_credentials(chosen)
            settings.write_tempest(chosen)
            self.database("fileshare")
            manage, configuration = chosen.programs / "fileshare-manage", chosen.configuration
            log = chosen.directory / "log" / "fileshare-manage.log"
            with log.open("ab") as output:
                done = subprocess.run(
                    [manage, "--config-file", configuration, "db", "sync"],
                    stdout=output,
                    stderr=output,
                    check=False,
                )
            if done.returncode:
                raise RuntimeError(f"fileshare-manage db sync failed; see {log}")

    def start_daemons(self, awaited: list[Future[None]]) -> None:
        """Start the daemons once what they need is there."""
        for future in awaited:
            future.result()
        chosen = self.settings
        with step("fileshare: daemons"):
            for name in DAEMONS:
                command = [str(chosen.programs / name), "--config-file", str(chosen.configuration)]
                control.add(
                    chosen.directory,
                    Program(name, command, settings.digest(chosen.configuration), level=DAEMON),
                )
            until(lambda: settings.listening(chosen.api_port), "fileshare-api")

    def settle(self) -> None:
        """Wait until every back end has reported; make the default share type."""
        cloud = Directory(self.settings.identity_url)
        url = self.settings.share_url
        version = {"X-OpenStack-Manila-API-Version": "2.50"}

        def names() -> set[str]:
            pools = cloud.session.get(f"{url}/scheduler-stats/pools", headers=version).json()
            return {pool["backend"] for pool in pools["pools"]}

        with step("fileshare: every back end has reported"):
            until(lambda: names() >= set(self.settings.enabled), "a back end")
        types = cloud.session.get(f"{url}/types", headers=version).json()["share_types"]
        if "default" not in {kind["name"] for kind in types}:
            specs = {"driver_handles_share_servers": "False", "snapshot_support": "True"}
            body = {"share_type": {"name": "default", "extra_specs": specs}}
            cloud.session.post(f"{url}/types", json=body, headers=version)


def up(arguments: argparse.Namespace) -> None:
    """Bring the stack up and say how to use it."""
    began = time.monotonic()
    chosen = settings.Settings(
        RUN,
        arguments.port,
        arguments.keystone_port,
        arguments.backends,
    )
    if not control.alive(RUN):
        chosen.check_ports()
    Stack(chosen).up()
    print(
        f"\nThe stack is up after {time.monotonic() - began:.0f} s.\n"
        f"  Shares    {chosen.share_url}   back ends: {', '.join(chosen.enabled)}\n"
        f"  Identity  {chosen.identity_url}\n"
        f"  Use it    source {RUN}/openrc && {chosen.programs}/openstack share pool list\n"
        f"  Others    openrc-demo (member), openrc-reader (reader), tempest.conf\n"
        f"  Look      devstack/stack.sh status | logs fileshare-share\n"
        f"  Stop      devstack/stack.sh down",
    )


def down(arguments: argparse.Namespace) -> None:
    """Stop everything; with --purge remove the data too."""
    control.end(RUN)
    if arguments.purge:
        shutil.rmtree(RUN, ignore_errors=True)
    print("The stack is down.")


def status(arguments: argparse.Namespace) -> None:
    """Show the programs; exit code 1 when one that should run does not."""
    try:
        programs = control.ask(RUN, "status")["programs"]
    except ConnectionError:
        programs = []
    if arguments.json:
        print(json.dumps(programs, indent=1))
    elif not programs:
        print("The stack is down.")
    else:
        print(f"{'NAME':22}{'STATE':12}{'PID':>8}{'SECONDS':>10}{'RESTARTS':>10}")
        for row in programs:
            seconds, pid = row["seconds"] or "-", row["pid"] or "-"
            print(f"{row['name']:22}{row['state']:12}{pid:>8}{seconds:>10}{row['restarts']:>10}")
    if not programs or any(row["state"] == "restarting" for row in programs):
        raise SystemExit(1)


def logs(arguments: argparse.Namespace) -> None:
    """Show the end of a program's log."""
    path = RUN / "log" / f"{arguments.name}.log"
    if not path.exists():
        names = ", ".join(sorted(log.stem for log in path.parent.glob("*.log"))) or "none"
        raise SystemExit(f"There is no log of {arguments.name!r}; there are: {names}.")
    follow = ["-F"] if arguments.follow else []
    subprocess.run(["tail", f"--lines={arguments.lines}", *follow, path], check=False)


def tell(arguments: argparse.Namespace) -> None:
    """Restart, kill or stop one program."""
    print(json.dumps(control.ask(RUN, arguments.verb, name=arguments.name)))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="stack.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True)
    start = verbs.add_parser("up", help="start everything")
    start.add_argument("--backends", choices=("dummy", "local", "both"), default="both")
    start.add_argument("--port", type=int, default=8786)
    start.add_argument("--keystone-port", type=int, default=5000)
    start.set_defaults(run=up)
    end = verbs.add_parser("down", help="stop everything")
    end.add_argument("--purge", action="store_true", help="remove the data too")
    end.set_defaults(run=down)
    show = verbs.add_parser("status", help="what runs")
    show.add_argument("--json", action="store_true")
    show.set_defaults(run=status)
    read = verbs.add_parser("logs", help="the end of a program's log")
    read.add_argument("name")
    read.add_argument("-n", "--lines", type=int, default=100)
    read.add_argument("-f", "--follow", action="store_true")
    read.set_defaults(run=logs)
    for verb, text in (
        ("restart", "stop a program and start it"),
        ("kill", "kill -9 all processes of a program; it comes back after a second"),
        ("stop", "stop a program and leave it so; restart starts it again"),
    ):
        one = verbs.add_parser(verb, help=text)
        one.add_argument("name")
        one.set_defaults(run=tell)
    return top


def main() -> None:
    """Run one command."""
    arguments = parser().parse_args()
    try:
        arguments.run(arguments)
    except ConnectionError:
        raise SystemExit("The stack is down: devstack/stack.sh up starts it.") from None
    except (control.Refused, settings.PortTaken, RuntimeError) as error:
        raise SystemExit(f"stack.sh: {error}") from error


if __name__ == "__main__":
    main()
