"""The local driver where the file system is btrfs: snapshots, and what is made of them."""

from __future__ import annotations

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.local.driver import LocalDriver, clients_of_rules, told
from fileshare.drivers.local.volumes import Subvolumes, Volumes
from fileshare.drivers.model import AccessChange, AccessResult, Export, ShareRef, SnapshotRef


class BtrfsDriver(
    LocalDriver,
    base.Snapshots,
    base.CloneFromSnapshot,
    base.Revertible,
    base.MountableSnapshots,
):
    """Snapshots and clones are read-only and writable subvolumes; they cost what changes."""

    def create_snapshot(self, snapshot: SnapshotRef) -> str | None:
        """A read-only subvolume."""
        with told(f"create snapshot {snapshot.id}"):
            self._must(snapshot.share.id)
            self._subvolumes.take(snapshot.share.id, snapshot.id)
            return snapshot.id

    def delete_snapshot(self, snapshot: SnapshotRef) -> None:
        """The export, then the subvolume."""
        with told(f"delete snapshot {snapshot.id}"):
            self.exports.remove(snapshot.id)
            self._subvolumes.drop(snapshot.id)

    def create_from_snapshot(self, share: ShareRef, snapshot: SnapshotRef) -> list[Export]:
        """A writable copy, at once whatever its size."""
        with told(f"create share {share.id} from snapshot {snapshot.id}"):
            self._must_snapshot(snapshot.id)
            record = self._begin(share)
            self._subvolumes.clone(share.id, record["size"], snapshot.id)
            return self._publish(share)

    def revert(self, snapshot: SnapshotRef) -> None:
        """Exchange the share for a copy of the snapshot; clients must open their files again."""
        share = snapshot.share
        with told(f"revert share {share.id} to snapshot {snapshot.id}"):
            self._must_snapshot(snapshot.id)
            record = self._must(share.id)
            try:
                self.exports.hide(share.id)
                self._subvolumes.revert(share.id, snapshot.size, snapshot.id)
                self._keep(share.id, {**record, "size": snapshot.size})
            finally:
                # Whatever became of it: nobody else brings the share back before long.
                self._publish(share)
                self.exports.ensure(share.id)

    def snapshot_exports(self, snapshot: SnapshotRef) -> list[Export]:
        """Export the snapshot, to nobody at first."""
        with told(f"export snapshot {snapshot.id}"):
            self._publish_snapshot(snapshot.id)
            return self._locations(snapshot.id)

    def apply_snapshot_access(self, snapshot: SnapshotRef, change: AccessChange) -> AccessResult:
        """As for shares, read only."""
        with told(f"apply access to snapshot {snapshot.id}"):
            self._publish_snapshot(snapshot.id)
            clients, result = clients_of_rules(change.rules)
            self.exports.allow(snapshot.id, [(to, "ro") for to in clients])
            return result

    def _publish_snapshot(self, id: str) -> None:
        self._must_snapshot(id)
        path = self._subvolumes.open_snapshot(id)
        self.exports.put(id, str(path), f"/{id}")

    def _must_snapshot(self, id: str) -> None:
        if not self._subvolumes.has_snapshot(id):
            raise errors.DriverError(operator_text=f"Snapshot {id} is not on the back end.")

    def _choose_volumes(self) -> Volumes:
        volumes = super()._choose_volumes()
        if not isinstance(volumes, Subvolumes):
            text = f"{self._top} is no btrfs; share_driver = local works without."
            raise errors.BadConfiguration(operator_text=text)
        return volumes

    def _open_all(self) -> None:
        """Snapshots that are exported, too."""
        super()._open_all()
        for id in self.exports.keys() - self.instances().keys():
            if self._subvolumes.has_snapshot(id):
                self._subvolumes.open_snapshot(id)

    @property
    def _subvolumes(self) -> Subvolumes:
        if not isinstance(self._volumes, Subvolumes):
            raise errors.BackendBusy(operator_text="The driver is not set up.")
        return self._volumes
