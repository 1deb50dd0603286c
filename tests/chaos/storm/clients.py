"""The clients: each goes through the steps of its plan and writes down what it was told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fileshare.domain.statuses import Status
from tests.chaos.deployment import ADMIN
from tests.chaos.storm.history import Call, History
from tests.chaos.storm.http import Answer, Servers, Unsent
from tests.chaos.storm.known import Known, Rule, Tenant, World, one_of
from tests.chaos.storm.plan import BACKEND, HOST_OF_BACKEND, Step, steps

KEYS = ("colour", "owner", "tier")
LEVELS = ("rw", "ro")
SPEC = "storm:mark"


class Client:
    """One thread of one tenant; its methods are the kinds of operations of the plan."""

    def __init__(
        self, name: str, tenant: Tenant, world: World, servers: Servers, history: History
    ) -> None:
        self.name, self.tenant, self.world = name, tenant, world
        self.servers, self.history = servers, history
        self.step: Step = Step(0, "", 0.0, 0.0, 0.0, "")

    def run(self, seed: str, pace: float, ended: threading.Event) -> None:
        """Do what the plan says until the storm has ended."""
        for step in steps(seed, self.name, pace):
            if ended.wait(step.pause):
                return
            self.step = step
            operation: Callable[[], object] = getattr(self, step.kind)
            try:
                operation()
            except Unsent:
                return

    # -- asking ----------------------------------------------------------------------------
    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        share: str | None = None,
        key: str | None = None,
        value: Any = None,
        admin: bool = False,
    ) -> Answer:
        token = ADMIN if admin else self.tenant.token
        answer = self.servers.ask(method, path, body, token, self.step.node)
        self._write_down(answer, share, key, value)
        return answer

    def _write_down(self, answer: Answer, share: str | None, key: str | None, value: Any) -> None:
        step = self.step
        made = answer.body if isinstance(answer.body, dict) else {}
        if step.kind == "create":
            share = made.get("share", {}).get("id")
        if step.kind in {"allow", "lock", "make_type"} and answer.status == 200:
            name = {"allow": "access", "lock": "resource_lock", "make_type": "share_type"}
            key = made[name[step.kind]]["id"]
        if step.kind == "show" and answer.status == 200:
            value = made["share"]["status"]
        call = Call(
            f"{self.name}-{step.number}",
            step.kind,
            self.tenant.name,
            answer.start,
            answer.end,
            answer.status,
            answer.request_id,
            share,
            key,
            value,
            answer.text,
        )
        self.history.add(call)

    def act(self, share: Known, body: dict[str, Any], **facts: Any) -> Answer:
        return self.ask("POST", f"/shares/{share.id}/action", body, share=share.id, **facts)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.step.number}"

    def mine(self) -> Known | None:
        return self.tenant.pick(self.step.pick)

    # -- shares ----------------------------------------------------------------------------
    def create(self) -> None:
        size = 1 + int(self.step.pick * 3)
        share = {"name": self.id, "size": size, "share_proto": "NFS"}
        kind = one_of(self.world.types, self.step.other) if self.step.other < 0.3 else None
        if kind is not None:
            share["share_type"] = kind
        answer = self.ask("POST", "/shares", {"share": share}, key=self.id, value=size)
        if answer.status == 200:
            self.tenant.learn(answer.body["share"]["id"], size)

    def delete(self) -> None:
        if share := self.mine():
            answer = self.ask("DELETE", f"/shares/{share.id}", share=share.id)
            self._forget(share, answer)

    def force_delete(self) -> None:
        if share := self.mine():
            self._forget(share, self.act(share, {"force_delete": None}, admin=True))

    def _forget(self, share: Known, answer: Answer) -> None:
        if answer.status in {202, 404}:
            self.tenant.forget(share.id)

    def extend(self) -> None:
        if share := self.mine():
            size = share.size + 1 + int(self.step.other * 2)
            self._resize(share, "extend", size)

    def shrink(self) -> None:
        if share := self.mine():
            self._resize(share, "shrink", max(1, share.size - 1 - int(self.step.other * 3)))

    def _resize(self, share: Known, verb: str, size: int) -> None:
        answer = self.act(share, {verb: {"new_size": size}}, value=size)
        if answer.status == 202:
            share.size = size

    def update(self) -> None:
        if share := self.mine():
            body = {"share": {"display_description": self.id}}
            path = f"/shares/{share.id}"
            self.ask("PUT", path, body, share=share.id, key="description", value=self.id)

    def soft_delete(self) -> None:
        if share := self.mine():
            self.act(share, {"soft_delete": None}, value=True)

    def restore(self) -> None:
        if share := self.mine():
            self.act(share, {"restore": None}, value=False)

    def reset_status(self) -> None:
        """To error and back again: an operator's way to stop what works on a share."""
        share = self.mine()
        if share is None or not share.is_good:
            return
        status = Status.AVAILABLE if share.reset else Status.ERROR
        body = {"reset_status": {"status": status}}
        if self.act(share, body, admin=True, value=status).status == 202:
            share.reset = not share.reset

    # -- metadata --------------------------------------------------------------------------
    def set_metadata(self) -> None:
        if share := self.mine():
            key = one_of(KEYS, self.step.other) or ""
            body = {"metadata": {key: self.id}}
            path = f"/shares/{share.id}/metadata"
            self.ask("POST", path, body, share=share.id, key=key, value=self.id)

    def remove_metadata(self) -> None:
        if share := self.mine():
            key = one_of(KEYS, self.step.other) or ""
            self.ask("DELETE", f"/shares/{share.id}/metadata/{key}", share=share.id, key=key)

    # -- access rules ----------------------------------------------------------------------
    def allow(self) -> None:
        share = self.mine()
        if share is None:
            return
        number, level = self.step.number, one_of(LEVELS, self.step.other) or ""
        own = self.name.encode()[-1] % 16 * 16  # another network for each client of a tenant
        address = f"10.{own + number // 65536}.{number // 256 % 256}.{number % 256}"
        rule = {"access_type": "ip", "access_to": address, "access_level": level}
        answer = self.act(share, {"allow_access": rule}, value=[address, level])
        if answer.status == 200:
            share.rules.append(Rule(answer.body["access"]["id"], level))

    def _rule(self) -> tuple[Known, Rule] | None:
        share = self.mine()
        rule = one_of(share.rules, self.step.other) if share else None
        return (share, rule) if share and rule else None

    def deny(self) -> None:
        if found := self._rule():
            share, rule = found
            answer = self.act(share, {"deny_access": {"access_id": rule.id}}, key=rule.id)
            if answer.status in {202, 404} and rule in share.rules:
                share.rules.remove(rule)

    def set_level(self) -> None:
        if found := self._rule():
            share, rule = found
            level = LEVELS[rule.level == LEVELS[0]]
            body = {"update_access": {"access_level": level}}
            path = f"/share-access-rules/{rule.id}"
            answer = self.ask("PUT", path, body, share=share.id, key=rule.id, value=level)
            if answer.status == 200:
                rule.level = level

    def rule_metadata(self) -> None:
        if found := self._rule():
            share, rule = found
            body = {"metadata": {"by": self.id}}
            path = f"/share-access-rules/{rule.id}/metadata"
            self.ask("PUT", path, body, share=share.id, key=rule.id, value=self.id)

    # -- locks -----------------------------------------------------------------------------
    def lock(self) -> None:
        if share := self.mine():
            body = {"resource_id": share.id, "lock_reason": self.id}
            answer = self.ask(
                "POST", "/resource-locks", {"resource_lock": body}, share=share.id, value=self.id
            )
            if answer.status == 200:
                share.locks.append(answer.body["resource_lock"]["id"])

    def unlock(self) -> None:
        share = self.mine()
        lock = one_of(share.locks, self.step.other) if share else None
        if share and lock:
            answer = self.ask("DELETE", f"/resource-locks/{lock}", share=share.id, key=lock)
            if answer.status in {204, 404} and lock in share.locks:
                share.locks.remove(lock)

    # -- looking ---------------------------------------------------------------------------
    def show(self) -> None:
        if share := self.mine():
            answer = self.ask("GET", f"/shares/{share.id}", share=share.id)
            if answer.status == 200:
                shown = answer.body["share"]
                share.size = shown["size"]
                share.is_good = share.is_good or shown["status"] == Status.AVAILABLE
            if answer.status == 404:
                self.tenant.forget(share.id)

    def list(self) -> None:
        """Find what an unanswered request has made, too."""
        answer = self.ask("GET", "/shares/detail?limit=100")
        if answer.status == 200:
            for shown in answer.body["shares"]:
                if shown["status"] != Status.DELETING:
                    self.tenant.learn(shown["id"], shown["size"])

    def foreign(self) -> None:
        """What is another tenant's cannot be touched."""
        if share := self.world.stranger(self.tenant, self.step.pick):
            self.act(share, {"extend": {"new_size": share.size + 1}})

    def ensure(self) -> None:
        """Have the back end look after all its shares, as an operator does once in a while."""
        if self.step.pick > 0.1:
            return
        body = {"host": f"{HOST_OF_BACKEND}@{BACKEND}"}
        self.ask("POST", "/services/ensure-shares", body, admin=True)

    # -- share types -----------------------------------------------------------------------
    def make_type(self) -> None:
        specs = {"driver_handles_share_servers": "False"}
        body = {"share_type": {"name": self.id, "extra_specs": specs}}
        answer = self.ask("POST", "/types", body, admin=True, value=self.id)
        if answer.status == 200:
            self.world.types.append(answer.body["share_type"]["id"])

    def set_spec(self) -> None:
        if kind := one_of(self.world.types, self.step.pick):
            path = f"/types/{kind}/extra_specs"
            body = {"extra_specs": {SPEC: self.id}}
            self.ask("POST", path, body, admin=True, key=kind, value=self.id)

    def remove_type(self) -> None:
        if kind := one_of(self.world.types, self.step.pick):
            answer = self.ask("DELETE", f"/types/{kind}", admin=True, key=kind)
            if answer.status in {202, 404} and kind in self.world.types:
                self.world.types.remove(kind)
