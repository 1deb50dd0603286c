"""The context of the request behind an intent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e0008"
down_revision = "e0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # May be empty: daemons of the release before write no such column.
    op.add_column("intents", sa.Column("caller", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("intents", "caller")
