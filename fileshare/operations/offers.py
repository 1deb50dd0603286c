"""What share types and share group types have in common: their specs, and who may use them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from fileshare import errors
from fileshare.context import Context
from fileshare.db.offers import Offer
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session
from fileshare.domain.notices import Priority
from fileshare.intents import changes
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation

_KEY = re.compile(r"[\w.:-]+")
Specs = Mapping[str, str]
Found = TypeVar("Found")


def asked(unit: Unit, is_public: bool | None) -> tuple[Scope, bool | None]:
    """Whose offers a list holds, and of which kind.

    *is_public* True: public ones, and private ones that the caller's project was given; False:
    private ones; None: all.  Callers who are no administrators have no other choice than True.
    """
    if is_public or not unit.ctx.is_admin:
        return Scope(unit.ctx.project_id or ""), None
    return ALL, is_public


def default(
    unit: Unit, offer: Offer, find: Callable[[Session, Scope, str], Found | None], name: str | None
) -> Found:
    """The offer that the configuration names, if any; raises NotFound."""
    found = find(unit.session, unit.scope, name) if name else None
    if found is None:
        raise errors.NotFound(resource=f"Default {_noun(offer)}", id=name or "(not configured)")
    return found


@operation
def projects(unit: Unit, offer: Offer, id: str) -> Sequence[Any]:
    """Who may use a private offer; raises NotFound for a public one, which has no such list."""
    if offer.is_public(unit.session, unit.scope, id):
        raise errors.NotFound(resource=f"Access list of the public {_noun(offer)}", id=id)
    return offer.given_to(unit.session, id)


@operation
def give(unit: Unit, offer: Offer, id: str, project_id: str) -> None:
    """Let a project use a private offer.

    Raises NotFound, and Conflict for a public one or a project that may use it already.
    """
    _lock_private(unit, offer, id)
    offer.give(unit.session, id, project_id)
    changes.tell(unit, f"{offer.name}_access.add", type_id=id, project_id=project_id)


@operation
def take(unit: Unit, offer: Offer, id: str, project_id: str) -> None:
    """Let a project use a private offer no more; what it made of it stays.

    Raises NotFound for the offer and for the access, Conflict for a public one.
    """
    _lock_private(unit, offer, id)
    offer.take(unit.session, id, project_id)
    changes.tell(unit, f"{offer.name}_access.remove", type_id=id, project_id=project_id)


def _lock_private(unit: Unit, offer: Offer, id: str) -> None:
    offer.lock(unit.session, id)
    if offer.is_public(unit.session, ALL, id):
        raise errors.Conflict(
            reason=f"The {_noun(offer)} {id} is public: every project may use it."
        )


@operation
def specs(unit: Unit, offer: Offer, id: str) -> Specs:
    """All specs of an offer; raises NotFound."""
    return _specs(unit, offer, id)


@operation
def spec(unit: Unit, offer: Offer, id: str, key: str) -> str:
    """One spec; raises NotFound for the offer and for the key."""
    found = _specs(unit, offer, id)
    if key not in found:
        raise _no_such_spec(offer, id, key)
    return found[key]


def _specs(unit: Unit, offer: Offer, id: str) -> Specs:
    offer.is_public(unit.session, unit.scope, id)  # whether it is there for the caller
    return offer.specs_of(unit.session, id)


def _as_given(_there: Specs, given: Specs) -> Specs:
    return given


def set_specs(
    runtime: Runtime,
    ctx: Context,
    offer: Offer,
    id: str,
    given: Specs,
    *,
    event: str = "create",
    kept: Callable[[Specs, Specs], Specs] = _as_given,
) -> None:
    """Set some specs of an offer; raises NotFound, and InvalidInput for key or value.

    *kept* makes of those that are there and those that are given what is written, or refuses.
    """
    event, facts = f"{_specs_event(offer)}.{event}", {"specs": dict(given)}
    with telling_failure(runtime, ctx, event, type_id=id, **facts):
        for key in given:
            if not _KEY.fullmatch(key):
                reason = f"the key {key!r} is not of letters, digits and _.:-"
                raise errors.InvalidInput(field=f"{offer.spec}s", reason=reason)
        _set_specs(runtime, ctx, offer, id, given, kept)
    tell(runtime, ctx, event, type_id=id, **facts)


@operation
def _set_specs(
    unit: Unit, offer: Offer, id: str, given: Specs, kept: Callable[[Specs, Specs], Specs]
) -> None:
    offer.lock(unit.session, id)
    offer.set_specs(unit.session, id, kept(offer.specs_of(unit.session, id), given))


def delete_spec(
    runtime: Runtime, ctx: Context, offer: Offer, id: str, key: str, *, kept: Sequence[str] = ()
) -> None:
    """Remove a spec; raises NotFound, and Refused for one of *kept*."""
    event, facts = f"{_specs_event(offer)}.delete", {"type_id": id, "id": key}
    with telling_failure(runtime, ctx, event, **facts):
        _delete_spec(runtime, ctx, offer, id, key, kept)
    tell(runtime, ctx, event, **facts)


@operation
def _delete_spec(unit: Unit, offer: Offer, id: str, key: str, kept: Sequence[str]) -> None:
    offer.lock(unit.session, id)
    if key in kept:
        raise errors.Refused(reason=f"The {_words(offer.spec)} {key} cannot be deleted.")
    if not offer.clear_specs(unit.session, id, [key]):
        raise _no_such_spec(offer, id, key)


def _no_such_spec(offer: Offer, id: str, key: str) -> errors.NotFound:
    return errors.NotFound(resource=offer.spec_label, id=f"{key} of {_noun(offer)} {id}")


def _specs_event(offer: Offer) -> str:
    """What is told of specs bears the name of their table."""
    return str(offer.specs.__tablename__)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _noun(offer: Offer) -> str:
    return _words(offer.name)


def tell(runtime: Runtime, ctx: Context, event: str, **facts: Any) -> None:
    runtime.notify(ctx, event, facts)


@contextlib.contextmanager
def telling_failure(runtime: Runtime, ctx: Context, event: str, **about: Any) -> Iterator[None]:
    """Tell of what is refused inside, which stays refused."""
    try:
        yield
    except errors.FileshareError as error:
        facts = {**about, "error": str(error)}
        runtime.notify(ctx, event, facts, priority=Priority.ERROR)
        raise
