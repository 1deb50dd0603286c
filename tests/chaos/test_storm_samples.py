"""A storm that saw nothing says so, and no error of its own passes for one of the database."""

from __future__ import annotations

import subprocess
import threading
from types import SimpleNamespace

import pymysql
import pytest
from oslo_db import exception as db_exception

from tests.chaos.storm import faults
from tests.chaos.storm.plan import Fault
from tests.chaos.storm.samples import SIGHTS, Samples


class Database:
    """Sessions of a database that is there, or away."""

    def __init__(self):
        self.error = None

    def run(self, query):
        if self.error is not None:
            raise self.error
        return query(None)


@pytest.fixture
def database():
    return Database()


@pytest.fixture
def looks(database):
    return Samples(database)


def test_samples_are_counted(database, looks):
    assert looks.take(SIGHTS, lambda _: {"shares": 1}) == {"shares": 1}
    database.error = db_exception.DBConnectionError()
    assert looks.take(SIGHTS, lambda _: {"shares": 2}) is None
    assert list(looks.lines()) == [f"samples of {SIGHTS}: 1 taken, 1 lost"]
    assert list(looks.complaints({})) == []


def test_another_error_is_told(looks):
    def wrong(_session):
        raise AttributeError("booked")

    assert looks.take(SIGHTS, wrong) is None
    assert ["booked" in text for text in looks.complaints({})] == [True]


def test_few_samples_are_told(database, looks):
    database.error = db_exception.DBConnectionError()
    for _ in range(3):
        looks.take(SIGHTS, lambda _: 1)
    assert list(looks.complaints({})) == [f"only 0 samples of {SIGHTS} were taken, 3 were lost"]


def test_a_clock_that_stood_still_is_told(looks):
    """A look that hangs is neither taken nor lost."""
    for _ in range(4):
        looks.take(SIGHTS, lambda _: 1)
    assert list(looks.complaints({SIGHTS: 16})) == []
    assert list(looks.complaints({SIGHTS: 30})) == [
        f"only 4 samples of {SIGHTS} were taken, 0 were lost"
    ]


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        (pymysql.err.OperationalError(2003, "away"), False),
        (FileNotFoundError("a pid"), False),
        (subprocess.TimeoutExpired("fileshare-share", 60), True),
        (AssertionError("ended with 1"), True),
        (TypeError("of the harness"), True),
    ],
)
def test_what_breaks_is_not_to_blame_where_it_is_broken_already(looks, error, is_told):
    """A daemon that does not end when it is told to is a violation, as is a defect of the storm."""

    def cut():
        raise error

    daemons = SimpleNamespace(ended=list)
    breaking = faults.Faults(SimpleNamespace(daemons=daemons, cut=cut), looks, lambda _: None)
    breaking.run([Fault(0.0, "cut")], 0.05, threading.Event())
    breaking.takeovers.stop()
    assert bool(breaking.trouble) == is_told
    assert breaking.done[faults.STRANGE] == (0 if is_told else 1)
    assert breaking.done["cut"] == 0
