"""The stack that the storm goes over: servers of its own, and daemons on three nodes."""

from __future__ import annotations

import concurrent.futures
import contextlib
import pathlib
import re
import shutil
import time
from collections.abc import Iterator

import kombu
import pymysql

from devstack.servers import HOST, MariaDB
from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.drivers.dummy.faults import CONTROL
from fileshare.drivers.dummy.state import State
from fileshare.drivers.files import write_json
from fileshare.intents import destinations
from fileshare.rpc import doorbell
from tests.chaos import truth
from tests.chaos.deployment import Deployment, Guarded, Node, deployment, mariadb, rabbitmq, until
from tests.chaos.storm import plan

DATABASE = "storm"
LEASE = 3
ATTEMPTS = 20
"""Claims of one piece of work before it is given up: more than a storm comes to."""
DELAY = "0.6, apply_access:0.3, ensure:0.02, setup:0, check:0, info:0, pools:0, instances:0"
"""Seconds that calls of the driver take, so that there are some to interrupt."""


class Cluster:
    """The daemons of the plan, on a MariaDB and a RabbitMQ that may be broken, too."""

    def __init__(self, made: Deployment, database: Guarded, broker: Guarded | None) -> None:
        self.daemons, self.database, self.broker = made, database, broker
        self.sessions = Sessions(create_engine(made.database))

    @property
    def state(self) -> State:
        return State(self.daemons.directory / plan.BACKEND)

    def configure(self, pools: dict[str, int], quota: dict[str, int]) -> None:
        """Write the configuration of the nodes, all with the same back end."""
        for name in plan.NODES:
            self.daemons.node(
                name,
                (plan.BACKEND,),
                backend_host=plan.HOST_OF_BACKEND,
                delay=DELAY,
                intents={"lease": LEASE, "max_attempts": ATTEMPTS},
                quota=quota,
                driver={
                    "dummy_pools": ",".join(f"{pool}:{size}" for pool, size in pools.items()),
                    "dummy_record_calls": True,
                },
                reconcile_interval=20,
                access_retry_interval=2,
            )

    def start(self) -> None:
        """Make the tables, start all daemons, and wait until they serve."""
        with self.connected() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        migration.upgrade(self.sessions.engine)
        for program, node in plan.DAEMONS:
            self.daemons.start(program, node)
        for node in plan.API_NODES:
            until(lambda node=node: self.daemons.serves(node), f"the API of {node} serves", 120)
        # The default type is made by the first node's API.
        self.daemons.make_type(plan.NODES[0])

    def revive(self) -> None:
        """Start the servers that do not run."""
        for server in (self.database, self.broker):
            if not server.runs():
                server.start()

    def complete(self) -> None:
        """Start what does not run."""
        for program, node in plan.DAEMONS:
            if f"{program}@{node}" not in self.daemons.running:
                self.daemons.start(program, node)

    @contextlib.contextmanager
    def connected(self) -> Iterator[pymysql.cursors.Cursor]:
        where = {"host": HOST, "port": self.database.server.port, "user": "fileshare"}
        connection = pymysql.connect(**where, password="fileshare", connect_timeout=5)
        with connection, connection.cursor() as cursor:
            yield cursor

    # -- what breaks -----------------------------------------------------------------------
    def cut(self) -> None:
        """Have the database server end the connections of everybody else."""
        mine = "user = 'fileshare' AND id <> CONNECTION_ID()"
        with self.connected() as cursor:
            _kill(cursor, f"SELECT id FROM information_schema.processlist WHERE {mine}")

    def harass(self, seconds: float) -> None:
        """For a while, have it end the connections of whoever is in a transaction."""
        end = time.monotonic() + seconds
        with self.connected() as cursor:
            while time.monotonic() < end:
                _kill(cursor, "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx")
                time.sleep(0.05)

    def purge(self) -> None:
        """Throw away the rings that wait in the broker."""
        url = self.broker.server.url().replace("rabbit://", "amqp://") + "/"
        for destination in (
            destinations.SCHEDULER,
            destinations.share(f"{plan.HOST_OF_BACKEND}@{plan.BACKEND}"),
        ):
            with kombu.Connection(url, connect_timeout=5) as connection:
                channel = connection.channel()
                # The queue goes with its last listener.
                with contextlib.suppress(connection.channel_errors):
                    channel.queue_purge(doorbell.topic(destination))

    def wipe_broker(self) -> None:
        """Kill the broker with all that it holds, and start an empty one."""
        self.broker.stop()
        shutil.rmtree(self.broker.server.directory / "mnesia")
        self.broker.start()

    def kill_database(self) -> None:
        self.database.kill()
        self.database.start()

    def restart_database(self) -> None:
        """SIGTERM to the server: it ends its connections and writes all down."""
        self.database.end()
        self.database.start()

    @property
    def control(self) -> pathlib.Path:
        """While this file is there the back end does what it says."""
        return self.state.root / CONTROL

    # -- the end ---------------------------------------------------------------------------
    def is_settled(self) -> bool:
        return truth.is_idle(self.sessions)


def _kill(cursor: pymysql.cursors.Cursor, which: str) -> None:
    cursor.execute(which)
    for (id,) in cursor.fetchall():
        # It may have ended by itself meanwhile.
        with contextlib.suppress(pymysql.err.OperationalError):
            cursor.execute(f"KILL CONNECTION {id}")


@contextlib.contextmanager
def cluster(
    directory: pathlib.Path,
    pools: dict[str, int] = plan.POOLS,
    quota: dict[str, int] = plan.QUOTA,
) -> Iterator[Cluster]:
    """A cluster that runs; all of it ends with this."""
    servers = directory / "servers"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda make: make(servers), (mariadb, rabbitmq)))
        list(pool.map(Guarded.start, made))
    database, broker = made
    try:
        url = database.server.url(DATABASE)
        with deployment(directory, url, broker.server.url()) as daemons:
            running = Cluster(daemons, database, broker)
            running.configure(pools, quota)
            running.start()
            yield running
            running.sessions.dispose()
    finally:
        for server in made:
            server.stop()


@contextlib.contextmanager
def revived(directory: pathlib.Path) -> Iterator[Cluster]:
    """What a cluster has left in *directory*, running once more without API and broker."""
    text = (directory / f"{plan.NODES[0]}.conf").read_text()
    port = int(re.findall(rf"{HOST}:(\d+)/{DATABASE}", text)[0])
    database = Guarded(MariaDB(directory / "servers" / MariaDB.name, port, throwaway=True))
    database.start()
    try:
        with deployment(directory, database.server.url(DATABASE)) as daemons:
            for name in plan.NODES:
                daemons.nodes[name] = Node(name, directory / f"{name}.conf", 0)
            running = Cluster(daemons, database, None)
            migration.upgrade(running.sessions.engine)  # the program may be a newer one
            write_json(running.control, {"delay": ["0"]})
            for program, node in plan.DAEMONS:
                if program != "api":
                    daemons.start(program, node)
            yield running
            running.sessions.dispose()
    finally:
        database.stop()
