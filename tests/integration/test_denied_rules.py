"""What is read of rules that were denied, from a database whose readers wait for nobody."""

from __future__ import annotations

import pytest
from granting import deny, enforced, grant, serving, states
from inprocess import running


@pytest.fixture
def api(mariadb_url, tmp_path):
    with running(tmp_path, mariadb_url) as made:
        yield made


def test_of_a_thousand_denied_rules_none_reads_active(api):
    """C003: by the one who denied it, at once, while the back end works on the others."""
    shares = [api.new_share() for _ in range(5)]
    places = [(share, f"10.{net}.0.1") for net in range(200) for share in shares]
    rules = [(share, grant(api, share, client)) for share, client in places]
    api.drain()
    assert [set(states(api, share).values()) for share in shares] == [{"active"}] * 5
    seen = set()
    with serving(api):
        for share, rule in rules:
            assert deny(api, share, rule).status == 202
            answer = api.get(f"/share-access-rules/{rule}")
            seen.add(answer["access"]["state"] if answer.status == 200 else answer.status)
    assert seen <= {"queued_to_deny", "denying", 404}
    assert [enforced(api, share) for share in shares] == [set()] * 5
    api.check()
