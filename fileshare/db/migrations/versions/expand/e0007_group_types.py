"""Share group types, their specs and share types, and who may use private ones."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "e0007"
down_revision = "e0006"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}
TABLE = "share_group_types"
OWNER = "share_group_type_id"
SPECS = "share_group_type_specs"
PROJECTS = "share_group_type_projects"
SHARE_TYPES = "share_group_type_share_types"


def _child(table: str, key: str, *columns: sa.schema.SchemaItem, length: int = 255) -> None:
    """Rows of a group type, one for each *key*; they go with it."""
    op.create_table(
        table,
        sa.Column(OWNER, sa.String(36), nullable=False),
        sa.Column(key, sa.String(length), nullable=False),
        *columns,
        sa.PrimaryKeyConstraint(OWNER, key, name=f"pk_{table}"),
        sa.ForeignKeyConstraint(
            [OWNER], [f"{TABLE}.id"], name=f"fk_{table}_{OWNER}", ondelete="CASCADE"
        ),
        **OPTIONS,
    )


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
        sa.UniqueConstraint("name", name=f"uq_{TABLE}_name"),
        **OPTIONS,
    )
    _child(SPECS, "key", sa.Column("value", sa.String(255), nullable=False))
    _child(PROJECTS, "project_id")
    op.create_index(f"ix_{PROJECTS}_project_id", PROJECTS, ["project_id"])
    key = "share_type_id"
    name = f"fk_{SHARE_TYPES}_{key}"
    _child(
        SHARE_TYPES, key, sa.ForeignKeyConstraint([key], ["share_types.id"], name=name), length=36
    )
    op.create_index(f"ix_{SHARE_TYPES}_{key}", SHARE_TYPES, [key])


def downgrade() -> None:
    for table in (SHARE_TYPES, PROJECTS, SPECS, TABLE):
        op.drop_table(table)
