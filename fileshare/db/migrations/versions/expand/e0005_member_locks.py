"""Where the members of a service keep their locks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e0005"
down_revision = "e0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("service_members", sa.Column("locks", sa.String(255), nullable=True))


def downgrade() -> None:
    op.drop_column("service_members", "locks")
