"""Loading and starting drivers."""

from __future__ import annotations

import threading

import pytest

from fileshare import errors
from fileshare.drivers import loader
from fileshare.drivers.dummy import DummyDriver
from tests.fixtures.backends import NAME, backend_conf, never, new_share, started


def test_load_makes_the_driver_of_the_section(tmp_path):
    driver = loader.load(backend_conf("dummy", dummy_state_path=str(tmp_path)), NAME)
    assert isinstance(driver, DummyDriver)
    assert driver.conf.dummy_state_path == str(tmp_path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"share_driver": None}, "share_driver is not set"),
        ({"share_driver": "nothing"}, "no driver 'nothing'"),
        ({"driver_handles_share_servers": None}, "must be set"),
        ({"dummy_pools": ["x"]}, "dummy_pools"),
        ({"dummy_driver_fail": ["create@often"]}, "create@often"),
        ({"dummy_driver_fail": ["create error=unknown"]}, "error=unknown"),
        ({"dummy_driver_delay": ["create:long"]}, "create:long"),
    ],
)
def test_a_section_that_cannot_work_says_why(options, reason):
    conf = backend_conf("dummy")
    for option, value in options.items():
        conf.set_override(option, value, group=NAME)
    with pytest.raises(errors.BadConfiguration) as caught:
        loader.load(conf, NAME)
    assert reason in caught.value.operator_text


def test_a_mode_that_the_driver_has_not_is_refused(monkeypatch):
    monkeypatch.setattr(DummyDriver, "HANDLES_SHARE_SERVERS", frozenset({True}))
    with pytest.raises(errors.BadConfiguration) as caught:
        loader.load(backend_conf("dummy"), NAME)
    assert "driver_handles_share_servers = False" in caught.value.operator_text


def test_initialize_says_why_until_it_works(tmp_path):
    fail = ["setup times=1 error=busy", "check times=1"]
    conf = backend_conf("dummy", dummy_state_path=str(tmp_path), dummy_driver_fail=fail)
    reports: list[str | None] = []
    driver = loader.load(conf, NAME)
    assert loader.initialize(driver, never(), reports.append, first_pause=0.001)
    assert reports == [f"Told to fail at {name}: {text}." for name, text in
                       zip(("setup", "check"), fail, strict=True)] + [None]  # fmt: skip


def test_initialize_ends_when_told_to(tmp_path):
    conf = backend_conf("dummy", dummy_state_path=str(tmp_path), dummy_driver_fail=["setup"])
    stop = threading.Event()
    reports: list[str | None] = []

    def report(reason: str | None) -> None:
        reports.append(reason)
        stop.set()

    assert not loader.initialize(loader.load(conf, NAME), stop, report)
    assert len(reports) == 1


def test_initialize_survives_what_no_driver_should_raise(monkeypatch, tmp_path):
    driver = loader.load(backend_conf("dummy", dummy_state_path=str(tmp_path)), NAME)
    errors_to_raise = [ZeroDivisionError("oh")]
    setup = driver.setup
    monkeypatch.setattr(
        driver, "setup", lambda: setup() if not errors_to_raise else _raise(errors_to_raise.pop())
    )
    reports: list[str | None] = []
    assert loader.initialize(driver, never(), reports.append, first_pause=0.001)
    assert reports == ["ZeroDivisionError: oh", None]


def _raise(error: Exception) -> None:
    raise error


def test_fingerprint_is_of_the_back_end_not_of_its_capacity(tmp_path):
    conf = backend_conf("dummy", dummy_state_path=str(tmp_path))
    driver = started(conf)
    before = loader.fingerprint(driver, conf)
    driver.create(new_share())
    assert loader.fingerprint(driver, conf) == before
    conf.set_override("replication_domain", "other", group=NAME)
    assert loader.fingerprint(driver, conf) != before


def test_the_sample_has_the_options_of_every_driver():
    ((group, opts),) = loader.list_opts()
    names = [opt.name for opt in opts]
    assert group == "backend"
    assert len(set(names)) == len(names)
    assert {"dummy_state_path", "local_share_path"} <= set(names)
    assert all(opt.help for opt in opts)


@pytest.mark.parametrize("error", [OSError("disk\x00full"), OSError("disk\udcfffull")])
def test_what_operators_read_can_be_stored(error):
    """Also where a driver hands the error on instead of its text."""
    for each in (error, errors.DriverError(operator_text=error)):
        told = loader.describe(each)
        assert errors.storable(told) == told
        assert "disk\\" in told
