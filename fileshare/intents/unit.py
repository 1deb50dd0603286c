"""The unit of work of an operation: one transaction, then rings and notices of what it did."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Concatenate, ParamSpec, TypeVar

from fileshare.context import Context
from fileshare.db import intents
from fileshare.db.models import Intent
from fileshare.db.models.base import Base
from fileshare.db.query import Scope
from fileshare.db.session import Session, is_there
from fileshare.domain.notices import Notice
from fileshare.domain.quotas import Charge
from fileshare.intents.kinds import Work
from fileshare.intents.runtime import Runtime

Params = ParamSpec("Params")
Result = TypeVar("Result")


@dataclass(slots=True)
class Unit:
    """What an operation works with; it lives as long as its transaction.

    *evidence* is a row that the operation inserts under a new id: if it is there, the
    transaction was committed.
    """

    runtime: Runtime
    ctx: Context
    session: Session
    promised: list[Intent] = field(default_factory=list)
    evidence: tuple[type[Base], str] | None = None
    notices: list[Notice] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        return Scope.of(self.ctx)

    def inserts(self, model: type[Base], id: str) -> str:
        """Note that the operation inserts a row; returns its id, which nothing else has."""
        self.evidence = (model, id)
        return id

    def promise(
        self,
        work: Work,
        destination: str,
        *,
        intent_id: str,
        resource_id: str,
        share_id: str | None,
        project_id: str | None,
        charge: Charge | None = None,
    ) -> Intent:
        """Write the intent whose id is on the resource already; it is rung after the commit."""
        intent = intents.write(
            self.session,
            id=intent_id,
            kind=work.kind,
            version=work.version,
            event=work.event,
            resource_type=work.verb().resource,
            resource_id=resource_id,
            share_id=share_id,
            project_id=project_id,
            user_id=self.ctx.user_id,
            request_id=self.ctx.request_id,
            caller=self.ctx.dump(),
            destination=destination,
            payload=work.dump(),
            charges=charge.dump() if charge else {},
        )
        self.promised.append(intent)
        self.inserts(Intent, intent_id)
        return intent


def operation(
    decide: Callable[Concatenate[Unit, Params], Result],
) -> Callable[Concatenate[Runtime, Context, Params], Result]:
    """Make *decide* a function of (runtime, context, …) that runs in a transaction.

    The transaction starts over after a deadlock or a lost connection.  Rows that are returned
    stay readable afterwards.
    """

    def call(
        runtime: Runtime, ctx: Context, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Result:
        promised: list[Intent] = []
        told: list[Notice] = []
        evidence: list[tuple[type[Base], str]] = []

        def work(session: Session) -> Result:
            unit = Unit(runtime, ctx, session)
            result = decide(unit, *args, **kwargs)
            session.flush()
            promised[:], told[:] = unit.promised, unit.notices
            evidence[:] = [unit.evidence] if unit.evidence else []
            return result

        def is_done(session: Session) -> bool | None:
            return is_there(session, *evidence[0]) if evidence else None

        result = runtime.sessions.run(work, is_done)
        for intent in promised:
            runtime.ring(intent)
        for notice in told:
            runtime.notifier.send(notice)
        return result

    functools.update_wrapper(call, decide)
    return call
