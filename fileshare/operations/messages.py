"""What users are told about what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fileshare.db import messages
from fileshare.db.models import Message
from fileshare.domain.listing import Page
from fileshare.intents import changes
from fileshare.intents.unit import Unit, operation


@operation
def find(unit: Unit, filters: Mapping[str, Any], page: Page) -> Sequence[Message]:
    """Messages of the caller's project, for an administrator of all, that pass *filters*.

    Raises InvalidInput for an unknown sort key.
    """
    return messages.find(unit.session, unit.scope, filters, page)


@operation
def get(unit: Unit, message_id: str) -> Message:
    """One message; raises NotFound."""
    return messages.get(unit.session, unit.scope, message_id)


@operation
def delete(unit: Unit, message_id: str) -> None:
    """Remove one message; raises NotFound."""
    row = messages.get(unit.session, unit.scope, message_id)
    messages.delete(unit.session, unit.scope, message_id)
    about = {"message_id": message_id, "resource_id": row.resource_id}
    changes.tell(unit, "message.delete", project_id=row.project_id, **about)
