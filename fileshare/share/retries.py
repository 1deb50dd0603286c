"""Trying again what a back end refused to do about access rules."""

from __future__ import annotations

import functools

from oslo_log import log as logging

from fileshare.context import service_context
from fileshare.db import access
from fileshare.db.access import Failing
from fileshare.db.models import Intent, new_id
from fileshare.db.session import Session
from fileshare.intents.holding import promise_rules
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit

LOG = logging.getLogger(__name__)


def retry_access(runtime: Runtime, backend: str) -> int:
    """Let the rules that are in error on a back end be applied again; of how many instances.

    The first try comes with the next look, each further one after twice the time: a back end
    that was away heals at once, one that says no is asked once in a while.
    """
    tried = 0
    while found := runtime.sessions.run(lambda session: access.failing(session, backend)):
        started = [_try(runtime, failing) for failing in found]
        tried += sum(started)
        if not any(started):
            break  # somebody else looks, too
    return tried


def _try(runtime: Runtime, failing: Failing) -> bool:
    intent = runtime.sessions.run(functools.partial(_retry, runtime, failing))
    if intent is None:
        return False
    runtime.ring(intent)
    LOG.info(
        "Access rules of instance %s are tried again (%d times in vain so far)",
        failing.instance_id,
        failing.failures,
    )
    return True


def _retry(runtime: Runtime, failing: Failing, session: Session) -> Intent | None:
    intent_id = new_id()
    if not access.retry(session, failing.instance_id, intent_id, _wait(runtime, failing)):
        return None
    unit = Unit(runtime, service_context(), session)
    return promise_rules(
        unit,
        intent_id,
        failing.instance_id,
        failing.host,
        share_id=failing.share_id,
        project_id=failing.project_id,
    )


def _wait(runtime: Runtime, failing: Failing) -> float:
    first = float(runtime.conf.access_retry_interval)
    return min(first * 2.0 ** min(failing.failures + 1, 32), float(runtime.conf.access_retry_max))
