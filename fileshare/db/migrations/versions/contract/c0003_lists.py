"""The indexes that e0010 replaced."""

from __future__ import annotations

from alembic import op

revision = "c0003"
down_revision = "c0002"
branch_labels = None
depends_on = "e0010"

REPLACED = (
    ("project_id", "deleted_at", "created_at", "id"),
    ("deleted_at", "created_at", "id"),
    ("status", "deleted_at", "project_id"),
    ("share_type_id", "deleted_at"),
    ("host", "deleted_at"),
)


def _name(columns: tuple[str, ...]) -> str:
    return f"ix_shares_{'_'.join(columns)}"


def upgrade() -> None:
    for columns in REPLACED:
        op.drop_index(_name(columns), "shares")


def downgrade() -> None:
    for columns in REPLACED:
        op.create_index(_name(columns), "shares", list(columns))
