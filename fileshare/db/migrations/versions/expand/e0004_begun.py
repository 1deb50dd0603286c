"""How often a back end took an intent up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e0004"
down_revision = "e0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # With a default of the server: daemons of the release before write no such column.
    op.add_column("intents", sa.Column("begun", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("intents", "begun")
