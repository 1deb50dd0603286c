"""Access rules while others write too, and while a back end fails."""

from __future__ import annotations

import threading

import sqlalchemy as sa
from granting import (
    ask,
    backend_of,
    deny,
    enforced,
    forty_at_once,
    grant,
    order,
    show,
    states,
    together,
)

from fileshare.db import access, models
from fileshare.db.clock import after
from fileshare.intents.rounds import always
from fileshare.share.retries import retry_access
from fileshare.share.service import ShareDaemon


def test_forty_grants_at_once_are_forty_rules(api, share):
    """C001: none is lost between the API, the rules and the back end."""
    clients = forty_at_once(api, share)
    assert enforced(api, share) == {(client, "rw") for client in clients}
    assert api.show(share)["access_rules_status"] == "active"
    api.check()


def test_the_same_grant_at_once_is_one_rule(api, share):
    answers = together(*[lambda: ask(api, share, "10.9.0.1")] * 8)
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    api.drain()
    assert enforced(api, share) == {("10.9.0.1", "rw")}
    api.check()


def test_a_denied_rule_never_reads_active_again(api, share, monkeypatch):
    """C003: not even where it is denied while the back end is at work on it."""
    rule = grant(api, share)
    driver = api.drivers[backend_of(api, share)]
    real, seen = driver.apply_access, []

    def apply_access(ref, change):
        result = real(ref, change)
        if not seen:
            seen.append(deny(api, share, rule).status)
            seen.append(show(api, rule)["state"])
        return result

    monkeypatch.setattr(driver, "apply_access", apply_access)
    api.drain()
    assert seen == [202, "queued_to_deny"]
    assert api.get(f"/share-access-rules/{rule}").status == 404
    assert enforced(api, share) == set()
    api.check()


def test_after_the_answer_to_a_denial_no_reader_sees_an_active_rule(api, share):
    rule = grant(api, share)
    api.drain()
    assert show(api, rule)["state"] == "active"
    assert deny(api, share, rule).status == 202
    readers = [lambda: api.get(f"/share-access-rules/{rule}")] * 6
    found = together(api.drain, *readers)[1:]
    found += [api.get(f"/share-access-rules/{rule}")]
    for answer in found:
        assert answer.status == 404 or answer["access"]["state"] in {"queued_to_deny", "denying"}
    assert found[-1].status == 404


def test_a_denial_that_failed_is_never_granted_again(api, share):
    """The next change of another rule does not bring a revoked one back."""
    rule = grant(api, share)
    api.drain()
    order(api, share, "apply_access")
    assert deny(api, share, rule).status == 202
    api.drain()
    assert show(api, rule)["state"] == "error"
    order(api, share)
    grant(api, share, "10.0.0.6")
    api.drain()
    assert enforced(api, share) == {("10.0.0.6", "rw")}
    assert api.get(f"/share-access-rules/{rule}").status == 404
    assert api.show(share)["access_rules_status"] == "active"


def test_what_was_denied_while_a_call_is_awaited_is_not_granted_again(api, share, monkeypatch):
    """A worker that waits for another call about the instance applies the rules as they are then."""
    rule = grant(api, share)
    api.drain()
    instance_id = api.read_share(share).instance.id
    driver, told = api.drivers[backend_of(api, share)], []
    real, lock, waits = driver.apply_access, api.runtime.locks.lock, threading.Event()

    def apply_access(ref, change):
        told.append({rule.to for rule in change.rules})
        return real(ref, change)

    def asked(name):
        waits.set()
        return lock(name)

    monkeypatch.setattr(driver, "apply_access", apply_access)
    monkeypatch.setattr(api.runtime.locks, "lock", asked)
    grant(api, share, "10.0.0.6")
    with lock(f"instance-{instance_id}"):  # as the reconciler has it
        worker = threading.Thread(target=api.drain)
        worker.start()
        assert waits.wait(10)
        assert deny(api, share, rule).status == 202
    worker.join()
    assert told
    assert all(clients == {"10.0.0.6"} for clients in told)


