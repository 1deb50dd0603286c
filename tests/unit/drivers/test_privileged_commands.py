"""Commands are run in one place and in no country's words."""

from __future__ import annotations

import pytest
from oslo_concurrency import processutils

from fileshare.privileged.commands import run


def test_a_command_speaks_no_country_s_language(monkeypatch):
    """C115: whatever the locale of the daemon; the rest of its environment stays."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LC_NUMERIC", "de_DE.UTF-8")
    monkeypatch.setenv("KEPT", "as it is")
    found = dict(line.split("=", 1) for line in run("env", environment={"MORE": "1"}).splitlines())
    assert (found["LC_ALL"], found["KEPT"], found["MORE"]) == ("C", "as it is", "1")


def test_a_command_that_fails_is_an_error_unless_it_may():
    with pytest.raises(processutils.ProcessExecutionError):
        run("false")
    assert run("false", may_fail=True) == ""
