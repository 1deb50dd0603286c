"""The share daemon of one back end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from oslo_log import log as logging

from fileshare import errors
from fileshare.clients import coordination
from fileshare.db import clock, services, session
from fileshare.db.services import Identity
from fileshare.drivers import loader
from fileshare.drivers.base import DEFECTS
from fileshare.intents import destinations
from fileshare.intents.consumer import Consumer
from fileshare.intents.daemon import Daemon
from fileshare.intents.job import Backend
from fileshare.intents.rounds import Alive, Periodic, always, plain
from fileshare.intents.runtime import Runtime
from fileshare.share import reports
from fileshare.share.care import Care
from fileshare.share.ensure import Watch
from fileshare.share.handlers import HANDLERS
from fileshare.share.reconciler import Reconciler, lock_of
from fileshare.share.retries import retry_access
from fileshare.share.usage import gather

LOG = logging.getLogger(__name__)

BINARY = "share"


class ShareDaemon:
    """Drives one back end: the driver is set up first, then work is taken.

    Several daemons may drive the same back end; its name is ``host@section``, where *host* is
    the section's ``backend_host`` or the node's.
    """

    def __init__(self, runtime: Runtime, section: str, process: str) -> None:
        self.runtime = runtime
        self.driver = loader.load(runtime.conf, section)
        conf = runtime.conf[section]
        self.zone = conf.backend_availability_zone or runtime.conf.storage_availability_zone
        self.host = f"{conf.backend_host or runtime.conf.host}@{section}"
        self.reconciler = Reconciler(runtime, self.host, self.driver)
        self.reason: str | None = "The driver has not been set up yet."
        self._watch = Watch(runtime, self.host, self.driver)
        self._started = threading.Event()
        self._works = threading.Event()
        self._asked_at: float | None = None
        self._stop = threading.Event()
        self._starter: threading.Thread | None = None
        identity = Identity(
            binary=BINARY,
            host=self.host,
            topic=BINARY,
            zone=self.zone,
            node=runtime.conf.host,
            process=process,
            locks=coordination.scope(runtime.conf),
            wanted=runtime.conf.enable_new_services,
        )
        consumer = Consumer(
            runtime,
            HANDLERS,
            [destinations.share(self.host)],
            process,
            Backend(self.host, self.driver),
        )
        self.daemon = Daemon(runtime, identity, consumer, self._periodics(), self._answers)

    def _periodics(self) -> list[Periodic]:
        conf, host = self.runtime.conf, self.host
        return [
            Periodic("report pools", lambda: conf.periodic_interval, self.report),
            Periodic("check", lambda: conf.periodic_interval, self.check, later=True),
            # At once, too: what changed while no daemon ran is noticed at the start.
            Periodic("watch", lambda: conf.periodic_interval, self.watch, f"watch-{host}"),
            Periodic(
                "reconcile",
                lambda: conf.reconcile_interval,
                self.reconcile,
                lock_of(host),
                later=True,
            ),
            Periodic(
                "gather usage",
                lambda: conf.share_usage_size_update_interval,
                self.gather_usage,
                f"usage-{host}",
                later=True,
            ),
            Periodic(
                "retry access rules",
                lambda: conf.access_retry_interval,
                plain(lambda: retry_access(self.runtime, host)),
                f"retry-access-{host}",
            ),
        ]

    def start(self) -> None:
        """Set the driver up in the background, for as long as it takes, and then serve."""
        self._starter = threading.Thread(
            target=self._begin, name=f"{self.host}/start", daemon=True
        )
        self._starter.start()

    def _begin(self) -> None:
        if not loader.initialize(self.driver, self._stop, self._tell):
            return
        self._works.set()
        if not self._admitted():
            return
        self.daemon.start()
        self._started.set()
        LOG.info("Back end %s is served", self.host)

    def _admitted(self) -> bool:
        """Wait while another daemon with other locks serves the back end; False at the end."""
        while not self._stop.is_set():
            try:
                self.daemon.heartbeat()
            except errors.LocksDiffer as error:
                self._tell(str(error))
                self._stop.wait(self.runtime.conf.report_interval)
            except session.Unreachable as error:
                # As below, but each daemon says so while the database is away: no traceback.
                text = "Back end %s could not be reported yet: %s"
                LOG.error(text, self.host, session.why(error))  # noqa: TRY400
                return True
            except Exception:
                # It takes no work before one of the next heartbeats has made it a member.
                LOG.exception("Back end %s could not be reported yet", self.host)
                return True
            else:
                self._tell(None)
                return True
        return False

    def _tell(self, reason: str | None) -> None:
        if reason is not None:
            if reason != self.reason:
                LOG.error("Back end %s is not served: %s", self.host, reason)
            self._tell_operators(reason)
        self.reason = reason

    def _tell_operators(self, reason: str) -> None:
        """Each time, for the heartbeat of another daemon takes it away."""
        try:
            self.runtime.sessions.run(
                lambda session: services.tell_down(session, self.daemon.identity, reason)
            )
        except Exception:
            # It is in the log, and said again with the next try.
            LOG.exception("Why back end %s is not served could not be written", self.host)

    def check(self, alive: Alive = always) -> None:
        """Ask the driver whether the back end works; while it does not, the service is down.

        ``reason`` says why.  No new share is placed there then; work on those that it holds
        waits or fails by itself.  So it is where no answer comes.
        """
        self._asked_at = self._asked_at or time.monotonic()
        reason = Care(self.runtime, self.host, self.driver, alive=alive).works()
        self._asked_at = None
        if reason is None and not self._works.is_set():
            LOG.info("Back end %s works again", self.host)
        self._tell(reason)
        if reason is None:
            self._works.set()
        else:
            self._works.clear()

    def _answers(self) -> bool:
        """Whether the back end works, as far as its driver says anything."""
        asked_at, patience = self._asked_at, self.runtime.conf.service_down_time
        if asked_at is not None and time.monotonic() - asked_at > patience:
            self._tell(f"The driver has said nothing for {patience} s.")
            return False
        return self._works.is_set()

    def report(self, alive: Alive = always) -> None:
        """Tell the schedulers what the pools have."""
        # By the clock that also says when work has settled, however long this takes.
        asked_at = self.runtime.sessions.run(clock.moment)
        said = loader.backend_report(self.driver, self.runtime.conf)
        rows = reports.usable(self.host, said)
        alive()
        self.runtime.sessions.run(
            lambda session: services.report_pools(session, self.host, self.zone, rows, asked_at)
        )

    def watch(self, alive: Alive = always) -> None:
        """Ensure the shares of a back end that has changed."""
        with self._patience("is not watched"):
            self._watch.look(alive)

    def reconcile(self, alive: Alive = always) -> None:
        """Compare the back end with the database, and bring back what it lost."""
        with self._patience("is not compared to the end"):
            self.reconciler.look(alive)

    def gather_usage(self, alive: Alive = always) -> None:
        """Tell what the shares hold, where that is wanted."""
        if self.runtime.conf.enable_gathering_share_usage_size:
            with self._patience("does not say what its shares hold"):
                gather(self.runtime, self.host, self.driver, alive)

    @contextlib.contextmanager
    def _patience(self, consequence: str) -> Iterator[None]:
        """What fails because of the back end is tried again by the clock."""
        try:
            yield
        except errors.DriverError as error:
            LOG.warning("Back end %s %s: %s", self.host, consequence, error.operator_text)

    def stop(self) -> None:
        """Take no more work, finish what runs, and leave the back end serving its clients."""
        self._stop.set()
        if self._starter is not None:
            self._starter.join()
        if self._started.is_set():
            self.daemon.stop()
        try:
            self.driver.close()
        except DEFECTS:
            # What ends after it does not depend on it: other daemons, and what was promised.
            LOG.exception("The driver of back end %s cannot be closed", self.host)
