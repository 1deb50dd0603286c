"""A purge that is killed at its work, again and again, and one that finishes."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from fileshare.db import migration
from fileshare.db.models import ExportLocation, Share, ShareInstance
from fileshare.db.session import create_engine
from fileshare.domain.statuses import Status
from tests.chaos.deployment import deployment
from tests.fixtures.purging import Purge
from tests.integration.db.filled import fill, numbered, text

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(300)]

DELETED = 3_000
ALIVE = 300
KILLS = 3


@pytest.fixture
def cloud(tmp_path, mariadb_url):
    """Only a configuration, and a database with more rows than a step removes."""
    with deployment(tmp_path, mariadb_url) as made:
        made.node()
        made.engine = create_engine(mariadb_url)
        migration.upgrade(made.engine)
        age = f"IF(n > {DELETED}, NULL, UTC_TIMESTAMP(6) - INTERVAL 9 DAY)"
        common = {"status": text(Status.DELETED), "deleted_at": age}
        number = DELETED + ALIVE
        with made.engine.begin() as writer:
            shares = {"project_id": text("p"), "size": "1", "share_proto": text("NFS")}
            fill(writer, Share, number, id=numbered("s"), **shares, **common)
            fill(writer, ShareInstance, number, id=numbered("i"), share_id=numbered("s"), **common)
            exports = {"share_instance_id": numbered("i"), "path": numbered("/e")}
            fill(writer, ExportLocation, number, id=numbered("e"), **exports)
        yield made
        made.engine.dispose()


def left(cloud):
    """How many rows there are of each table; a share goes with all that hangs on it, or stays."""
    with cloud.engine.begin() as connection:
        numbers = {
            connection.scalar(sa.select(sa.func.count()).select_from(model))
            for model in (Share, ShareInstance, ExportLocation)
        }
    (number,) = numbers
    return number


def test_a_killed_purge_is_finished_by_the_next(cloud):
    """C166: nothing is half gone, and nothing that is alive goes."""
    before = DELETED + ALIVE
    for _ in range(KILLS):
        purge = Purge(cloud, 7, "--pace", "1")
        purge.begin()
        purge.kill()
        after = left(cloud)
        assert ALIVE < after < before, "it was killed midway"
        before = after
    said = Purge(cloud, 7, "--pace", "100").finish()
    assert left(cloud) == ALIVE
    assert str(before - ALIVE) in said
    assert "shares" not in Purge(cloud, 7).finish()
