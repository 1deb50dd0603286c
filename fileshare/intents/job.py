"""What a handler is given: all that it needs, and all that it may touch."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from fileshare import errors
from fileshare.context import Context, tell_the_log
from fileshare.db import intents
from fileshare.db.intents import LostClaim
from fileshare.db.models import Intent
from fileshare.db.session import TRANSIENT, Session
from fileshare.domain.quotas import Charge
from fileshare.drivers.base import DEFECTS, Driver
from fileshare.intents import failpoints
from fileshare.intents.grip import Grip
from fileshare.intents.kinds import Work
from fileshare.intents.runtime import Runtime

W = TypeVar("W", bound=Work)
Params = ParamSpec("Params")
Result = TypeVar("Result")


def caller(intent: Intent) -> Context:
    """Whose request promised the work.

    Of an intent that the release before has written only the ids in columns are known.
    """
    if intent.caller:
        return Context.load(intent.caller)
    return Context(
        request_id=intent.request_id or "",
        user_id=intent.user_id,
        project_id=intent.project_id,
    )


def tell_the_log_of(intent: Intent) -> None:
    """Let each record that this thread logs say whose request is behind the work."""
    resource_id = intent.share_id or intent.resource_id
    tell_the_log(caller(intent), intent_id=intent.id, resource_id=resource_id)


@dataclass(frozen=True, slots=True)
class Backend:
    """A back end and the driver that this process drives it with; *host* is ``host@backend``."""

    host: str
    driver: Driver


@dataclass(slots=True)
class Job(Generic[W]):
    """One claimed intent."""

    runtime: Runtime
    intent: Intent
    work: W
    backend: Backend | None = None
    reads: Callable[[Session, Job[Any]], Any] | None = None
    foreseen: list[Any] = field(default_factory=list)
    seen_at: float = field(default_factory=time.monotonic)
    kept_at: float = field(default_factory=time.monotonic)
    lost: threading.Event = field(default_factory=threading.Event)
    is_given_up: bool = False
    grips: list[Grip] = field(default_factory=list)
    on_failure: list[Callable[[Session], None]] = field(default_factory=list)
    """What else is written should the work fail; a handler adds to it as it goes."""

    @property
    def ctx(self) -> Context:
        """The caller whose request promised the work."""
        return caller(self.intent)

    @property
    def resource_id(self) -> str:
        return self.intent.resource_id

    @property
    def charge(self) -> Charge | None:
        """What the request booked."""
        return Charge.load(self.intent.charges)

    def read(
        self,
        query: Callable[Concatenate[Session, Params], Result],
        *args: Params.args,
        **kwargs: Params.kwargs,
    ) -> Result:
        """The answer of *query* in a short transaction of its own."""
        return self.runtime.sessions.run(lambda session: query(session, *args, **kwargs))

    def foresee(self, session: Session) -> None:
        """Read in *session* what the handler will want to know."""
        if self.reads is not None:
            self.foreseen.append(self.reads(session, self))

    def look(self) -> Any:
        """What the handler's ``reads`` find: once as of the claim, then as it is now."""
        if self.foreseen:
            return self.foreseen.pop()
        if self.reads is None:
            raise TypeError(f"the handler of {self.work.kind} declares no reads")
        reads = self.reads
        return self.runtime.sessions.run(lambda session: reads(session, self))

    def keep(self) -> None:
        """Renew the lease; raises LostClaim where another worker has the intent."""
        lease = self.runtime.conf.intents.lease
        try:
            self.read(intents.keep, self.intent, lease)
        except LostClaim:
            self.lost.set()
            raise
        self.kept_at = time.monotonic()

    def alive(self) -> None:
        """Say that work of many calls goes on; raises LostClaim where it is somebody else's."""
        if self.lost.is_set():
            raise LostClaim(self.intent.id)
        self.seen_at = time.monotonic()
        self.is_given_up = False
        if self.is_ageing():
            self.keep()

    def is_ageing(self) -> bool:
        """Whether a good part of the lease is over."""
        return bool(time.monotonic() - self.kept_at > self.runtime.conf.intents.lease / 4)

    def hangs(self) -> bool:
        """Whether no sign of life came for longer than any work should take."""
        return bool(time.monotonic() - self.seen_at > self.runtime.conf.intents.longest_work)

    def give_up(self) -> None:
        """Let go of what must not be held by work that hangs; it stops where it had held it.

        Until it gives a sign of life, nobody needs to be told again.
        """
        self.is_given_up = True
        for grip in self.grips:
            self.lost.set()
            grip.release()

    @contextlib.contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Hold a lock, for as long as the work does not hang; raises LockHeld."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.runtime.locks.lock(name))
            grip = Grip(stack.pop_all())
        self.grips.append(grip)
        try:
            yield
        finally:
            self.grips.remove(grip)
            grip.release()

    @contextlib.contextmanager
    def driving(self, instance_id: str) -> Iterator[Driver]:
        """The driver, for calls about one instance.

        No other process makes a call about it meanwhile, and a worker that slept past its lease
        is stopped here.  What remains is one call whose process is paused in the middle of it
        (see doc/adr).
        """
        if self.backend is None:
            raise TypeError("this daemon has no driver")
        with self.runtime.locks.lock(f"instance-{instance_id}"):
            if self.lost.is_set():
                raise LostClaim(self.intent.id)
            if self.is_ageing():
                self.keep()
            else:
                # Superseded meanwhile: what has removed the share must have the last word.
                self.read(intents.confirm, self.intent)
            failpoints.hit("driver.before", self.work.kind)
            try:
                yield self.backend.driver
            except (errors.FileshareError, LostClaim, *TRANSIENT):
                raise  # the database's troubles are not the driver's
            except DEFECTS as error:
                # A defect of the driver; its user is told no detail.
                raise errors.DriverError(
                    operator_text=f"{type(error).__name__}: {error}"
                ) from error
            failpoints.hit("driver.after", self.work.kind)
