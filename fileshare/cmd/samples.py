"""``fileshare-config-generator`` and ``fileshare-policy-generator``: the sample files.

They are oslo's own generators, started where threads are chosen first: a library that they load
for its options would take eventlet otherwise, and fail where it is not installed.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

from oslo_config import generator as config_generator
from oslo_policy import generator as policy_generator


def config() -> None:
    """Write a sample of the configuration; the arguments are those of oslo-config-generator."""
    config_generator.main()


def policy() -> None:
    """Write a sample of the policies; the arguments are those of oslopolicy-sample-generator."""
    policy_generator.generate_sample()
