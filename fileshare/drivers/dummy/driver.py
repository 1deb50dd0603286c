"""A back end that stores nothing but answers as one that does.

For functional tests, drills and trying things out: no data can be kept in its shares, and
nothing listens at its export locations.  All else is real: its state is on disk and outlives
the process, several processes may serve it, capacity is counted, and it can be told to be slow,
to fail or to kill its process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from oslo_config import cfg

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.dummy.faults import Faults
from fileshare.drivers.dummy.options import OPTS, DummyPool, parse_pool
from fileshare.drivers.dummy.state import SHARES, SNAPSHOTS, State
from fileshare.drivers.files import Record, lock_file
from fileshare.drivers.model import (
    AccessChange,
    AccessResult,
    AccessRule,
    BackendInfo,
    Export,
    Pool,
    RuleResult,
    ShareRef,
    SnapshotRef,
)

DEFAULT_ROOT = Path("/var/lib/fileshare/dummy")

GIB = 2**30
USED = "used"
"""Key of a share's record: GiB in use, for tests of shrinking."""

MOUNT_POINT = "mount_point_name"

CONTENT = "content"
METADATA = "metadata"
"""Key of a share's record: a text that stands for its data."""


class DummyDriver(
    base.Driver,
    base.Resizable,
    base.MetadataUpdates,
    base.Usage,
    base.Snapshots,
    base.CloneFromSnapshot,
    base.Revertible,
    base.MountableSnapshots,
):
    """Every capability, in files."""

    OPTS = OPTS
    HANDLES_SHARE_SERVERS = frozenset({False, True})

    def __init__(self, name: str, conf: cfg.ConfigOpts) -> None:
        super().__init__(name, conf)
        path = self.conf.dummy_state_path
        root = Path(path) if path else DEFAULT_ROOT / name
        self.state = State(root, journal=self.conf.dummy_record_calls)
        self._pools = [parse_pool(text) for text in self.conf.dummy_pools]
        self._faults = Faults(
            self.state, self.conf.dummy_driver_delay, self.conf.dummy_driver_fail
        )

    def setup(self) -> None:
        """Make the state directory."""
        try:
            self.state.make()
        except OSError as error:
            text = f"The state directory cannot be made: {error}"
            raise errors.BadConfiguration(operator_text=text) from error
        self._faults.before("setup")

    def check(self) -> None:
        """Fail where that was asked for, or the state directory is gone."""
        self._faults.before("check")
        if not (self.state.root / SHARES).is_dir():
            raise errors.BackendBusy(operator_text=f"{self.state.root} is not there.")

    def info(self) -> BackendInfo:
        """What the options say."""
        self._faults.before("info")
        capabilities: dict[str, Any] = {"ipv6_support": True, "mount_point_name_support": True}
        if self.conf.dummy_replication_type:
            capabilities["replication_type"] = self.conf.dummy_replication_type
        return BackendInfo(
            vendor_name="fileshare",
            driver_version="1.0",
            storage_protocol="_".join(self.conf.dummy_storage_protocols),
            capabilities=capabilities,
        )

    def pools(self) -> list[Pool]:
        """Total is the option's, free what the sizes of shares leave."""
        self._faults.before("pools")
        promised = self._promised()
        return [
            Pool(
                name=pool.name,
                total=pool.total,
                free=max(0.0, pool.total - promised.get(pool.name, 0)),
                allocated=float(promised.get(pool.name, 0)),
                provisioned=float(promised.get(pool.name, 0)),
                thin_provisioning=pool.thin,
            )
            for pool in self._pools
        ]

    def create(self, share: ShareRef) -> list[Export]:
        """See the contract; a thick pool that is full raises DriverError."""
        with self._call("create", share):
            return self._create(share, content="", used=0)

    def delete(self, share: ShareRef) -> None:
        """See the contract."""
        with self._call("delete", share):
            self.state.remove(SHARES, share.id)

    def ensure(self, share: ShareRef) -> list[Export]:
        """The exports; ShareLost where the record is gone."""
        with self._call("ensure", share):
            self._share(share.id)
            return self._exports(share)

    def apply_access(self, share: ShareRef, change: AccessChange) -> AccessResult:
        """Keep the rules whose type the protocol has; the others get an error.

        Rules are part of the record: where that is gone, they are.
        """
        with self._call("apply_access", share):
            record = self._share(share.id)
            result = self._judge(share, change.rules)
            rules = _accepted(change.rules, result)
            changed = record["rules"] != rules
            self.state.write(SHARES, share.id, {**record, "rules": rules})
            return dataclasses.replace(result, changed=changed)

    def instances(self) -> dict[str, int]:
        """What the records say."""
        self._faults.before("instances")
        return {record["id"]: record["size"] for record in self.state.all(SHARES)}

    def used(self, ids: Collection[str]) -> dict[str, int]:
        """What the records say."""
        self._faults.before("used")
        records = {record["id"]: record for record in self.state.all(SHARES)}
        return {id: records[id][USED] * GIB for id in ids if id in records}

    def extend(self, share: ShareRef, size: int) -> None:
        """See the contract; a thick pool that is full raises DriverError."""
        with self._call("extend", share):
            record = self._share(share.id)
            with self._room(record["pool"], size - record["size"]):
                self.state.write(SHARES, share.id, {**record, "size": size})

    def shrink(self, share: ShareRef, size: int) -> None:
        """See the contract; what is used says the record."""
        with self._call("shrink", share):
            record = self._share(share.id)
            if record[USED] > size:
                raise errors.ShrinkWouldLoseData(
                    f"The share holds {record[USED]} GiB, more than {size} GiB."
                )
            self.state.write(SHARES, share.id, {**record, "size": size})

    def update_metadata(self, share: ShareRef, metadata: Mapping[str, str]) -> None:
        """Note it in the record: the dummy knows every key."""
        with self._call("update_metadata", share):
            record = self._share(share.id)
            known = {**record.get(METADATA, {}), **metadata}
            self.state.write(SHARES, share.id, {**record, METADATA: known})

    def create_snapshot(self, snapshot: SnapshotRef) -> str | None:
        """Copy the record of the share."""
        with self._call("create_snapshot", snapshot.share, snapshot.id):
            if self.state.read(SNAPSHOTS, snapshot.id) is None:
                share = self._share(snapshot.share.id)
                kept = {key: share[key] for key in ("size", USED, CONTENT)}
                record = {**kept, "id": snapshot.id, "share": share["id"], "rules": []}
                self.state.write(SNAPSHOTS, snapshot.id, record)
            return f"/snapshots/{snapshot.id}"

    def delete_snapshot(self, snapshot: SnapshotRef) -> None:
        """See the contract."""
        with self._call("delete_snapshot", snapshot.share, snapshot.id):
            self.state.remove(SNAPSHOTS, snapshot.id)

    def create_from_snapshot(self, share: ShareRef, snapshot: SnapshotRef) -> list[Export]:
        """A share with the snapshot's content."""
        with self._call("create_from_snapshot", share):
            source = self._snapshot(snapshot.id)
            return self._create(share, content=source[CONTENT], used=source[USED])

    def revert(self, snapshot: SnapshotRef) -> None:
        """Bring content and size of the share back."""
        with self._call("revert", snapshot.share):
            source = self._snapshot(snapshot.id)
            kept = {key: source[key] for key in ("size", USED, CONTENT)}
            record = {**self._share(snapshot.share.id), **kept}
            self.state.write(SHARES, snapshot.share.id, record)

    def snapshot_exports(self, snapshot: SnapshotRef) -> list[Export]:
        """As those of a share."""
        with self._call("snapshot_exports", snapshot.share, snapshot.id):
            self._snapshot(snapshot.id)
            return self._locations(snapshot.share.protocol, f"snapshot-{snapshot.id}")

    def apply_snapshot_access(self, snapshot: SnapshotRef, change: AccessChange) -> AccessResult:
        """As :meth:`apply_access`."""
        with self._call("apply_snapshot_access", snapshot.share, snapshot.id):
            record = self._snapshot(snapshot.id)
            result = self._judge(snapshot.share, change.rules)
            record["rules"] = _accepted(change.rules, result)
            self.state.write(SNAPSHOTS, snapshot.id, record)
            return result

    @contextlib.contextmanager
    def _call(self, operation: str, share: ShareRef, id: str | None = None) -> Iterator[None]:
        """One call on a resource (a share, or the snapshot *id* of it): alone, slow, failing."""
        with self.state.hold(operation, id or share.id):
            start = time.time()
            if self.conf.dummy_record_calls:
                self.state.note("begun", {"operation": operation, "id": id or share.id})
            try:
                self._faults.before(operation, share)
                yield
                self._faults.after(operation, share)
            finally:
                if self.conf.dummy_record_calls:
                    times = {"start": start, "end": time.time()}
                    call = {"operation": operation, "id": id or share.id, **times}
                    self.state.note("calls", call)

    def _create(self, share: ShareRef, content: str, used: int) -> list[Export]:
        pool = self._pool(share.pool)
        wanted = {"size": share.size, "protocol": share.protocol, "pool": pool.name}
        record = self.state.read(SHARES, share.id)
        if record is not None:
            if any(record[key] != value for key, value in wanted.items()):
                raise errors.ShareExistsDifferently(
                    operator_text=f"Share {share.id} exists as {record}, wanted is {wanted}."
                )
            return self._exports(share)
        facts: Record = {"id": share.id, "project_id": share.project_id, "rules": []}
        facts |= {USED: used, CONTENT: content, MOUNT_POINT: share.mount_point_name}
        with self._name(share), self._room(pool.name, share.size):
            self.state.write(SHARES, share.id, {**facts, **wanted})
        return self._exports(share)

    def _pool(self, name: str | None) -> DummyPool:
        for pool in self._pools:
            if name in (None, pool.name):
                return pool
        raise errors.DriverError(operator_text=f"There is no pool {name!r}.")

    @contextlib.contextmanager
    def _name(self, share: ShareRef) -> Iterator[None]:
        """Keep others from taking the mount point name of the share meanwhile."""
        name = share.mount_point_name
        if not name:
            yield
            return
        with lock_file(self.state.root / "names.lock"):
            taken = {record.get(MOUNT_POINT): record["id"] for record in self.state.all(SHARES)}
            if name in taken:
                raise errors.DriverError(
                    "The mount point name belongs to another share.",
                    f"Share {taken[name]} is exported as {name}.",
                )
            yield

    @contextlib.contextmanager
    def _room(self, pool: str, more: int) -> Iterator[None]:
        """Keep others from taking the room of *more* GiB in a thick pool meanwhile."""
        if more <= 0 or self._pool(pool).thin:
            yield
            return
        with lock_file(self.state.root / "room.lock"):
            if self._promised().get(pool, 0) + more > self._pool(pool).total:
                raise errors.DriverError(
                    "The back end has no room for this size.",
                    f"Pool {pool} has no room for {more} GiB.",
                )
            yield

    def _promised(self) -> dict[str, int]:
        """Sum of the sizes of shares, by pool."""
        sums: dict[str, int] = {}
        for record in self.state.all(SHARES):
            sums[record["pool"]] = sums.get(record["pool"], 0) + record["size"]
        return sums

    def _share(self, id: str) -> Record:
        record = self.state.read(SHARES, id)
        if record is None:
            raise errors.ShareLost(operator_text=f"Share {id} is not on the back end.")
        return record

    def _snapshot(self, id: str) -> Record:
        record = self.state.read(SNAPSHOTS, id)
        if record is None:
            raise errors.DriverError(operator_text=f"Snapshot {id} is not on the back end.")
        return record

    def _judge(self, share: ShareRef, rules: tuple[AccessRule, ...]) -> AccessResult:
        """An error for each rule that cannot be enforced, a key for each cephx one."""
        types = self.conf.dummy_access_types.get(share.protocol.upper(), "ip").split()
        refused = self._faults.refused(share, rules)
        results: dict[str, RuleResult] = {}
        for rule in rules:
            if rule.id in refused:
                results[rule.id] = RuleResult(error=refused[rule.id])
            elif rule.type not in types:
                text = f"Access type {rule.type} is not offered for {share.protocol}."
                results[rule.id] = RuleResult(error=text)
            elif rule.type == "cephx":
                results[rule.id] = self._cephx(share, rule.to)
        return AccessResult(results)

    def _cephx(self, share: ShareRef, identity: str) -> RuleResult:
        """The key of an identity; none for the back end's own, and for another project's."""
        owner = self._owner(identity)
        if identity == self.conf.dummy_cephx_identity or owner not in (None, share.project_id):
            error = f"The identity {identity} is not this project's to use."
            return RuleResult(error=error, forbidden=True)
        return RuleResult(key=f"dummy-key-of-{identity}")

    def _owner(self, identity: str) -> str | None:
        """The project whose shares an identity is admitted to; None: nobody's."""
        for record in self.state.all(SHARES):
            rules = record.get("rules", ())
            if any(rule["type"] == "cephx" and rule["to"] == identity for rule in rules):
                return str(record.get("project_id"))
        return None

    def _exports(self, share: ShareRef) -> list[Export]:
        return self._locations(share.protocol, share.mount_point_name or f"share-{share.id}")

    def _locations(self, protocol: str, name: str) -> list[Export]:
        """One location at each address for tenants, and one for administrators."""
        form = "\\\\{}\\{}" if protocol.upper() == "CIFS" else "{}:/shares/{}"
        addresses = self.conf.dummy_export_addresses
        exports = [
            Export(form.format(address, name), preferred=not index)
            for index, address in enumerate(addresses)
        ]
        admin = Export(form.format(addresses[0], f"admin-{name}"), admin_only=True)
        return [*exports, admin]


def _accepted(rules: tuple[AccessRule, ...], result: AccessResult) -> list[Record]:
    """The rules that got no error, as a record keeps them."""
    nothing = RuleResult()
    return [
        {"id": rule.id, "type": rule.type, "to": rule.to, "level": rule.level}
        for rule in rules
        if result.rules.get(rule.id, nothing).error is None
    ]
