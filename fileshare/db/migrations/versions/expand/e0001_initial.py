"""The tables of shares, their types and rules, services, quotas, intents and messages."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "e0001"
down_revision = None
branch_labels = ("expand",)
depends_on = None

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}
TABLES = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


sa.Table(
    "availability_zones",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.UniqueConstraint("name"),
    **OPTIONS,
)

sa.Table(
    "intents",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("state", sa.String(64), nullable=False),
    sa.Column("kind", sa.String(64), nullable=False),
    sa.Column("version", sa.Integer(), nullable=False),
    sa.Column("event", sa.String(64), nullable=False),
    sa.Column("resource_type", sa.String(64), nullable=False),
    sa.Column("resource_id", sa.String(36), nullable=False),
    sa.Column("share_id", sa.String(36)),
    sa.Column("open_key", sa.String(255)),
    sa.Column("project_id", sa.String(255)),
    sa.Column("user_id", sa.String(255)),
    sa.Column("request_id", sa.String(255)),
    sa.Column("destination", sa.String(255), nullable=False),
    sa.Column("payload", sa.JSON(), nullable=False),
    sa.Column("charges", sa.JSON(), nullable=False),
    sa.Column("trace", sa.JSON(), nullable=False),
    sa.Column("progress", sa.Integer(), nullable=False),
    sa.Column("cancel", sa.Boolean(), nullable=False),
    sa.Column("owner", sa.String(255)),
    sa.Column("fence", sa.Integer(), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("due", MOMENT),
    sa.Column("error", LONG_TEXT),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("closed_at", MOMENT),
    sa.UniqueConstraint("open_key"),
    sa.Index(None, "destination", "due"),
    sa.Index(None, "due"),
    sa.Index(None, "project_id", "state"),
    sa.Index(None, "share_id", "created_at"),
    sa.Index(None, "state", "closed_at"),
    **OPTIONS,
)

sa.Table(
    "messages",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("project_id", sa.String(255), nullable=False),
    sa.Column("request_id", sa.String(255)),
    sa.Column("resource_type", sa.String(64)),
    sa.Column("resource_id", sa.String(36)),
    sa.Column("action_id", sa.String(10), nullable=False),
    sa.Column("detail_id", sa.String(10)),
    sa.Column("message_level", sa.String(64), nullable=False),
    sa.Column("reason", LONG_TEXT),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("expires_at", MOMENT),
    sa.Index(None, "created_at", "id"),
    sa.Index(None, "expires_at"),
    sa.Index(None, "project_id", "created_at", "id"),
    sa.Index(None, "request_id"),
    sa.Index(None, "resource_id"),
    **OPTIONS,
)

sa.Table(
    "quota_limits",
    TABLES,
    sa.Column("project_id", sa.String(255), primary_key=True),
    sa.Column("scope", sa.String(255), primary_key=True),
    sa.Column("resource", sa.String(64), primary_key=True),
    sa.Column("hard_limit", sa.Integer(), nullable=False),
    **OPTIONS,
)

sa.Table(
    "quota_usages",
    TABLES,
    sa.Column("project_id", sa.String(255), primary_key=True),
    sa.Column("scope", sa.String(255), primary_key=True),
    sa.Column("resource", sa.String(64), primary_key=True),
    sa.Column("used", sa.BigInteger(), nullable=False),
    sa.CheckConstraint("used >= 0", name="used"),
    **OPTIONS,
)

sa.Table(
    "share_types",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("description", sa.String(255)),
    sa.Column("is_public", sa.Boolean(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.UniqueConstraint("name"),
    **OPTIONS,
)

sa.Table(
    "pool_reports",
    TABLES,
    sa.Column("id", sa.Integer(), primary_key=True),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("backend", sa.String(255), nullable=False),
    sa.Column("pool", sa.String(255), nullable=False),
    sa.Column("availability_zone_id", sa.String(36), sa.ForeignKey("availability_zones.id")),
    sa.Column("capabilities", sa.JSON(), nullable=False),
    sa.Column("total_gb", sa.Double()),
    sa.Column("free_gb", sa.Double()),
    sa.Column("allocated_gb", sa.Double(), nullable=False),
    sa.Column("provisioned_gb", sa.Double()),
    sa.Column("reserved_percentage", sa.Integer(), nullable=False),
    sa.Column("reserved_snapshot_percentage", sa.Integer(), nullable=False),
    sa.Column("reserved_share_extend_percentage", sa.Integer(), nullable=False),
    sa.Column("thin", sa.Boolean(), nullable=False),
    sa.Column("max_over_subscription_ratio", sa.Double(), nullable=False),
    sa.Column("report_seq", sa.Integer(), nullable=False),
    sa.Column("claimed_gb", sa.BigInteger(), nullable=False),
    sa.Column("reported_at", MOMENT, nullable=False),
    sa.UniqueConstraint("host"),
    sa.Index(None, "backend"),
    **OPTIONS,
)

sa.Table(
    "services",
    TABLES,
    sa.Column("id", sa.Integer(), primary_key=True),
    sa.Column("binary", sa.String(64), nullable=False),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("topic", sa.String(64), nullable=False),
    sa.Column("availability_zone_id", sa.String(36), sa.ForeignKey("availability_zones.id")),
    sa.Column("status", sa.String(64), nullable=False),
    sa.Column("state", sa.String(64), nullable=False),
    sa.Column("disabled_reason", sa.String(255)),
    sa.Column("ensuring", sa.Boolean(), nullable=False),
    sa.Column("report_count", sa.Integer(), nullable=False),
    sa.Column("info_hash", sa.String(255)),
    sa.Column("heartbeat_at", MOMENT),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.UniqueConstraint("binary", "host"),
    **OPTIONS,
)

sa.Table(
    "share_type_extra_specs",
    TABLES,
    sa.Column(
        "share_type_id",
        sa.String(36),
        sa.ForeignKey("share_types.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("value", sa.String(255), nullable=False),
    **OPTIONS,
)

sa.Table(
    "share_type_projects",
    TABLES,
    sa.Column(
        "share_type_id",
        sa.String(36),
        sa.ForeignKey("share_types.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("project_id", sa.String(255), primary_key=True),
    sa.Index(None, "project_id"),
    **OPTIONS,
)

sa.Table(
    "shares",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("project_id", sa.String(255), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("display_name", sa.String(255)),
    sa.Column("display_description", sa.String(255)),
    sa.Column("size", sa.Integer(), nullable=False),
    sa.Column("share_proto", sa.String(64), nullable=False),
    sa.Column("status", sa.String(64), nullable=False),
    sa.Column("intent_id", sa.String(36)),
    sa.Column("is_charged", sa.Boolean(), nullable=False),
    sa.Column("is_public", sa.Boolean(), nullable=False),
    sa.Column("is_soft_deleted", sa.Boolean(), nullable=False),
    sa.Column("scheduled_to_be_deleted_at", MOMENT),
    sa.Column("host", sa.String(255)),
    sa.Column("availability_zone_id", sa.String(36), sa.ForeignKey("availability_zones.id")),
    sa.Column("share_type_id", sa.String(36), sa.ForeignKey("share_types.id")),
    sa.Column("share_network_id", sa.String(36)),
    sa.Column("share_server_id", sa.String(36)),
    sa.Column("share_group_id", sa.String(36)),
    sa.Column("source_share_group_snapshot_member_id", sa.String(36)),
    sa.Column("source_backup_id", sa.String(36)),
    sa.Column("snapshot_id", sa.String(36)),
    sa.Column("encryption_key_ref", sa.String(36)),
    sa.Column("mount_point_name", sa.String(255)),
    sa.Column("task_state", sa.String(64)),
    sa.Column("progress", sa.String(32)),
    sa.Column("access_rules_status", sa.String(64), nullable=False),
    sa.Column("replication_type", sa.String(64)),
    sa.Column("has_replicas", sa.Boolean(), nullable=False),
    sa.Column("snapshot_support", sa.Boolean(), nullable=False),
    sa.Column("create_share_from_snapshot_support", sa.Boolean(), nullable=False),
    sa.Column("revert_to_snapshot_support", sa.Boolean(), nullable=False),
    sa.Column("mount_snapshot_support", sa.Boolean(), nullable=False),
    sa.Column("snapshot_inherit_share_access_support", sa.Boolean(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.Column("deleted_at", MOMENT),
    sa.CheckConstraint("size >= 0", name="size"),
    sa.Index(None, "deleted_at", "created_at", "id"),
    sa.Index(None, "host", "deleted_at"),
    sa.Index(None, "is_public", "deleted_at", "created_at", "id"),
    sa.Index(None, "project_id", "deleted_at", "created_at", "id"),
    sa.Index(None, "project_id", "deleted_at", "display_name"),
    sa.Index(None, "project_id", "deleted_at", "status"),
    sa.Index(None, "scheduled_to_be_deleted_at"),
    sa.Index(None, "share_type_id", "deleted_at"),
    **OPTIONS,
)

sa.Table(
    "service_members",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("service_id", sa.Integer(), sa.ForeignKey("services.id"), nullable=False),
    sa.Column("node", sa.String(255), nullable=False),
    sa.Column("process", sa.String(255), nullable=False),
    sa.Column("heartbeat_at", MOMENT, nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Index(None, "heartbeat_at"),
    sa.Index(None, "service_id"),
    **OPTIONS,
)

sa.Table(
    "share_access_rules",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("share_id", sa.String(36), sa.ForeignKey("shares.id"), nullable=False),
    sa.Column("access_type", sa.String(64), nullable=False),
    sa.Column("access_to", sa.String(255), nullable=False),
    sa.Column("canonical", sa.String(255), nullable=False),
    sa.Column("access_level", sa.String(64), nullable=False),
    sa.Column("access_key", sa.String(255)),
    sa.Column("extra", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.UniqueConstraint("share_id", "access_type", "canonical"),
    **OPTIONS,
)

sa.Table(
    "share_instances",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("share_id", sa.String(36), sa.ForeignKey("shares.id"), nullable=False),
    sa.Column("host", sa.String(255)),
    sa.Column("status", sa.String(64), nullable=False),
    sa.Column("availability_zone_id", sa.String(36), sa.ForeignKey("availability_zones.id")),
    sa.Column("share_type_id", sa.String(36), sa.ForeignKey("share_types.id")),
    sa.Column("share_network_id", sa.String(36)),
    sa.Column("share_server_id", sa.String(36)),
    sa.Column("replica_state", sa.String(64)),
    sa.Column("cast_rules_to_readonly", sa.Boolean(), nullable=False),
    sa.Column("access_rules_status", sa.String(64), nullable=False),
    sa.Column("access_version", sa.Integer(), nullable=False),
    sa.Column("access_intent_id", sa.String(36)),
    sa.Column("progress", sa.String(32)),
    sa.Column("claimed_gb", sa.Integer(), nullable=False),
    sa.Column("settled_at", MOMENT),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.Column("deleted_at", MOMENT),
    sa.Index(None, "deleted_at", "created_at", "id"),
    sa.Index(None, "host", "deleted_at", "status"),
    sa.Index(None, "share_id", "deleted_at"),
    **OPTIONS,
)

sa.Table(
    "share_metadata",
    TABLES,
    sa.Column("share_id", sa.String(36), sa.ForeignKey("shares.id"), primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("value", sa.String(1023), nullable=False),
    sa.Index(None, "key", "value", mysql_length={"value": 64}),
    **OPTIONS,
)

sa.Table(
    "share_access_mappings",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("access_id", sa.String(36), sa.ForeignKey("share_access_rules.id"), nullable=False),
    sa.Column(
        "share_instance_id", sa.String(36), sa.ForeignKey("share_instances.id"), nullable=False
    ),
    sa.Column("state", sa.String(64), nullable=False),
    sa.Column("error", LONG_TEXT),
    sa.UniqueConstraint("share_instance_id", "access_id"),
    sa.Index(None, "access_id"),
    **OPTIONS,
)

sa.Table(
    "share_instance_export_locations",
    TABLES,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column(
        "share_instance_id", sa.String(36), sa.ForeignKey("share_instances.id"), nullable=False
    ),
    sa.Column("path", sa.String(2000), nullable=False),
    sa.Column("is_admin_only", sa.Boolean(), nullable=False),
    sa.Column("preferred", sa.Boolean(), nullable=False),
    sa.Column("position", sa.Integer(), nullable=False),
    sa.Column("extra", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT),
    sa.Index(None, "share_instance_id"),
    **OPTIONS,
)


def upgrade() -> None:
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    TABLES.drop_all(op.get_bind(), checkfirst=False)
