"""The branch of what is removed begins; nothing is yet."""

from __future__ import annotations

revision = "c0001"
down_revision = None
branch_labels = ("contract",)
depends_on = "e0001"


def upgrade() -> None:
    """Nothing."""


def downgrade() -> None:
    """Nothing."""
