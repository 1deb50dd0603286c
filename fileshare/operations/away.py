"""What a caller is told while the database is away."""

from __future__ import annotations

from fileshare import errors
from fileshare.db.session import TRANSIENT, OutcomeInDoubt


def of_the_database(error: Exception) -> errors.FileshareError | None:
    """What to tell of *error*; None where it does not say that the database is away."""
    if isinstance(error, OutcomeInDoubt):
        return errors.OutcomeUnknown()
    return errors.DatabaseAway() if isinstance(error, TRANSIENT) else None
