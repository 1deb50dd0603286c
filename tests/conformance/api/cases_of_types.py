"""What is refused of share types and share group types, for test_errors.py."""

from __future__ import annotations

from asks import LATER, LONG, Ask
from inprocess import NOBODY, OTHER_PROJECT, PROJECT, STRANGER

SPECS = {"driver_handles_share_servers": "False"}
SPEC = [Ask({"extra_specs": {"a b": "v"}}), Ask({"extra_specs": {"k": LONG}}), Ask({})]
ACCESS = "wrapper missing or project no uuid"
TYPE = {"name": "n", "extra_specs": SPECS}


def group_type(**values):
    return Ask({"share_group_type": {"name": "n", "share_types": ["default"], **values}})


CASES = {
    "share_types.index": {
        "extra_specs before 2.43": [Ask(query="extra_specs={'a':'b'}", version="2.42")],
        "is_public invalid": [Ask(query="is_public=x")],
    },
    "share_types.default": {"none configured or found": "test_types.py::test_unknown_types"},
    "share_types.create": {
        "wrapper missing, name invalid, description over length or before 2.41, required spec"
        " absent or spec value invalid": [
            Ask({}),
            Ask({"share_type": {**TYPE, "name": ""}}),
            Ask({"share_type": {**TYPE, "description": LONG}}),
            Ask({"share_type": {**TYPE, "description": "x"}}, version="2.40"),
            Ask({"share_type": {**TYPE, "extra_specs": {}}}),
            Ask({"share_type": {**TYPE, "extra_specs": {**SPECS, "k": LONG}}}),
        ],
        "vanished": LATER + "nothing vanishes within a transaction",
        "name exists": [Ask({"share_type": {**TYPE, "name": "default"}})],
    },
    "share_types.update": {
        "wrapper missing, nothing given, name blank, too long, is_public not boolean": [
            Ask({}),
            Ask({"share_type": {}}),
            Ask({"share_type": {"name": " "}}),
            Ask({"share_type": {"name": LONG}}),
            Ask({"share_type": {"share_type_access:is_public": "x"}}),
        ],
        "absent": [Ask({"share_type": {"name": "n"}}, id=NOBODY)],
        "name exists": [Ask({"share_type": {"name": "default"}})],
        "database failure": LATER + "no failure is foreseen",
    },
    "share_types.delete": {
        "in use by shares or group types": "test_types.py::test_a_type_in_use_stays"
    },
    "share_types.access": {"absent or type public": [Ask(id=NOBODY), Ask(id="{public_type}")]},
    "share_types.action.addProjectAccess": {
        ACCESS: [Ask({"addProjectAccess": {}}), Ask({"addProjectAccess": {"project": "x"}})],
        "type public": [Ask(id="{public_type}")],
        "access exists": [Ask({"addProjectAccess": {"project": PROJECT}})],
    },
    "share_types.action.removeProjectAccess": {
        ACCESS: [Ask({"removeProjectAccess": {}}), Ask({"removeProjectAccess": {"project": "x"}})],
        "type public": [Ask(id="{public_type}")],
        "no such access": [Ask({"removeProjectAccess": {"project": OTHER_PROJECT}})],
    },
    "share_group_types.index": {
        "group_specs before 2.66": [Ask(query="group_specs={'a':'b'}", version="2.65")],
        "is_public invalid": [Ask(query="is_public=x")],
    },
    "share_group_types.show": {
        "absent or private without access": [Ask(id=NOBODY), Ask(as_=STRANGER)]
    },
    "share_group_types.default": {"none configured": "test_group_types.py::test_default"},
    "share_group_types.create": {
        "wrapper missing, no share types, name invalid, specs no dict of strings": [
            Ask({}),
            group_type(share_types=[]),
            group_type(name=""),
            group_type(group_specs={"k": 1}),
        ],
        "share type unknown": [group_type(share_types=["absent"])],
        "name exists": "test_group_types.py::test_a_name_is_taken_once",
    },
    "share_group_types.delete": {"in use": LATER + "groups"},
    "share_group_types.access": {
        "absent or public": "test_group_types.py::test_access_refuses",
    },
    "share_group_types.action.addProjectAccess": {
        ACCESS: [Ask({"addProjectAccess": {}}), Ask({"addProjectAccess": {"project": "x"}})],
        "group type public": "test_group_types.py::test_access_refuses",
        "access exists": [Ask({"addProjectAccess": {"project": PROJECT}})],
    },
    "share_group_types.action.removeProjectAccess": {
        ACCESS: [Ask({"removeProjectAccess": {}}), Ask({"removeProjectAccess": {"project": "x"}})],
        "group type public": "test_group_types.py::test_access_refuses",
        "no such access": [Ask({"removeProjectAccess": {"project": OTHER_PROJECT}})],
    },
    "group_specs.create": {
        "wrapper missing, key or value invalid": [
            Ask({}),
            Ask({"group_specs": {"a b": "v"}}),
            Ask({"group_specs": {"k": LONG}}),
        ]
    },
    "extra_specs.create": {"wrapper missing, key or value invalid": SPEC},
    "extra_specs.update": {
        "body empty, key mismatch, several keys, invalid value": [
            Ask({}),
            Ask({"other": "v"}),
            Ask({"k": "v", "other": "v"}),
            Ask({"k": LONG}),
        ]
    },
    "extra_specs.delete": {
        "key is driver_handles_share_servers, or snapshot_support before 2.24": [
            Ask(id="driver_handles_share_servers"),
            Ask(id="snapshot_support", version="2.23"),
        ],
    },
}
CASES["group_specs.update"] = CASES["extra_specs.update"]
