"""What alembic runs for every command; ``fileshare.db.migration`` gives it the connection."""

from __future__ import annotations

from alembic import context

from fileshare.db import migration
from fileshare.db.models import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    **migration.options(connection.dialect.name),
)
with context.begin_transaction():
    context.run_migrations()
