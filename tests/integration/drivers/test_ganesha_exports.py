"""The export helper by itself: attached to an operator's Ganesha, and in another namespace."""

from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.drivers.exports.config import Settings
from fileshare.drivers.exports.ganesha import GaneshaExports
from tests.fixtures.local_backends import needs_local_driver
from tests.fixtures.nfs_client import NfsClient, available

pytestmark = [
    *needs_local_driver,
    pytest.mark.skipif(not available(), reason="libnfs is not installed"),
]


@pytest.fixture(scope="module")
def operator(tmp_path_factory, lab):
    """A Ganesha in a namespace of its own."""
    state = tmp_path_factory.mktemp("operator")
    exports = GaneshaExports(Settings(state, namespace=lab.client(31)))
    exports.setup()
    yield exports
    exports.end()


@pytest.fixture
def attached(operator, tmp_path):
    """The exports of a back end that uses it."""
    state = tmp_path / "state"
    state.mkdir()
    exports = GaneshaExports(Settings(state, bus_address=operator.settings.bus))
    exports.setup()
    yield exports
    for key in sorted(exports.keys()):
        exports.remove(key)
    exports.close()


@pytest.fixture
def share(tmp_path):
    path = tmp_path / "share"
    path.mkdir()
    return str(path)


def test_exports_through_a_ganesha_that_the_operator_runs(operator, attached, share, lab):
    attached.put("key", share, "/key")
    assert attached.enforced("key") == set()
    attached.allow("key", [("10.99.0.21", "rw")])
    assert attached.enforced("key") == {("10.99.0.21", "rw")}
    with NfsClient("10.99.0.31", "/key", namespace=lab.client(21)) as client:
        client.write("/file", b"hello")
    index = (attached.settings.state / "exports.conf").read_text()
    assert str(attached.settings.state / "exports.d" / "key.conf") in index
    attached.remove("key")
    assert attached.enforced("key") == set()
    assert attached.keys() == set()


def test_the_operator_s_other_exports_are_left_alone(operator, attached, share, tmp_path):
    operator.put("other", share, "/other")
    operator.allow("other", [("10.99.0.21", "rw")])
    attached.put("key", share, "/key")
    attached.close()
    again = GaneshaExports(attached.settings)
    again.setup()
    again.close()
    assert operator.enforced("other") == {("10.99.0.21", "rw")}
    operator.remove("other")


def test_an_export_moves_with_its_path(attached, share, tmp_path):
    attached.put("key", share, "/key")
    attached.allow("key", [("10.99.0.21", "rw")])
    other = tmp_path / "elsewhere"
    other.mkdir()
    attached.put("key", str(other), "/key")
    assert attached.enforced("key") == set()


def test_an_id_is_not_used_twice(attached, share, monkeypatch):
    monkeypatch.setattr("fileshare.drivers.exports.ganesha.zlib.crc32", lambda _: 7)
    for key in ("one", "two", "three"):
        attached.put(key, share, f"/{key}")
    attached.remove("two")
    attached.put("four", share, "/four")
    attached.put("one", share, "/one")
    assert {attached._must(key).id for key in ("one", "three", "four")} == {8, 9, 10}


def test_an_id_of_an_export_that_was_never_written_is_freed(attached):
    attached._free_id("key")
    attached.remove("key")
    assert list((attached.settings.state / "ids").iterdir()) == []


def test_a_ganesha_that_is_not_there_is_named(tmp_path):
    exports = GaneshaExports(Settings(tmp_path, bus_address=f"unix:path={tmp_path}/nowhere"))
    with pytest.raises(errors.BackendBusy) as caught:
        exports.setup()
    assert f"{tmp_path}/nowhere" in caught.value.operator_text


def test_a_refused_export_is_told_with_ganesha_s_words(attached):
    with pytest.raises(errors.DriverError) as caught:
        attached.put("key", "/no/such/directory", "/key")
    assert "NFS-Ganesha refused" in caught.value.operator_text
