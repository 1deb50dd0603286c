"""Indexes for lists by status and by path, and for the service of a pool."""

from __future__ import annotations

from alembic import op

revision = "e0003"
down_revision = "e0002"
branch_labels = None
depends_on = None

STATUS = "ix_shares_status_deleted_at_project_id"
PATH = "ix_share_instance_export_locations_path"
HOST = "ix_services_host"


def upgrade() -> None:
    op.create_index(STATUS, "shares", ["status", "deleted_at", "project_id"])
    op.create_index(
        PATH,
        "share_instance_export_locations",
        ["path"],
        mysql_length=255,
        postgresql_using="hash",
    )
    op.create_index(HOST, "services", ["host"])


def downgrade() -> None:
    op.drop_index(HOST, "services")
    op.drop_index(PATH, "share_instance_export_locations")
    op.drop_index(STATUS, "shares")
