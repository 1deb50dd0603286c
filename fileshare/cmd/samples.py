"""``fileshare-config-generator`` and ``fileshare-policy-generator``: the sample files.

They are oslo's own generators, started where threads are chosen first: a library that they load
for its options would take eventlet otherwise, and fail where it is not installed.  Without
arguments they print everything, also where only the package is installed.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import sys

from oslo_config import generator as config_generator
from oslo_policy import generator as policy_generator

OPTIONS = (
    "fileshare",
    "fileshare.drivers",
    "keystonemiddleware.auth_token",
    "oslo.concurrency",
    "oslo.db",
    "oslo.log",
    "oslo.messaging",
    "oslo.middleware.healthcheck",
    "oslo.policy",
    "oslo.service.service",
)
POLICIES = ("fileshare",)
_WHAT = ("--namespace", "--config-file", "--config-dir", "--help", "-h", "--version")


def _arguments(namespaces: tuple[str, ...]) -> list[str]:
    """What oslo's generator is to be given: all of *namespaces* where nothing says which."""
    given = sys.argv[1:]
    if any(word.startswith(_WHAT) for word in given):
        return given
    return [*(word for name in namespaces for word in ("--namespace", name)), *given]


def config() -> None:
    """Write a sample of the configuration; the arguments are those of oslo-config-generator."""
    config_generator.main(_arguments(OPTIONS))


def policy() -> None:
    """Write a sample of the policies; the arguments are those of oslopolicy-sample-generator."""
    policy_generator.generate_sample(_arguments(POLICIES))
