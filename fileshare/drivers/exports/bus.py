"""What is said to a running NFS-Ganesha over its message bus."""

from __future__ import annotations

import threading
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, MessageType, new_method_call
from jeepney.bus import get_bus
from jeepney.io.blocking import DBusConnection, prep_socket

from fileshare import errors
from fileshare.drivers.exports.config import Client

NAME = "org.ganesha.nfsd"
TIMEOUT = 10.0

_EXPORTS = DBusAddress("/org/ganesha/nfsd/ExportMgr", NAME, "org.ganesha.nfsd.exportmgr")

WRITE = 0x40
"""The bit of a client's options that lets it write."""

_UNKNOWN = ("not found", "lookup_export failed")


class BusDown(errors.BackendBusy):
    """Nobody answers: the bus, or Ganesha on it, is not there."""


class Bus:
    """A connection to the bus, made when it is needed and shared by threads."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._connection: DBusConnection | None = None

    def close(self) -> None:
        """Let go of the connection; the next call makes another."""
        with self._lock:
            self._drop()

    def alive(self) -> bool:
        """Whether Ganesha answers.

        It is on the bus before it listens for clients, but answers only afterwards.
        """
        try:
            self.clients(0)
        except BusDown:
            return False
        return True

    def put(self, path: str, id: int) -> None:
        """Make export *id* what its file says: a new one, or an update without a gap."""
        self._exports("UpdateExport", "ss", path, f"EXPORT(Export_Id={id})")

    def remove(self, id: int) -> None:
        """Take the export away; one that is not there is fine."""
        try:
            self._exports("RemoveExport", "q", id)
        except errors.DriverError as error:
            if isinstance(error, BusDown) or not _is_unknown(error):
                raise

    def ids(self) -> set[int]:
        """Ids of all exports, without that of the root."""
        _, exports = self._exports("ShowExports", None)
        return {export[0] for export in exports} - {0}

    def clients(self, id: int) -> list[Client] | None:
        """The clients of an export as Ganesha knows them, or None where there is no such."""
        try:
            _, _, _, _, clients = self._exports("DisplayExport", "q", id)
        except errors.DriverError as error:
            if isinstance(error, BusDown) or not _is_unknown(error):
                raise
            return None
        return [(row[0], "rw" if row[-2] & WRITE else "ro") for row in clients]

    def _exports(self, method: str, signature: str | None, *arguments: Any) -> Any:
        return self._call(new_method_call(_EXPORTS, method, signature, arguments))

    def _call(self, message: Any) -> Any:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connected(self.address)
                reply = self._connection.send_and_get_reply(message, timeout=TIMEOUT)
            except (OSError, EOFError, TimeoutError, DBusErrorResponse) as error:
                self._drop()
                raise BusDown(operator_text=f"No answer on {self.address}: {error!r}") from error
        if reply.header.message_type == MessageType.error:
            raise _failure(reply)
        return reply.body

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connected(address: str) -> DBusConnection:
    """A connection to the bus; its socket is closed when the bus goes away meanwhile."""
    channel = prep_socket(get_bus(address), timeout=TIMEOUT)
    try:
        return DBusConnection(channel)
    except BaseException:
        channel.close()
        raise


def _failure(reply: Any) -> errors.DriverError:
    name = next(
        (value for key, value in reply.header.fields.items() if key.name == "error_name"), ""
    )
    text = f"{name}: {' '.join(str(part) for part in reply.body)}"
    if name.endswith((".ServiceUnknown", ".NameHasNoOwner", ".NoReply")):
        return BusDown(operator_text=text)
    return errors.DriverError(operator_text=f"NFS-Ganesha refused: {text}")


def _is_unknown(error: errors.DriverError) -> bool:
    return any(word in error.operator_text for word in _UNKNOWN)
