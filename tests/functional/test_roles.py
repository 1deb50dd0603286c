"""Policy files that give single rules to roles of a cloud's own."""

from __future__ import annotations

import inprocess
import pytest
import things_at_hand
from inprocess import ADMIN, MEMBER, OTHER_PROJECT, PROJECT
from test_notices_of_changes import CHANGES, changed

AUDITOR = f"ada:{OTHER_PROJECT}:reader,auditor"
CHIEF = f"carl:{OTHER_PROJECT}:member,chief"
OWN_CHIEF = f"cleo:{PROJECT}:member,chief"

POLICY = """
"share:list_all_projects": "rule:context_is_admin or role:auditor"
"share:reset_status": "rule:context_is_admin or (role:chief and project_id:%(project_id)s)"
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)
    with inprocess.running(tmp_path) as made:
        made.conf.set_override("policy_file", str(tmp_path / "policy.yaml"), group="oslo_policy")
        made.app = inprocess.wsgi.build(made.runtime)
        yield made


def test_an_auditor_lists_all_shares(api):
    """C142: the lists of all projects have a rule of their own."""
    share = api.new_share()
    for path in ("/shares?all_tenants=1", "/shares/detail?all_tenants=1"):
        assert [found["id"] for found in api.get(path, as_=AUDITOR)["shares"]] == [share]
    assert api.get("/shares/detail", as_=AUDITOR)["shares"] == []
    assert api.show(share)["status"] == "available"


def test_an_auditor_changes_nothing(api):
    """C142: by no route at all."""
    ids = things_at_hand.Things(api).all()
    before = api.show(ids["shares"])
    for operation in CHANGES:
        answer = changed(api, operation, ids, as_=AUDITOR)
        # Whose lock it is says who may: what is another project's is not there.
        wanted = 404 if operation.path == "/resource-locks/{id}" else 403
        assert answer.status == wanted, (operation.id, answer.body)
    api.drain()
    assert api.show(ids["shares"]) == before


def test_a_right_ends_at_the_border_of_the_project(api):
    """C141: the project of what is acted on is part of the check."""
    share = api.new_share()
    reset = {"status": "error"}
    assert api.act(share, "reset_status", reset, as_=CHIEF).status == 404
    assert api.act(share, "reset_status", reset, as_=MEMBER).status == 403
    assert api.show(share)["status"] == "available"
    assert api.act(share, "reset_status", reset, as_=OWN_CHIEF).status == 202
    assert api.show(share)["status"] == "error"
    assert api.act(share, "reset_status", {"status": "available"}, as_=ADMIN).status == 202


def test_a_refusal_tells_nothing_of_the_inside(api):
    """C130: no trace of calls and no name of a file in an error."""
    answer = api.get("/scheduler-stats/pools/detail")
    assert (answer.status, set(answer.body)) == (403, {"forbidden"})
    for text in ("Traceback", ".py", "File "):
        assert text not in str(answer.body)
