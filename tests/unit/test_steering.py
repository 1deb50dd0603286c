"""Which index a list of shares is told to read."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from fileshare.db.models import Share
from fileshare.db.steering import steered

LIVING = {"deleted_at", "is_soft_deleted"}


@pytest.mark.parametrize(
    ("equal", "key", "index"),
    [
        (set(), "created_at", "ix_shares_of_cloud"),
        (set(), "display_name", "ix_shares_by_name"),
        ({"status"}, "created_at", "ix_shares_of_status"),
        ({"host", "status"}, "created_at", "ix_shares_of_host"),
        ({"project_id"}, "created_at", "ix_shares_of_project"),
        ({"project_id"}, "display_name", "ix_shares_project_id_deleted_at_display_name"),
        ({"project_id", "status"}, "created_at", "ix_shares_of_project_status"),
        # In no index's order: what is sorted is the project's.
        ({"project_id"}, "host", "ix_shares_of_project"),
        ({"project_id", "display_description"}, "created_at", "ix_shares_of_project"),
        ({"is_public"}, "created_at", "ix_shares_is_public_deleted_at_created_at_id"),
    ],
)
def test_the_index_that_has_the_list_in_order(equal, key, index):
    assert f"FORCE INDEX ({index})" in said(equal, key)


@pytest.mark.parametrize(
    ("equal", "key"),
    [({"host", "project_id"}, "created_at"), ({"display_name"}, "created_at"), ({"host"}, "size")],
)
def test_nothing_is_said_where_the_server_knows_better(equal, key):
    assert "INDEX" not in said(equal, key)


def test_what_has_to_be_sorted_is_read_as_it_lies():
    assert "USE INDEX ()" in said(set(), "host")


def said(equal, key):
    statement = steered(sa.select(Share.id), Share, LIVING | equal, key)
    return str(statement.compile(dialect=mysql.dialect()))
