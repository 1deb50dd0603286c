"""Looking after one instance: bringing back what its back end lost, alone on it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, ParamSpec, TypeVar

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import service_context
from fileshare.db import chores, exports, messages, transitions
from fileshare.db.chores import Candidate
from fileshare.db.models import Intent, new_id
from fileshare.db.session import Session
from fileshare.db.transitions import rule_states
from fileshare.domain.lifecycle import SHARE
from fileshare.drivers import loader
from fileshare.drivers.base import DEFECTS, Driver
from fileshare.drivers.model import AccessChange, AccessRule, ShareRef
from fileshare.intents import destinations, failpoints
from fileshare.intents.holding import promise_rules
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit
from fileshare.share import references
from fileshare.share.findings import EXPORTS, RULES
from fileshare.share.references import Subject

LOG = logging.getLogger(__name__)

Params = ParamSpec("Params")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Care:
    """A back end and its driver, for calls about one instance at a time.

    *holder* is the intent on whose behalf shares are held; *alive* raises where what is done was
    taken over meanwhile: of a call that was waited for too long nothing is listened to.
    """

    runtime: Runtime
    host: str
    driver: Driver
    holder: str | None = None
    alive: Alive = field(default=always)

    @contextlib.contextmanager
    def alone(self, instance_id: str) -> Iterator[Candidate | None]:
        """No other process makes a call about the instance meanwhile.

        Yields it as it is now, or None where it is gone, somewhere else, or in work.
        """
        with self.undisturbed(instance_id) as got:
            look = functools.partial(self.look, instance_id=instance_id)
            found = self.runtime.sessions.run(look) if got else None
            failpoints.hit("driver.before", "care")
            yield found
            failpoints.hit("driver.after", "care")

    def look(self, session: Session, instance_id: str) -> Candidate | None:
        """The instance, where it is here and no verb works on it."""
        found = chores.those(session, [instance_id])
        here = found and destinations.share(found[0].host) == destinations.share(self.host)
        return found[0] if here and found[0].is_free(self.holder) else None

    @contextlib.contextmanager
    def undisturbed(self, instance_id: str) -> Iterator[bool]:
        """Wait until no call about the instance is made; False where one takes a whole lease.

        Chores pass such an instance over: the call may hang, and there are others.
        """
        conf = self.runtime.conf.intents
        # Who waits gives no sign of life, and must not be taken for one that hangs.
        seconds = min(conf.lease, conf.longest_work / 2)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self.runtime.locks.lock(f"instance-{instance_id}", seconds))
                got = True
            except errors.LockHeld:
                LOG.warning("Instance %s is passed over: a call about it goes on", instance_id)
                got = False
            self.alive()
            yield got

    def call(
        self, method: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
    ) -> Result:
        """What the driver's *method* returns; whatever it raises is a DriverError."""
        try:
            found = method(*args, **kwargs)
        except errors.FileshareError:
            self.alive()
            raise
        except DEFECTS as error:
            self.alive()
            raise errors.DriverError(operator_text=loader.describe(error)) from error
        self.alive()
        return found

    def works(self) -> str | None:
        """Why the back end as a whole does not work; None where it does."""
        reason: str | None = None
        try:
            self.driver.check()
        except DEFECTS as error:
            reason = loader.describe(error)
        self.alive()
        return reason


class Restored(NamedTuple):
    """What was brought back (words of :mod:`findings`), and whether rules must be looked at.

    *lost* is why the back end cannot serve the share at all.
    """

    what: tuple[str, ...] = ()
    rules_failed: bool = False
    lost: errors.DriverError | None = None


def restore(care: Care, instance_id: str, *, flags: bool) -> Restored | None:
    """Bring back exports and rules of an instance; None where it was none of our business.

    With *flags* also which export locations are preferred becomes what the back end says.
    Raises DriverError where the back end as a whole does not work.
    """
    with care.alone(instance_id) as candidate:
        if candidate is None:
            return None
        subject = care.runtime.sessions.run(
            lambda session: references.of_instance(session, instance_id)
        )
        try:
            rows = care.call(_ensured, care.driver, subject.ref)
        except errors.DriverError as error:
            return Restored(lost=_judged(care, error))
        kept = _keep(care, candidate, subject, rows, flags=flags)
        return None if kept is None else _apply(care, subject, *kept)


def _ensured(driver: Driver, ref: ShareRef) -> list[dict[str, object]]:
    return references.exports(driver.ensure(ref))


def _enforced(driver: Driver, ref: ShareRef, rules: tuple[AccessRule, ...]) -> tuple[bool, bool]:
    """Make the back end enforce the whole set; whether it did not before, or refuses some."""
    result = driver.apply_access(ref, AccessChange(rules))
    return bool(result.changed), any(found.error for found in result.rules.values())


def _judged(care: Care, error: errors.DriverError) -> errors.DriverError:
    """The error of one share; raises it where it is the back end's that will pass."""
    if error.transient:
        raise error
    reason = care.works()
    if reason is not None:
        raise errors.BackendBusy(operator_text=reason) from error
    return error


def _keep(
    care: Care,
    candidate: Candidate,
    subject: Subject,
    rows: list[dict[str, object]],
    *,
    flags: bool,
) -> tuple[tuple[AccessRule, ...], tuple[str, ...]] | None:
    """Write the exports; the rules as they are now, and what was brought back.

    None where a verb has begun.  The call may have taken long, and the lock of a process that
    was stopped in it may be somebody else's: of the instance nothing is known any more.
    """

    def write(session: Session) -> tuple[tuple[AccessRule, ...], tuple[str, ...]] | None:
        transitions.hold(session, candidate.share_id)
        if care.look(session, candidate.id) is None:
            return None
        changed = exports.replace(session, candidate.id, rows, flags=flags)
        return references.wanted(session, subject.instance), (EXPORTS,) if changed else ()

    return care.runtime.sessions.run(write)


def _apply(
    care: Care, subject: Subject, rules: tuple[AccessRule, ...], what: tuple[str, ...]
) -> Restored:
    """Make the back end enforce the whole set: who stays in it is never cut off."""
    try:
        changed, refused = care.call(_enforced, care.driver, subject.ref, rules)
    except errors.DriverError as error:
        LOG.warning("Access rules of instance %s: %s", subject.ref.id, error.operator_text)
        return Restored(what, rules_failed=True)
    return Restored((*what, RULES) if changed else what, rules_failed=refused)


def queue_rules(runtime: Runtime, candidate: Candidate) -> None:
    """Let the rules of an instance be applied by the work that knows how to fail."""

    def write(session: Session) -> Intent | None:
        intent_id = new_id()
        transitions.hold(session, candidate.share_id)
        if not rule_states.require(session, candidate.id, intent_id):
            return None
        rule_states.show(session, candidate.share_id)
        return promise_rules(
            Unit(runtime, service_context(), session),
            intent_id,
            candidate.id,
            candidate.host,
            share_id=candidate.share_id,
            project_id=candidate.project_id,
        )

    intent = runtime.sessions.run(write)
    if intent is not None:
        runtime.ring(intent)


def tell_lost(
    runtime: Runtime, session: Session, candidate: Candidate, error: errors.DriverError
) -> None:
    """Tell the users of a share that its back end lost it."""
    messages.write(
        session,
        event=SHARE["ensure"].event,
        error=error,
        project_id=candidate.project_id,
        resource_id=candidate.share_id,
        request_id=None,
        ttl=runtime.conf.message_ttl,
        reason=str(error),
    )
