"""The index for the few instances of a pool that have claims, whatever else it holds or held."""

from __future__ import annotations

from alembic import op

revision = "e0009"
down_revision = "e0008"
branch_labels = None
depends_on = None

CLAIMS = "ix_share_instances_host_claimed_gb"


def upgrade() -> None:
    op.create_index(CLAIMS, "share_instances", ["host", "claimed_gb"])


def downgrade() -> None:
    op.drop_index(CLAIMS, "share_instances")
