"""Indexes that have the rows of each list in its order, also in the middle of it."""

from __future__ import annotations

from alembic import op

revision = "e0010"
down_revision = "e0009"
branch_labels = None
depends_on = None

ORDER = ("created_at", "id")
SHARES = {
    # With the status: a count, and what is passed over, is read from the index alone.
    "ix_shares_of_project": ("project_id", "is_soft_deleted", "deleted_at", *ORDER, "status"),
    "ix_shares_of_cloud": ("is_soft_deleted", "deleted_at", *ORDER, "status"),
    "ix_shares_by_name": ("deleted_at", "display_name", "id"),
    "ix_shares_by_size": ("deleted_at", "size", "id"),
    "ix_shares_by_update": ("deleted_at", "updated_at", "id"),
    "ix_shares_of_status": ("status", "deleted_at", *ORDER),
    "ix_shares_of_project_status": ("project_id", "status", "deleted_at", *ORDER),
    "ix_shares_of_host": ("host", "deleted_at", *ORDER),
    "ix_shares_of_type": ("share_type_id", "deleted_at", *ORDER),
    "ix_shares_of_network": ("share_network_id", "deleted_at", *ORDER),
    "ix_shares_of_server": ("share_server_id", "deleted_at", *ORDER),
    "ix_shares_of_group": ("share_group_id", "deleted_at", *ORDER),
    "ix_shares_of_snapshot": ("snapshot_id", "deleted_at", *ORDER),
}
INSTANCES = {
    "ix_share_instances_of_replicas": ("replica_state", "deleted_at"),
    "ix_share_instances_of_status": ("status", "deleted_at"),
}


def upgrade() -> None:
    for table, indexes in (("shares", SHARES), ("share_instances", INSTANCES)):
        with op.batch_alter_table(table) as batch:
            for name, columns in indexes.items():
                batch.create_index(name, list(columns))


def downgrade() -> None:
    for table, indexes in (("shares", SHARES), ("share_instances", INSTANCES)):
        with op.batch_alter_table(table) as batch:
            for name in indexes:
                batch.drop_index(name)
