"""Shares of a local file system, exported over NFS by Ganesha, with sizes enforced on btrfs.

Everything that says what there is lies with the data: ``records/`` has a file for each share,
written before its volume is made and removed after it is gone, so a call that was killed half
way is found and finished by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from oslo_concurrency import processutils
from oslo_config import cfg

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.exports.config import Client
from fileshare.drivers.exports.ganesha import GaneshaExports
from fileshare.drivers.files import (
    Record,
    json_names,
    lock_file,
    read_json,
    write_json,
    write_whole,
)
from fileshare.drivers.local import options
from fileshare.drivers.local.volumes import (
    GIB,
    PRIVATE,
    Directories,
    Subvolumes,
    Volumes,
    capacity,
    keep_private,
)
from fileshare.drivers.model import (
    AccessChange,
    AccessResult,
    AccessRule,
    BackendInfo,
    Export,
    Pool,
    RuleResult,
    ShareRef,
)
from fileshare.drivers.names import checked_client, checked_id
from fileshare.privileged import btrfs, mounts, servers

POOL = "local"


class LocalDriver(base.Driver, base.Resizable, base.Usage):
    """One pool: a directory, or a btrfs in a file."""

    OPTS = options.OPTS

    def __init__(self, name: str, conf: cfg.ConfigOpts) -> None:
        super().__init__(name, conf)
        self._state = options.state_path(name, self.conf)
        self._addresses = options.export_addresses(self.conf)
        path = self.conf.local_share_path
        if not path and not self.conf.local_share_size:
            text = "Neither local_share_path nor local_share_size is set."
            raise errors.BadConfiguration(operator_text=text)
        self._top = Path(path) if path else self._state / "pool"
        self._volumes: Volumes = Directories(self._top, self._mode())
        self.exports = GaneshaExports(options.settings(name, self.conf))

    def setup(self) -> None:
        """Mount what must be, then start or adopt Ganesha."""
        _require_root()
        with told("set up"):
            self._state.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            with lock_file(self._state / "setup.lock"):
                self._make_pool()
                self._know_pool()
                self._volumes = self._choose_volumes()
                self._volumes.setup()
                self._open_all()
                (self._state / "ganesha").mkdir(mode=PRIVATE, exist_ok=True)
                self.exports.setup()

    def check(self) -> None:
        """Ganesha answers, and the file system is where it should be."""
        self._be_there()
        self.exports.check()

    def info(self) -> BackendInfo:
        """NFS over IPv4 and IPv6."""
        return BackendInfo(
            vendor_name="fileshare",
            driver_version="1.0",
            storage_protocol="NFS",
            capabilities={
                "ipv4_support": any("[" not in address for address in self._addresses),
                "ipv6_support": any("[" in address for address in self._addresses),
                "size_enforced": self._volumes.enforces_size,
                "export_addresses": list(self._addresses),
            },
        )

    def pools(self) -> list[Pool]:
        """The file system; sizes of shares are promises, so it is thin."""
        total, free = capacity(self._top)
        promised = float(sum(self.instances().values()))
        return [
            Pool(
                name=POOL,
                total=total,
                free=free,
                allocated=promised,
                provisioned=promised,
                thin_provisioning=True,
            )
        ]

    def create(self, share: ShareRef) -> list[Export]:
        """A volume, exported to nobody."""
        if share.protocol.upper() != "NFS":
            text = f"Protocol {share.protocol} is not offered."
            raise errors.DriverError(text)
        with told(f"create share {share.id}"):
            record = self._begin(share)
            self._volumes.create(share.id, record["size"])
            return self._publish(share)

    def delete(self, share: ShareRef) -> None:
        """Export, volume and, last, the record."""
        with told(f"delete share {share.id}"):
            checked_id(share.id)
            self.exports.remove(share.id)
            self._volumes.delete(share.id)
            self._record(share.id).unlink(missing_ok=True)

    def ensure(self, share: ShareRef) -> list[Export]:
        """Mount and export again what was lost."""
        with told(f"ensure share {share.id}"):
            self._must(share.id)
            exports = self._publish(share)
            self.exports.ensure(share.id)
            return exports

    def apply_access(self, share: ShareRef, change: AccessChange) -> AccessResult:
        """Rules of addresses and networks; a narrower one wins over a wider one."""
        with told(f"apply access to share {share.id}"):
            try:
                self._must(share.id)
            except errors.ShareLost:
                # Should the volume come back, whoever was let in is not by this export.
                if share.id in self.exports:
                    self.exports.allow(share.id, ())
                raise
            if share.id not in self.exports:
                self._publish(share)
            clients, result = clients_of_rules(change.rules)
            self.exports.allow(share.id, clients.items())
            return result

    def instances(self) -> dict[str, int]:
        """What the records say."""
        records = ((id, read_json(self._record(id))) for id in json_names(self._records()))
        return {id: record["size"] for id, record in records if record is not None}

    def used(self, ids: Collection[str]) -> dict[str, int]:
        """What the volumes say."""
        with told("read what shares hold"):
            return self._volumes.used_each(id for id in ids if self._record(id).exists())

    def extend(self, share: ShareRef, size: int) -> None:
        """Set the limit, then the record."""
        with told(f"extend share {share.id}"):
            record = self._must(share.id)
            self._volumes.resize(share.id, size)
            self._keep(share.id, {**record, "size": size})

    def shrink(self, share: ShareRef, size: int) -> None:
        """Set the limit, unless the share holds more."""
        with told(f"shrink share {share.id}"):
            record = self._must(share.id)
            used = self._volumes.used(share.id)
            if used > size * GIB:
                raise errors.ShrinkWouldLoseData(
                    f"The share holds {used / GIB:.2f} GiB, more than {size} GiB."
                )
            self._volumes.resize(share.id, size)
            self._keep(share.id, {**record, "size": size})

    def close(self) -> None:
        """Let go of the bus; Ganesha goes on serving."""
        self.exports.close()

    def _begin(self, share: ShareRef) -> Record:
        """The record of the share, made when there is none."""
        record = read_json(self._record(share.id))
        if record is None:
            record = {"id": share.id, "size": share.size}
            self._keep(share.id, record)
        elif record["size"] != share.size:
            text = f"Share {share.id} exists with {record['size']} GiB, wanted are {share.size}."
            raise errors.ShareExistsDifferently(operator_text=text)
        return record

    def _publish(self, share: ShareRef) -> list[Export]:
        """Mount and export a volume that is there."""
        path = self._volumes.open(share.id)
        self.exports.put(share.id, str(path), f"/{share.id}")
        return self._locations(share.id)

    def _locations(self, id: str) -> list[Export]:
        return [
            Export(f"{address}:/{id}", preferred=not index)
            for index, address in enumerate(self._addresses)
        ]

    def _open_all(self) -> None:
        """Mount what is exported, before Ganesha starts."""
        for id in self.instances():
            if self._volumes.exists(id):
                self._volumes.open(id)

    def _be_there(self) -> None:
        """Raise BackendBusy where the file system is not where it should be."""
        if not self._records().is_dir():
            raise errors.BackendBusy(operator_text=f"{self._top} does not hold the shares.")

    def _must(self, id: str) -> Record:
        """The record of a share whose volume is there; raises ShareLost for any other.

        Raises BackendBusy where no share is there, because the file system is not.
        """
        record = read_json(self._record(id))
        if record is None or not self._volumes.exists(id):
            self._be_there()
            raise errors.ShareLost(operator_text=f"Share {id} is not on the back end.")
        return record

    def _keep(self, id: str, record: Record) -> None:
        write_json(self._record(id), record, durable=True)

    def _records(self) -> Path:
        return self._top / "records"

    def _record(self, id: str) -> Path:
        return self._records() / f"{checked_id(id)}.json"

    def _mode(self) -> int:
        return int(self.conf.local_root_mode, 8)

    def _choose_volumes(self) -> Volumes:
        """Subvolumes where the file system has them."""
        if mounts.filesystem(str(self._top)) == "btrfs":
            return Subvolumes(self._top, self._mode(), self._state / "exports")
        return Directories(self._top, self._mode())

    def _make_pool(self) -> None:
        """The btrfs in a file, made once, grown when asked; a given directory must be there."""
        if self.conf.local_share_path:
            if not self._top.is_dir():
                text = f"local_share_path {self._top} is no directory."
                raise errors.BadConfiguration(operator_text=text)
            return
        image = self._state / "pool.img"
        if not image.exists():
            new = image.with_suffix(".new")
            with new.open("wb") as stream:
                stream.truncate(self.conf.local_share_size * GIB)
            btrfs.make_filesystem(str(new))
            new.rename(image)
        self._top.mkdir(exist_ok=True)
        mounts.mount_loop(str(image), str(self._top), "btrfs")
        if capacity(self._top)[0] < self.conf.local_share_size:
            os.truncate(image, self.conf.local_share_size * GIB)
            btrfs.grow(str(self._top))
        keep_private(self._top)

    def _know_pool(self) -> None:
        """Refuse a directory that is not the one of last time: its file system is not mounted.

        Otherwise shares would be made on whatever lies below the mount point.
        """
        here, there = self._records() / "identity", self._state / "identity"
        if not there.exists():
            keep_private(self._records())
            if not here.exists():
                write_whole(here, str(uuid.uuid4()))
            write_whole(there, here.read_text())
        if not here.exists() or here.read_text() != there.read_text():
            text = f"{self._top} is not what {there} names; is its file system mounted?"
            raise errors.BadConfiguration(operator_text=text)


def _require_root() -> None:
    """Raise PrivilegeMissing where neither this process nor its helper is root."""
    try:
        reason = "" if servers.user() == 0 else "the helper of oslo.privsep is not root"
    except Exception as error:  # noqa: BLE001  (whatever keeps the helper from starting)
        reason = f"the helper of oslo.privsep does not start: {error}"
    if reason:
        text = (
            "The local driver mounts, sets quotas and starts NFS-Ganesha. Run the daemon as root, "
            f"or let sudo run privsep-helper for its user: {reason}"
        )
        raise errors.PrivilegeMissing(operator_text=text)


def clients_of_rules(rules: Iterable[AccessRule]) -> tuple[dict[str, str], AccessResult]:
    """The clients that *rules* make, and an error for each rule that is none.

    Of two rules for the same client the one that lets it write counts.
    """
    clients: dict[str, str] = {}
    results: dict[str, RuleResult] = {}
    for rule in rules:
        try:
            to, level = _client(rule)
        except errors.InvalidAccess as error:
            results[rule.id] = RuleResult(error=error.user_text)
        else:
            clients[to] = max(level, clients.get(to, level))  # «rw» is the larger text
    return clients, AccessResult(results)


def _client(rule: AccessRule) -> Client:
    """The rule as a client of an export; raises InvalidAccess."""
    if rule.type != "ip":
        raise errors.InvalidAccess(f"Access type {rule.type} is not offered for NFS.")
    if rule.level not in ("rw", "ro"):
        raise errors.InvalidAccess(f"Access level {rule.level} is not offered.")
    return checked_client(rule.to), rule.level


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Failures of commands and of the file system, as the contract wants them."""
    try:
        yield
    except processutils.ProcessExecutionError as error:
        text = f"Could not {what}: {error.cmd}: {error.stderr or error.description}"
        raise errors.DriverError(operator_text=text) from error
    except OSError as error:
        kind = errors.BackendBusy if error.errno == errno.EBUSY else errors.DriverError
        raise kind(operator_text=f"Could not {what}: {error}") from error
