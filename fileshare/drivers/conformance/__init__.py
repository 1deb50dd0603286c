"""The driver contract as tests, shipped with the program so that any driver can be held to it.

A test class inherits the suite of each capability of its driver and fills in the hooks of
:class:`Suite`::

    class TestAcme(SharesSuite, AccessSuite, ResizableSuite):
        def make_driver(self) -> Driver: …

A call whose worker was killed is made again, maybe by another process.  A test cannot kill a
real array's client in the middle of a call, but it can do what the control plane does next: call
again, from another driver object on the same back end.
"""

from __future__ import annotations

from fileshare.drivers.conformance.metadata import MetadataUpdatesSuite
from fileshare.drivers.conformance.shares import AccessSuite, SharesSuite
from fileshare.drivers.conformance.sizes import ResizableSuite
from fileshare.drivers.conformance.snapshots import (
    CloneFromSnapshotSuite,
    MountableSnapshotsSuite,
    RevertibleSuite,
    SnapshotsSuite,
)
from fileshare.drivers.conformance.suite import SUITES, Enforced, Suite
from fileshare.drivers.conformance.usage import UsageSuite

__all__ = [
    "SUITES",
    "AccessSuite",
    "CloneFromSnapshotSuite",
    "Enforced",
    "MetadataUpdatesSuite",
    "MountableSnapshotsSuite",
    "ResizableSuite",
    "RevertibleSuite",
    "SharesSuite",
    "SnapshotsSuite",
    "Suite",
    "UsageSuite",
]
