from __future__ import annotations

import inprocess
import managing
import pytest


@pytest.fixture
def program(tmp_path):
    """The whole program with a share type called default."""
    with inprocess.running(tmp_path) as made:
        yield made


@pytest.fixture
def api(program):
    return program


@pytest.fixture
def share(api):
    """A share that is available."""
    return api.new_share()


@pytest.fixture
def manage(program):
    """Runs one command; what it answers as JSON is in ``rows``."""

    def command(*words, listing=True):
        return managing.run(program.runtime, *words, *(("-f", "json") if listing else ()))

    return command


@pytest.fixture
def cephfs(tmp_path):
    """The whole program for shares that make keys for their clients."""
    protocols = {"enabled_share_protocols": "NFS,CEPHFS"}
    with inprocess.running(tmp_path, **protocols) as made:
        for name in made.drivers:
            made.conf.set_override("dummy_storage_protocols", ["NFS", "CEPHFS"], group=name)
        made.report()
        yield made