def test_rules_and_the_deletion_of_their_share_exclude_each_other(api):
    for _ in range(5):
        share = api.new_share()
        granted, deleted = together(
            lambda share=share: ask(api, share), lambda share=share: api.delete(f"/shares/{share}")
        )
        assert deleted.status == 202
        assert granted.status in {200, 400}
        api.drain()
        assert api.get(f"/shares/{share}").status == 404
    api.check()


def test_nobody_is_told_that_a_share_that_goes_takes_no_rules(api, share):
    """Its back end has removed it, and the end of that is not recorded yet."""
    driver = api.drivers[backend_of(api, share)]
    grant(api, share)
    assert api.delete(f"/shares/{share}").status == 202
    driver.state.remove("shares", api.read_share(share).instance.id)
    api.drain()
    api.make_due()
    api.poll()
    assert api.get(f"/shares/{share}").status == 404
    assert api.messages(share) == []
    api.check()


def test_a_rule_for_everybody_is_a_rule(api, share):
    """C006: a mask of no bits is handed on as it is, for both families."""
    four, six = grant(api, share, "0.0.0.0/0"), grant(api, share, "::/0", access_level="ro")
    api.drain()
    assert enforced(api, share) == {("0.0.0.0/0", "rw"), ("::/0", "ro")}
    assert [show(api, rule)["state"] for rule in (four, six)] == ["active", "active"]
    assert deny(api, share, four).status == 202
    api.drain()
    assert enforced(api, share) == {("::/0", "ro")}


def test_one_bad_rule_leaves_its_neighbours_alone(api, share):
    """C008: only the bad one is in error, a message names it, and others may still come."""
    good = [f"10.1.1.{number}" for number in range(1, 6)]
    order(api, share, "apply_access access_to=10.1.1.66")
    for client in good:
        grant(api, share, client)
    bad = grant(api, share, "10.1.1.66")
    api.drain()
    assert states(api, share) == {**dict.fromkeys(good, "active"), "10.1.1.66": "error"}
    assert api.show(share)["access_rules_status"] == "error"
    (message,) = api.messages(share)
    assert bad in message.reason
    assert "10.1.1.66" in message.reason
    assert ask(api, share, "10.1.1.8", version="2.27").status == 400
    grant(api, share, "10.1.1.9", version="2.28")
    api.drain()
    assert states(api, share)["10.1.1.9"] == "active"
    assert len(api.messages(share)) == 1
    assert api.show(share)["access_rules_status"] == "error"
    assert deny(api, share, bad).status == 202
    api.drain()
    assert api.show(share)["access_rules_status"] == "active"
    assert enforced(api, share) == {(client, "rw") for client in [*good, "10.1.1.9"]}


def retry(api, share):
    tried = retry_access(api.runtime, f"node@{backend_of(api, share)}")
    api.drain()
    return tried


def let_time_pass(api, seconds):
    """Move the moments at which rules are tried again so far back."""
    with api.sessions.begin() as session:
        for id, _moment in session.execute(
            sa.select(models.ShareInstance.id, models.ShareInstance.access_retry_at).where(
                models.ShareInstance.access_retry_at.is_not(None)
            )
        ).all():
            left = session.execute(
                sa.select(models.ShareInstance.id).where(
                    models.ShareInstance.id == id,
                    models.ShareInstance.access_retry_at <= after(seconds),
                )
            ).first()
            if left is not None:
                session.execute(
                    sa.update(models.ShareInstance)
                    .where(models.ShareInstance.id == id)
                    .values(access_retry_at=after(-1))
                )


def test_rules_in_error_heal_by_themselves(api, share):
    """C012: within one look after the back end is back, and without another message."""
    clients = [f"10.2.0.{number}" for number in range(1, 11)]
    order(api, share, "apply_access")
    for client in clients:
        grant(api, share, client)
    api.drain()
    assert states(api, share) == dict.fromkeys(clients, "error")
    assert api.show(share)["access_rules_status"] == "error"
    assert len(api.messages(share)) == 1
    order(api, share)
    assert retry(api, share) == 1
    assert states(api, share) == dict.fromkeys(clients, "active")
    assert api.show(share)["access_rules_status"] == "active"
    assert enforced(api, share) == {(client, "rw") for client in clients}
    assert len(api.messages(share)) == 1
    assert retry(api, share) == 0
    api.check()


