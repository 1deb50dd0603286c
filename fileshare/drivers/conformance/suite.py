"""What every suite of the conformance tests shares."""

from __future__ import annotations

import abc
import uuid
from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from fileshare.drivers import base
from fileshare.drivers.model import AccessRule, Export, ShareRef, SnapshotRef

Enforced = set[tuple[str, str]]
"""Who may mount, and how: pairs of ``to`` and ``level``."""


SUITES: dict[str, type[Suite]] = {}
"""The suite of each capability; one without a suite fails a test of the program."""


class Suite(abc.ABC):
    """What every suite shares: the driver under test, and shares that go away afterwards."""

    protocol: ClassVar[str] = "NFS"
    size: ClassVar[int] = 1
    rules: ClassVar[tuple[AccessRule, AccessRule]] = (
        AccessRule("rule-1", "ip", "10.0.0.1", "rw"),
        AccessRule("rule-2", "ip", "10.0.1.0/24", "ro"),
    )
    everyone: ClassVar[tuple[AccessRule, ...]] = (AccessRule("rule-3", "ip", "0.0.0.0/0", "rw"),)
    bad_rule: ClassVar[AccessRule] = AccessRule("rule-4", "cert", "nobody.example.org", "rw")

    def __init_subclass__(cls, capability: type | None = None) -> None:
        super().__init_subclass__()
        if capability is not None:
            SUITES[capability.__name__] = cls

    @abc.abstractmethod
    def make_driver(self) -> base.Driver:
        """A driver object, set up; each call makes another one on the same back end."""

    @abc.abstractmethod
    def enforced(self, driver: base.Driver, share: ShareRef) -> Enforced:
        """The rules that the back end enforces, as the back end says (not the driver's memory)."""

    @abc.abstractmethod
    def put(self, driver: base.Driver, share: ShareRef, text: str) -> None:
        """Make *text* the content of the share."""

    @abc.abstractmethod
    def text(self, driver: base.Driver, share: ShareRef) -> str:
        """The content of the share, as :meth:`put` left it."""

    @abc.abstractmethod
    def fill(self, driver: base.Driver, share: ShareRef) -> None:
        """Store more than one GiB in the share."""

    @pytest.fixture
    def driver(self) -> Iterator[base.Driver]:
        """A driver on the back end under test."""
        driver = self.make_driver()
        yield driver
        driver.close()

    @pytest.fixture
    def another(self) -> Iterator[base.Driver]:
        """A second one on the same back end: another process, or the next life of a killed one."""
        driver = self.make_driver()
        yield driver
        driver.close()

    @pytest.fixture
    def new(self, driver: base.Driver) -> Iterator[Callable[..., ShareRef]]:
        """A function that names a share that is not there; it is deleted after the test."""
        named: list[ShareRef] = []

        def name(size: int = self.size) -> ShareRef:
            share = ShareRef(
                id=str(uuid.uuid4()),
                share_id=str(uuid.uuid4()),
                size=size,
                protocol=self.protocol,
                project_id="project",
                pool=driver.pools()[0].name,
            )
            named.append(share)
            return share

        yield name
        for share in named:
            driver.delete(share)

    @pytest.fixture
    def share(self, driver: base.Driver, new: Callable[..., ShareRef]) -> ShareRef:
        """A share on the back end."""
        share = new()
        driver.create(share)
        return share


def pairs(*rules: AccessRule) -> Enforced:
    """What :meth:`Suite.enforced` says of *rules*."""
    return {(rule.to, rule.level) for rule in rules}


def paths(exports: list[Export]) -> set[str]:
    """The paths of *exports*."""
    return {export.path for export in exports}


def snapshot_of(share: ShareRef) -> SnapshotRef:
    """A snapshot of *share* that is not there yet."""
    return SnapshotRef(str(uuid.uuid4()), share, share.size)
