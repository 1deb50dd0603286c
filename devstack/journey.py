"""What the service is for, step by step, with an unmodified client and a real NFS client."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from devstack import clients, waiting
from devstack.osc import Client, ClientFailed
from tests.fixtures.nfs_client import REFUSED, NfsClient

TYPE = "default"
FILE = "/hello.txt"
TEXT = b"A file in a share.\n"
# The last number of the addresses of the two client machines.
GRANTED, STRANGER = 2, 3


class StepFailed(SystemExit):
    """A step did not do what it should."""


class Journey:
    """The main job once: a share made, granted, used, grown, revoked and deleted."""

    def __init__(self, client: Client, nfs_port: int) -> None:
        self.client = client
        self.nfs_port = nfs_port
        self.share = f"quickstart-{uuid.uuid4().hex[:6]}"
        self.rule = ""
        self.number = 0

    def run(self) -> None:
        """Run all steps; StepFailed at the first that does not pass."""
        granted, stranger = clients.address(GRANTED), clients.address(STRANGER)
        self.step("a share type", self.make_type)
        self.step("openstack share create NFS 1", self.create)
        self.step("the share is available", lambda: self.await_status("available"))
        self.step(f"openstack share access create … ip {granted}", self.grant)
        self.step(f"{granted} writes a file over NFS and reads it back", self.use)
        self.step(f"{stranger} is refused", lambda: self.refused(STRANGER))
        self.step("openstack share resize … 2", self.extend)
        self.step("openstack share access delete …", self.revoke)
        self.step(f"{granted} is refused", lambda: self.refused(GRANTED))
        self.step("openstack share delete …", self.delete)

    def step(self, what: str, action: Callable[[], str]) -> None:
        """Do one step and say what came of it and how long it took."""
        self.number += 1
        began = time.monotonic()
        try:
            outcome = action()
        except (StepFailed, ClientFailed, OSError, RuntimeError) as error:
            raise StepFailed(f"{self.number:3}. {what}: FAILED\n{error}") from error
        seconds = time.monotonic() - began
        print(f"{self.number:3}. {what:58} {outcome:24} {seconds:5.1f} s", flush=True)

    def until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        if not waiting.until(ready):
            raise StepFailed(f"{what} in time")

    def make_type(self) -> str:
        """Make the default share type unless it is there."""
        if any(kind["Name"] == TYPE for kind in self.client.ask("share", "type", "list")):
            return f"{TYPE} is there"
        self.client.do("share", "type", "create", TYPE, "false")
        return f"{TYPE} is made"

    def create(self) -> str:
        """Ask for a share of 1 GiB."""
        made = self.client.ask(
            "share", "create", "NFS", "1", "--name", self.share, "--share-type", TYPE
        )
        return str(made["status"])

    def await_status(self, wanted: str) -> str:
        """Wait until the share has a status."""
        seen: list[str] = [""]

        def ready() -> bool:
            seen[0] = self.client.ask("share", "show", self.share)["status"]
            if seen[0].startswith("error"):
                messages = self.client.do("share", "message", "list")
                raise StepFailed(f"the share is {seen[0]}:\n{messages}")
            return seen[0] == wanted

        self.until(ready, f"the share is not {wanted}")
        return seen[0]

    def grant(self) -> str:
        """Let the first client machine in."""
        made = self.client.ask(
            "share", "access", "create", self.share, "ip", clients.address(GRANTED)
        )
        self.rule = made["id"]

        def ready() -> bool:
            return bool(self.rules().get(self.rule) == "active")

        self.until(ready, "the rule is not active")
        return "active"

    def rules(self) -> dict[str, str]:
        """States of the share's access rules by id."""
        found = self.client.ask("share", "access", "list", self.share)
        return {rule["ID"]: rule["State"] for rule in found}

    def mount(self, number: int) -> NfsClient:
        """Mount the share on a client machine."""
        location = self.client.ask("share", "export", "location", "list", self.share)[0]["Path"]
        host, _, path = location.partition(":")
        return NfsClient(host, path, port=self.nfs_port, namespace=clients.client(number))

    def use(self) -> str:
        """Write a file and read it back with a second mount."""
        with self.mount(GRANTED) as client:
            client.write(FILE, TEXT)
        with self.mount(GRANTED) as client:
            got = client.read(FILE)
        if got != TEXT:
            raise StepFailed(f"read {got!r} where {TEXT!r} was written")
        return f"{len(TEXT)} bytes, the same"

    def refused(self, number: int) -> str:
        """Try to mount where no rule lets in."""
        try:
            self.mount(number).close()
        except OSError as error:
            if error.errno in REFUSED:
                return "no such export for it"
            raise StepFailed(f"the mount failed for another reason: {error}") from error
        raise StepFailed(f"{clients.address(number)} could mount the share")

    def extend(self) -> str:
        """Grow the share to 2 GiB."""
        self.client.do("share", "resize", self.share, "2")

        def ready() -> bool:
            found = self.client.ask("share", "show", self.share)
            return bool(found["status"] == "available" and found["size"] == 2)  # noqa: PLR2004  (GiB)

        self.until(ready, "the share has not grown")
        return "2 GiB"

    def revoke(self) -> str:
        """Take the rule back."""
        self.client.do("share", "access", "delete", self.share, self.rule)
        self.until(lambda: self.rule not in self.rules(), "the rule is still there")
        return "gone"

    def delete(self) -> str:
        """Delete the share and wait until it is gone."""
        self.client.do("share", "delete", self.share)

        def gone() -> bool:
            return all(share["Name"] != self.share for share in self.client.ask("share", "list"))

        self.until(gone, "the share is still there")
        return "gone"
