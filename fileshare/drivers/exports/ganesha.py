"""Exports of a back end through NFS-Ganesha, for several processes at once.

The truth is on disk: ``exports.d/KEY.conf`` holds an export with its clients, ``ids/ID`` points to
the key that has the id, and ``exports.conf`` includes all exports, so whoever starts Ganesha
brings back the same exports with the same clients and ids.  A change goes to the files first and
then over the bus, which acts at once and leaves no gap for clients that stay.
"""

from __future__ import annotations

import contextlib
import functools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from fileshare import errors
from fileshare.drivers.exports.bus import Bus, BusDown
from fileshare.drivers.exports.config import (
    Client,
    Exported,
    Settings,
    clients_of,
    export_text,
    index_text,
    parse_export,
)
from fileshare.drivers.exports.server import Server
from fileshare.drivers.files import lock_file, write_whole
from fileshare.drivers.names import checked_id, checked_path

IDS = 65000
"""Export ids are 16 bits wide; 0 is the root's."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _served(
    method: Callable[Concatenate[GaneshaExports, Arguments], Result],
) -> Callable[Concatenate[GaneshaExports, Arguments], Result]:
    """A method that holds the lock, and starts Ganesha once where it does not answer."""

    @functools.wraps(method)
    def call(
        self: GaneshaExports, /, *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        with self._alone():
            try:
                return method(self, *arguments, **named)
            except BusDown:
                self._serve()
                return method(self, *arguments, **named)

    return call


class GaneshaExports:
    """The exports under one state directory."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._bus = Bus(settings.bus)
        self._server = Server(settings, self._bus)
        self._directory = settings.state / "exports.d"

    def setup(self) -> None:
        """Make the files, start or adopt Ganesha, and make it hold what the files say.

        Raises PrivilegeMissing where a program is missing, BackendBusy where it does not start.
        """
        checked_path(str(self.settings.state))
        own = self.settings.bus_address is None
        if own:
            self._server.require()
        for directory in (self._directory, self.settings.state / "ids"):
            directory.mkdir(parents=True, exist_ok=True)
        with self._alone():
            if own:
                self._server.configure()
            self._write_index()
            self._serve()
            self._reconcile()

    def check(self) -> None:
        """Raise BackendBusy where Ganesha does not answer; a dead one of our own is started."""
        if not self._bus.alive():
            with self._alone():
                self._serve()

    def close(self) -> None:
        """Let go of the bus; Ganesha goes on serving."""
        self._bus.close()

    def end(self) -> None:
        """End a Ganesha of our own: clients are cut off.  One that never ran is fine."""
        if not self.settings.state.is_dir():
            return
        with self._alone():
            self._server.end()

    @_served
    def put(self, key: str, path: str, pseudo: str) -> None:
        """Export *path* under *pseudo*.

        A new export is for nobody; one that is there keeps its clients.
        """
        old = self._read(key)
        if old is not None and (old.path, old.pseudo) != (path, pseudo):
            self._take_away(old)
            old = None
        clients = () if old is None else old.clients
        id = self._free_id(key) if old is None else old.id
        self._write(Exported(key, id, checked_path(path), checked_path(pseudo), clients), old)
        self._bus.put(str(self._file(key)), id)

    @_served
    def allow(self, key: str, clients: Iterable[Client]) -> None:
        """Make *clients* those of the export; raises DriverError where there is no such."""
        old = self._must(key)
        new = Exported(key, old.id, old.path, old.pseudo, tuple(sorted(clients)))
        self._write(new, old)
        self._bus.put(str(self._file(key)), old.id)

    @_served
    def remove(self, key: str) -> None:
        """Take the export away with its clients; one that is not there is fine."""
        old = self._read(key)
        if old is not None:
            self._take_away(old)
        self._forget_ids(key)

    @_served
    def hide(self, key: str) -> None:
        """Let Ganesha forget an export for now: its clients are cut off until :meth:`ensure`."""
        self._bus.remove(self._must(key).id)

    @_served
    def ensure(self, key: str) -> None:
        """Bring back an export, or clients of it, that Ganesha has lost."""
        export = self._must(key)
        told = self._bus.clients(export.id)
        if told is None or clients_of(told) != set(export.clients):
            self._bus.put(str(self._file(key)), export.id)

    @_served
    def enforced(self, key: str) -> set[Client]:
        """The clients of an export as Ganesha says; none where it has no such export."""
        export = self._read(key)
        told = None if export is None else self._bus.clients(export.id)
        return set() if told is None else clients_of(told)

    def wanted(self, key: str) -> tuple[Client, ...]:
        """The clients of an export as its file says."""
        return self._must(key).clients

    def __contains__(self, key: str) -> bool:
        return self._file(key).exists()

    def keys(self) -> set[str]:
        """Keys of all exports; none before the first :meth:`setup`."""
        if not self._directory.exists():
            return set()
        with os.scandir(self._directory) as entries:
            return {entry.name[:-5] for entry in entries if entry.name.endswith(".conf")}

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with lock_file(self.settings.state / "exports.lock"):
            yield

    def _serve(self) -> None:
        """See that Ganesha answers."""
        if self.settings.bus_address is None:
            self._server.start()
        elif not self._bus.alive():
            text = f"No NFS-Ganesha on {self.settings.bus_address}; start it."
            raise errors.BackendBusy(operator_text=text)

    def _reconcile(self) -> None:
        """Give a Ganesha that runs what it lacks; take from one of our own what is not known."""
        known = {export.id: export for export in map(self._must, self.keys())}
        live = self._bus.ids()
        for id in known.keys() - live:
            with contextlib.suppress(errors.DriverError):  # its directory is missing, say
                self._bus.put(str(self._file(known[id].key)), id)
        if self.settings.bus_address is None:
            for id in live - known.keys():
                self._bus.remove(id)

    def _take_away(self, export: Exported) -> None:
        """Its file goes last: until then a repeated call finds what is left to do."""
        self._write_index(without=export.key)
        self._bus.remove(export.id)
        self._file(export.key).unlink(missing_ok=True)
        self._slot(export.id).unlink(missing_ok=True)

    def _write(self, export: Exported, old: Exported | None) -> None:
        """The file of an export, when it changes, and the index, when it is new."""
        if export != old:
            write_whole(self._file(export.key), export_text(export))
        if old is None:
            self._write_index()

    def _write_index(self, without: str | None = None) -> None:
        """The index; it need not survive a power failure, since each start writes it."""
        files = [str(self._file(key)) for key in sorted(self.keys() - {without})]
        write_whole(self.settings.state / "exports.conf", index_text(files), durable=False)

    def _read(self, key: str) -> Exported | None:
        try:
            return parse_export(key, self._file(key).read_text())
        except FileNotFoundError:
            return None

    def _must(self, key: str) -> Exported:
        export = self._read(key)
        if export is None:
            raise errors.DriverError(operator_text=f"There is no export {key}.")
        return export

    def _free_id(self, key: str) -> int:
        """An id for a new export: the one that the key leads to, or the next that is free."""
        first = zlib.crc32(key.encode()) % IDS
        for step in range(IDS):
            id = (first + step) % IDS + 1
            try:
                self._slot(id).symlink_to(key)
            except FileExistsError:
                if str(self._slot(id).readlink()) != key:
                    continue
            if self.settings.bus_address is None or self._bus.clients(id) is None:
                return id
        raise errors.DriverError(operator_text=f"All {IDS} export ids are in use.")

    def _forget_ids(self, key: str) -> None:
        """Free what a call that was killed before it wrote the export has kept."""
        first = zlib.crc32(key.encode()) % IDS
        for step in range(IDS):
            slot = self._slot((first + step) % IDS + 1)
            if not slot.is_symlink():
                return
            if str(slot.readlink()) == key:
                slot.unlink()

    def _slot(self, id: int) -> Path:
        return self.settings.state / "ids" / str(id)

    def _file(self, key: str) -> Path:
        return self._directory / f"{checked_id(key)}.conf"
