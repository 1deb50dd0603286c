"""The index that e0003 replaced."""

from __future__ import annotations

from alembic import op

revision = "c0002"
down_revision = "c0001"
branch_labels = None
depends_on = "e0003"

STATUS = "ix_shares_project_id_deleted_at_status"


def upgrade() -> None:
    op.drop_index(STATUS, "shares")


def downgrade() -> None:
    op.create_index(STATUS, "shares", ["project_id", "deleted_at", "status"])
