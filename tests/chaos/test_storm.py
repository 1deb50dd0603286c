"""A short storm over the real stack; the long ones are brewed by hand."""

from __future__ import annotations

import sys

import pytest

from tests.chaos.storm.runner import Options, brew

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(600)]


def test_nothing_is_lost_in_a_minute_of_storm(tmp_path, record_property):
    verdict = brew(tmp_path, Options("a minute", seconds=60, pace=0.7, gap=2.5, settle=240))
    assert [str(violation) for violation in verdict.violations] == []
    assert verdict.kills >= 5
    assert verdict.calls >= 100
    record_property("kills", verdict.kills)
    sys.stdout.write(f"{verdict}\n")
