"""Resource locks; access rules that are on their way out, or wait for another try."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "e0002"
down_revision = "e0001"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}
INSTANCES = "share_instances"
FAILING = "ix_share_instances_access_rules_status_host"


def upgrade() -> None:
    op.create_table(
        "resource_locks",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("lock_context", sa.String(10), nullable=False),
        sa.Column("resource_type", sa.String(36), nullable=False),
        sa.Column("resource_id", sa.String(36), nullable=False),
        sa.Column("resource_action", sa.String(36), nullable=False),
        sa.Column("lock_reason", sa.String(1023)),
        sa.Column("cause_id", sa.String(36)),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_resource_locks"),
        **OPTIONS,
    )
    for columns in (
        ["resource_id", "resource_action"],
        ["cause_id"],
        ["project_id", "created_at", "id"],
        ["created_at", "id"],
    ):
        name = f"ix_resource_locks_{'_'.join(columns)}"
        op.create_index(name, "resource_locks", columns)
    op.add_column("share_access_rules", sa.Column("denied_at", MOMENT))
    op.add_column(INSTANCES, sa.Column("access_failures", sa.Integer()))
    op.add_column(INSTANCES, sa.Column("access_retry_at", MOMENT))
    op.create_index(FAILING, INSTANCES, ["access_rules_status", "host"])


def downgrade() -> None:
    op.drop_index(FAILING, INSTANCES)
    op.drop_column(INSTANCES, "access_retry_at")
    op.drop_column(INSTANCES, "access_failures")
    op.drop_column("share_access_rules", "denied_at")
    op.drop_table("resource_locks")
