"""Why a back end does not work, as its daemon said last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fileshare.db.models.base import LongText

revision = "e0011"
down_revision = "e0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("services", sa.Column("down_reason", LongText, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("services") as batch:
        batch.drop_column("down_reason")