def failures(api, share):
    return api.read_share(share).instance.access_failures


def test_tries_back_off_and_are_counted(api, share):
    order(api, share, "apply_access")
    grant(api, share)
    api.drain()
    assert failures(api, share) is None
    first = api.conf.access_retry_interval
    for tries in range(1, 5):
        assert retry(api, share) == 1
        assert failures(api, share) == tries
        assert retry(api, share) == 0
        let_time_pass(api, first * 2**tries - first / 2)
        assert retry(api, share) == 0, "too early"
        let_time_pass(api, first * 2**tries + first / 2)
    assert len(api.messages(share)) == 1
    order(api, share)
    assert retry(api, share) == 1
    assert failures(api, share) is None
    assert api.show(share)["access_rules_status"] == "active"


def test_a_new_failure_is_tried_soon_again(api, share):
    order(api, share, "apply_access access_to=10.3.0.1")
    grant(api, share, "10.3.0.1")
    api.drain()
    for _ in range(3):
        assert retry(api, share) == 1
        let_time_pass(api, 10_000)
    assert failures(api, share) == 3
    order(api, share, "apply_access")
    grant(api, share, "10.3.0.2")
    api.drain()
    order(api, share)
    assert retry(api, share) == 1
    assert states(api, share) == {"10.3.0.1": "active", "10.3.0.2": "active"}


def test_a_retry_is_lost_to_a_change_and_the_other_way_round(api, share):
    order(api, share, "apply_access access_to=10.3.0.1")
    grant(api, share, "10.3.0.1")
    api.drain()
    order(api, share)
    grant(api, share, "10.3.0.2")
    assert retry_access(api.runtime, f"node@{backend_of(api, share)}") == 0
    api.drain()
    assert states(api, share) == {"10.3.0.1": "active", "10.3.0.2": "active"}
    api.check()


def test_a_busy_back_end_is_waited_for(api, share):
    order(api, share, "apply_access error=busy times=2")
    rule = grant(api, share)
    api.drain()
    assert show(api, rule)["state"] == "queued_to_apply"
    for _ in range(2):
        api.make_due()
        api.poll()
    assert show(api, rule)["state"] == "active"
    assert api.messages(share) == []


def test_a_back_end_that_stays_busy_fails_and_heals(api, share):
    order(api, share, "apply_access error=busy")
    rule = grant(api, share)
    api.drain()
    for _ in range(api.conf.intents.max_attempts):
        api.make_due()
        api.poll()
    assert show(api, rule)["state"] == "error"
    assert len(api.messages(share)) == 1
    order(api, share)
    retry(api, share)
    assert show(api, rule)["state"] == "active"


def test_the_daemon_of_a_back_end_looks_after_its_rules(api, share):
    order(api, share, "apply_access")
    rule = grant(api, share)
    api.drain()
    order(api, share)
    for name in ("alpha", "beta"):
        daemon = ShareDaemon(api.runtime, name, "process")
        (look,) = [task for task in daemon.daemon.periodics if task.name == "retry access rules"]
        assert look.seconds == api.conf.access_retry_interval
        assert look.shared == f"retry-access-node@{name}"
        look.action(always)
    api.drain()
    assert show(api, rule)["state"] == "active"


def test_all_shares_of_a_back_end_are_tried_at_one_look(api, monkeypatch):
    monkeypatch.setattr(access.failing, "__defaults__", (2,))
    shares = [api.new_share(availability_zone="manila-zone-0") for _ in range(5)]
    order(api, shares[0], "apply_access")
    for share in shares:
        grant(api, share)
    api.drain()
    order(api, shares[0])
    assert retry(api, shares[0]) == 5
    assert {api.show(share)["access_rules_status"] for share in shares} == {"active"}
