"""What a request on share replicas decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare.db import instances, shares
from fileshare.domain.listing import Page
from fileshare.intents.unit import Unit, operation


@operation
def find(unit: Unit, share_id: str | None, page: Page) -> Sequence[Any]:
    """The replicas that the caller may see, of one share or of all; raises NotFound for it."""
    if share_id:
        shares.get(unit.session, unit.scope, share_id)
    return instances.replicas(unit.session, unit.scope, share_id, page)


@operation
def get(unit: Unit, replica_id: str) -> Any:
    """One replica; raises NotFound."""
    return instances.replica(unit.session, unit.scope, replica_id)
