"""The first ten minutes: `quickstart.sh` calls this once everything is installed."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import time
from pathlib import Path

from devstack import clients, control, settings, waiting
from devstack.journey import Journey
from devstack.osc import Client
from devstack.servers import HOST, free_port
from devstack.supervisor import Program

RUN = Path(os.environ.get("FILESHARE_QUICKSTART") or settings.ROOT / "devstack" / ".quickstart")
NAME = "fileshare-standalone"


def configure(port: int, nfs_port: int) -> Path:
    """Write the configuration; return its path."""
    text = f"""[DEFAULT]
host = quickstart
my_ip = {HOST}
state_path = {RUN / "state"}
enabled_share_backends = local
enabled_share_protocols = NFS
default_share_type = default
osapi_share_listen = {HOST}
osapi_share_listen_port = {port}
auth_strategy = tokens

[api]
tokens_file = {RUN / "state" / "tokens.json"}

[database]
connection = sqlite:///{RUN / "state" / "fileshare.db"}

[coordination]
backend_url = file://{RUN / "state" / "coordination"}

[oslo_concurrency]
lock_path = {RUN / "state" / "locks"}
"""
    text += settings.local_section(RUN / "local", clients.GATEWAY, nfs_port)
    (RUN / "state" / "locks").mkdir(parents=True, exist_ok=True)
    path = RUN / "fileshare.conf"
    path.write_text(text)
    return path


def nfs_port() -> int:
    """The port of NFS: its own where that is free, and always the one of the first run."""
    record = RUN / "nfs-port"
    if not record.exists():
        record.write_text(str(free_port() if settings.listening(2049) else 2049))
    return int(record.read_text())


def api_port(asked: int | None) -> int:
    """The port of the API: the one asked for, that of the first run, or the usual one."""
    record = RUN / "api-port"
    if asked is None:
        asked = int(record.read_text()) if record.exists() else 8786
    RUN.mkdir(mode=0o700, parents=True, exist_ok=True)
    record.write_text(str(asked))
    return asked


def start(port: int) -> None:
    """Start the service unless it runs, and wait until it answers."""
    if not control.alive(RUN):
        settings.check_port(port, "--port")
    clients.network()
    configuration = configure(port, nfs_port())
    control.ensure(RUN)
    command = [str(Path(sys.executable).parent / NAME), "--config-file", str(configuration)]
    control.add(RUN, Program(NAME, command, settings.digest(configuration)))
    if not waiting.until(lambda: settings.listening(port)):
        raise SystemExit(f"{NAME} does not answer; its log is {RUN}/log/{NAME}.log")
    keep_tokens(port)


def keep_tokens(port: int) -> None:
    """Write the tokens, which the service says once, into files that a shell can source."""
    log = (RUN / "log" / f"{NAME}.log").read_text(errors="replace")
    for user, token in re.findall(r"^token of (\w+): (\S+)$", log, re.MULTILINE):
        path = RUN / ("openrc" if user == "admin" else f"openrc-{user}")
        path.touch(mode=0o600)
        path.write_text(
            "unset OS_AUTH_URL OS_USERNAME OS_PASSWORD OS_PROJECT_NAME OS_CLOUD\n"
            "export OS_AUTH_TYPE=admin_token\n"
            f"export OS_TOKEN={token}\n"
            f"export OS_ENDPOINT=http://{HOST}:{port}/v2\n",
        )


def await_back_end(client: Client) -> None:
    """Wait until the back end has reported; say what the log says when it does not."""
    if not waiting.until(lambda: client.ask("share", "pool", "list")):
        path = RUN / "log" / f"{NAME}.log"
        errors = [line for line in path.read_text().splitlines() if " ERROR " in line]
        raise SystemExit("\n".join(["The back end does not report:", *errors[-3:], str(path)]))


def stop(*, purge: bool) -> None:
    """Stop the service, NFS and the client machines; with `purge` remove the data."""
    control.end(RUN)
    clients.clear()
    if purge:
        shutil.rmtree(RUN, ignore_errors=True)
    print("Stopped." if not purge else "Stopped, and the data is removed.")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="quickstart.sh")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--purge", action="store_true")
    parser.add_argument("--port", type=int)
    arguments = parser.parse_args()
    if arguments.stop or arguments.purge:
        stop(purge=arguments.purge)
        return
    began = time.monotonic()
    port = api_port(arguments.port)
    try:
        start(port)
    except settings.PortTaken as error:
        raise SystemExit(f"quickstart.sh: {error}") from error
    print(f"     {NAME:58} answers                  {time.monotonic() - began:5.1f} s", flush=True)
    with Client(settings.exports(RUN / "openrc")) as client:
        await_back_end(client)
        Journey(client, nfs_port()).run()
    print(f"\nAll steps passed in {time.monotonic() - began:.0f} s.")
    if arguments.once:
        stop(purge=False)
        return
    programs = Path(sys.executable).parent
    print(
        f"The service runs at http://{HOST}:{port}/v2\n"
        f"  Use it   source {RUN}/openrc && {programs}/openstack share list\n"
        f"           (openrc is the administrator, openrc-user an ordinary user)\n"
        f"  Log      {RUN}/log/{NAME}.log\n"
        f"  Stop     bash devstack/quickstart.sh --stop   (--purge removes the data too)\n"
        f"  Read on  README.md, doc/source",
    )


if __name__ == "__main__":
    main()
