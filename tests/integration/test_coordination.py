"""Locks between processes and nodes, on every service that they are documented for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from devstack.servers import Etcd, MariaDB, Redis, free_port
from devstack.waiting import patience
from fileshare import conf as options
from fileshare import errors
from fileshare.clients import coordination
from fileshare.clients.coordination import Coordination
from tests.chaos.deployment import Guarded, until

KINDS = ["file", "etcd", "redis", "mysql"]
LONG = 30  # seconds for which the heart of who holds a lock may stand still
TTL = 3  # the same, where a test waits until a lock that nobody renews is free

pytestmark = [
    pytest.mark.integration,
    # fasteners leaves the file of a lock that it did not get to the collector.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*FileIO:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def url(request, tmp_path):
    """A function: the URL of the locks on a service of a kind, and how long one lives."""

    def get(kind, ttl=LONG):
        if kind == "file":
            return f"file://{tmp_path}/locks"
        if kind == "mysql":
            return mysql(request.getfixturevalue("mariadb"))
        return leased(request.getfixturevalue(kind), ttl)

    return get


def leased(server, ttl):
    """Its answers may take longer than a lock lives that nobody renews."""
    return f"{server.url()}?timeout={LONG}&lock_timeout={ttl}"


def mysql(server):
    return f"mysql://fileshare:fileshare@127.0.0.1:{server.port}/mysql"


def locks(url, patience=60):
    """The locks of one process, which waits so many seconds for one."""
    conf = options.load(files=[])
    conf.set_override("backend_url", url, group="coordination")
    conf.set_override("lease", patience, group="intents")
    conf.set_override("longest_work", 1, group="intents")
    assert coordination.patience(conf) == patience
    return Coordination(conf)


@pytest.fixture
def pair(request, url):
    made = [locks(url(request.param)) for _ in range(2)]
    yield made
    for one in made:
        one.stop()


each = pytest.mark.parametrize("pair", KINDS, indirect=True)


@each
def test_one_at_a_time(pair):
    first, second = pair
    inside, most = [], []

    def work(mine):
        for _ in range(10):
            with mine.lock("instance-1"):
                inside.append(mine)
                most.append(len(inside))
                time.sleep(0.001)
                inside.remove(mine)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in (first, second) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 40


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_that_is_held(kind, url):
    first, second = (locks(url(kind), patience=2) for _ in range(2))
    with first.lock("a"), second.try_lock("b") as other:
        assert other
        with second.try_lock("a") as got:
            assert not got
        with first.try_lock("a") as got:
            assert not got, "nor is it free in the same process"
        began = time.monotonic()
        with pytest.raises(errors.LockHeld), second.lock("a"):
            pass
        assert time.monotonic() - began > 1.5
    with second.try_lock("a") as got:
        assert got
    first.stop()
    second.stop()


@each
def test_names_that_are_long(pair):
    """Names of back ends go into them; servers and file systems have limits."""
    first, second = pair
    name = f"retry-access-{'host' * 40}@backend-"
    with first.lock(f"{name}1"), second.try_lock(f"{name}2") as got:
        assert got
        with second.try_lock(f"{name}1") as same:
            assert not same


HOLDER = """
import sys, time
from fileshare import conf as options
from fileshare.clients.coordination import Coordination
conf = options.load(files=[])
conf.set_override("backend_url", sys.argv[1], group="coordination")
with Coordination(conf).lock("instance-1"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_the_lock_of_a_killed_process_is_free_soon(kind, url, record_property):
    where = url(kind, TTL)
    mine = locks(where)
    began = time.monotonic()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, where], stdout=subprocess.PIPE)

    def free():
        with mine.try_lock("instance-1") as got:
            return got

    try:
        assert holder.stdout.readline() == b"held\n"
        # So long it lives in any case, however slow the holder's heart.
        assert not free() or time.monotonic() - began > TTL
    finally:
        holder.kill()
        holder.communicate()
    took = until(free, "the lock is free", patience(4 * TTL))
    record_property(f"{kind}: seconds until free", round(took, 2))
    mine.stop()


def test_a_client_that_fails_when_a_lock_is_given_back_spoils_no_work(url, monkeypatch, caplog):
    """Whatever it raises: clients have errors of their own."""

    def fail(_lock):
        raise RuntimeError("its session is over")

    mine = locks(url("file"))
    with monkeypatch.context() as broken:
        broken.setattr("tooz.drivers.file.FileLock.release", fail)
        with mine.lock("a"):
            pass
    mine.stop()
    assert "its session is over" in caplog.text


SERVERS = {"etcd": Etcd, "redis": Redis, "mysql": MariaDB}


@pytest.fixture
def server(kind, tmp_path):
    made = SERVERS[kind](tmp_path / kind, free_port(), throwaway=True)
    guarded = Guarded(made)
    yield guarded
    guarded.stop()


@pytest.mark.parametrize("kind", SERVERS)
def test_the_service_goes_away_and_comes_back(kind, server, monkeypatch):
    """Nothing connects before it must; what cannot be locked is told as such; it heals."""
    # Redis' client pauses for most of a minute between its tries.
    monkeypatch.setattr("redis.backoff.ExponentialWithJitterBackoff.compute", lambda *_: 0)
    before = set(threading.enumerate())
    where = mysql(server.server) if kind == "mysql" else leased(server.server, TTL)
    mine = locks(where)
    with pytest.raises(errors.CoordinationAway):
        mine.check()
    server.start()
    mine.check()
    with mine.lock("a"):
        server.stop()  # the work under the lock goes on; claims guard what it writes
    with pytest.raises(errors.CoordinationAway), mine.lock("a"):
        pass
    server.start()
    until(lambda: works(mine), "it works again", patience(4 * TTL))
    server.stop()
    began = time.monotonic()
    mine.stop()
    assert time.monotonic() - began < coordination._GOODBYE + 30
    # What still tries to say goodbye ends with the process, or when the service is back.
    server.start()
    until(lambda: before.issuperset(threading.enumerate()), "nothing tries any more")


def works(mine):
    try:
        with mine.try_lock("a") as got:
            return got
    except errors.CoordinationAway:
        return False


def test_all_attempts_outlast_the_longest_call():
    """So that no work fails because another one takes its time."""
    conf = options.load(files=[])
    whole = coordination.patience(conf) * conf.intents.max_attempts
    assert whole >= conf.intents.longest_work
    conf.set_override("lease", 7, group="intents")
    conf.set_override("longest_work", 1, group="intents")
    assert coordination.patience(conf) == 7
