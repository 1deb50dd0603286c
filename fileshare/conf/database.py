"""[database]: oslo.db's own options."""

from __future__ import annotations

from oslo_config import cfg
from oslo_db import options as oslo_db

GROUP = "database"
OPTS: list[cfg.Opt] = []  # oslo.db lists its own


def register(conf: cfg.ConfigOpts) -> None:
    # A node by itself needs no server.
    oslo_db.set_defaults(
        conf,
        connection="sqlite:///$state_path/fileshare.db",
        max_pool_size=20,
        max_overflow=20,
    )
