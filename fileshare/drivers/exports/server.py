"""The NFS-Ganesha of a back end: started once, adopted by whoever comes later.

It and its message bus outlive the process that started them, so a restart of the control plane
cuts no client.  Who finds them dead starts them again; the caller holds the lock of the exports,
so two processes never start two.
"""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path

from oslo_concurrency import processutils

from fileshare import errors
from fileshare.drivers.exports.bus import Bus
from fileshare.drivers.exports.config import Settings, bus_text, server_text
from fileshare.drivers.files import write_whole
from fileshare.privileged import servers

LOG = logging.getLogger(__name__)

START_SECONDS = 20.0
START_SECONDS_FOR_EACH_EXPORT = 0.1
START_PAUSE = 0.01

_PLUGINS = (
    "/usr/lib/{machine}-linux-gnu/ganesha",
    "/usr/lib64/ganesha",
    "/usr/lib/ganesha",
)


class Server:
    """Ganesha and its bus, by their files under the settings' state directory."""

    def __init__(self, settings: Settings, bus: Bus) -> None:
        self._settings = settings
        self._bus = bus
        state = settings.state
        self._config = str(state / "ganesha.conf")
        self._bus_config = str(state / "dbus.conf")
        self._log = state / "log" / "ganesha.log"
        self._pid_file = state / "run" / "ganesha.pid"
        self._lock = state / "run" / "ganesha.lock"
        self._bus_pid_file = state / "run" / "bus.pid"

    def require(self) -> None:
        """Raise PrivilegeMissing, which names it, where a program is not installed."""
        missing = [name for name in ("ganesha.nfsd", "dbus-daemon") if shutil.which(name) is None]
        if missing or _plugins() is None:
            names = ", ".join(missing) or "the VFS plug-in"
            raise errors.PrivilegeMissing(
                operator_text=(
                    f"Not found: {names}. Install NFS-Ganesha with its VFS plug-in (packages "
                    "nfs-ganesha, nfs-ganesha-vfs) and dbus-daemon, or name the bus of a Ganesha "
                    "that runs."
                )
            )

    def configure(self) -> None:
        """Write the configuration files; a Ganesha that runs with others is ended."""
        for name in ("run", "log", "recovery"):
            (self._settings.state / name).mkdir(mode=0o700, exist_ok=True)
        # Ours, though root takes it: its umask may keep everyone else out.
        self._lock.touch(mode=0o600)
        texts = {
            Path(self._bus_config): bus_text(self._settings),
            Path(self._config): server_text(self._settings, _plugins() or ""),
        }
        if any(not path.exists() or path.read_text() != text for path, text in texts.items()):
            self.end()
            for path, text in texts.items():
                write_whole(path, text)

    def running(self) -> bool:
        """Whether Ganesha is alive and answers."""
        return self._pid() is not None and self._bus.alive()

    def start(self) -> None:
        """See that both run: a live pair is adopted, a half dead one is started anew."""
        if self.running() or (self._lives() and self._comes_up()):
            return
        self.end()
        LOG.info("Starting NFS-Ganesha with %s", self._config)
        try:
            servers.start_bus(self._bus_config)
            servers.start_ganesha(
                self._config,
                str(self._log),
                str(self._pid_file),
                str(self._lock),
                self._settings.bus,
                self._settings.namespace,
            )
        except (OSError, processutils.ProcessExecutionError) as error:
            raise errors.BackendBusy(
                operator_text=f"NFS-Ganesha did not start: {error}"
            ) from error
        if not self._comes_up():
            raise errors.BackendBusy(
                operator_text=f"NFS-Ganesha did not start: {self._complaint()}"
            )

    def end(self) -> None:
        """End both, whatever is left of them."""
        self._bus.close()
        servers.end(self._config, _read_pid(self._pid_file), str(self._lock))
        servers.end(self._bus_config, _read_pid(self._bus_pid_file))
        (self._settings.state / "run" / "bus").unlink(missing_ok=True)
        self._bus_pid_file.unlink(missing_ok=True)

    def _comes_up(self) -> bool:
        """Wait until Ganesha answers; False when it dies or takes too long."""
        started = time.monotonic()
        exports = sum(1 for _ in (self._settings.state / "ids").iterdir())
        patience = START_SECONDS + START_SECONDS_FOR_EACH_EXPORT * exports
        while time.monotonic() - started < patience:
            if self._pid() is not None and self._bus.alive():
                return True
            if not self._lives():
                return False
            time.sleep(START_PAUSE)
        return False

    def _lives(self) -> bool:
        """Whether Ganesha is alive, or about to start and without a pid."""
        # Where it was started by a version that knew no lock, there is its pid alone.
        return servers.held(str(self._lock)) or self._pid() is not None

    def _pid(self) -> int | None:
        """Pid of our Ganesha, when it is alive."""
        pid = _read_pid(self._pid_file)
        return pid if pid is not None and servers.serves(pid, self._config) else None

    def _complaint(self) -> str:
        """The last serious lines of Ganesha's log."""
        try:
            lines = self._log.read_text(errors="replace").splitlines()[-200:]
        except FileNotFoundError:
            return "it left no log"
        grave = [line for line in lines if ":FATAL " in line or ":CRIT " in line]
        return " | ".join(grave[-3:]) or "its log has no reason"


def _read_pid(path: Path) -> int | None:
    try:
        return int(path.read_text().split()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _plugins() -> str | None:
    """The directory of Ganesha's plug-ins."""
    import platform  # noqa: PLC0415  (used once, at start)

    for pattern in _PLUGINS:
        path = Path(pattern.format(machine=platform.machine()))
        if (path / "libfsalvfs.so").exists():
            return str(path)
    return None
