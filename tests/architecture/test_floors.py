"""Who may know whom, and who may write what."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys

import pytest
import status_writers
from sources import ROOT, Module, code, modules

from fileshare.domain import statuses

ONLY = {
    "sqlalchemy": {"db"},
    "oslo_db": {"db", "conf", "cmd"},
    "alembic": {"db"},
    "webob": {"api"},
    "routes": {"api"},
    "eventlet": {"cmd"},
    "gunicorn": {"cmd"},
    "waitress": {"cmd"},
    "tooz": {"clients"},
}


def test_the_import_contracts_are_kept():
    program = pathlib.Path(sys.executable).with_name("lint-imports")
    command = [str(program)] if program.exists() else ["lint-imports"]
    done = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize("library", ONLY)
def test_a_library_is_known_to_its_floor_only(library):
    found = [
        module.at(node)
        for module in modules()
        for name, node in module.imports()
        if name.partition(".")[0] == library and module.floor not in ONLY[library]
    ]
    assert found == []


def test_no_module_holds_the_options():
    found = [
        module.at(node)
        for module in code()
        for node in module.walk(ast.Attribute)
        if node.attr == "CONF" and isinstance(node.value, ast.Name) and node.value.id == "cfg"
    ]
    assert found == []


def test_errors_of_http_are_raised_nowhere():
    """The catalogue of errors is translated in one place."""
    found = [
        module.at(node)
        for module in code()
        for node in module.walk(ast.Raise)
        if node.exc and "webob" in ast.unparse(node.exc)
    ]
    assert found == []


def words(*classes):
    return {
        value
        for cls in classes
        for name, value in vars(cls).items()
        if name.isupper() and isinstance(value, str)
    }


STATUSES = words(*(one for one in vars(statuses).values() if isinstance(one, type)))
# Statuses that are words for other things too, such as the name of a field; all others may be
# spelt nowhere else.
COMMON = {"active", "disabled", "done", "down", "enabled", "ensuring", "error", "failed", "new"}
COMMON |= {"open", "up"}
TELLING = STATUSES - COMMON
assert STATUSES > COMMON
COLUMNS = ("status", "state", "access_rules_status")


def spelt(module):
    """Statuses written as literals: telling ones anywhere, others where a status is meant."""
    documented = {id(node.value) for node in module.walk(ast.Expr)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and node.value in TELLING and id(node) not in documented:
            yield node
        elif isinstance(node, ast.keyword) and node.arg in COLUMNS:
            yield from (node.value,) if is_status(node.value) else ()
        elif isinstance(node, ast.Compare) and named(node.left) in COLUMNS:
            yield from (right for right in node.comparators if is_status(right))


def is_status(node):
    return isinstance(node, ast.Constant) and node.value in STATUSES


def named(node):
    return getattr(node, "attr", getattr(node, "id", None))


def test_no_status_is_spelt_outside_the_domain():
    found = {
        f"{module.name} {node.value}"
        for module in code()
        if module.floor != "domain"
        for node in spelt(module)
    }
    assert found == set()


def test_a_status_that_is_spelt_is_seen():
    text = (
        "x = 'creating'\nf(status='error')\nif row.state == 'open': pass\n"
        "'a text that says creating'\nf(field='error')\n"
    )
    module = Module("share/x.py", text, ast.parse(text))
    assert sorted(node.value for node in spelt(module)) == ["creating", "error", "open"]


def test_status_columns_are_written_by_few():
    """By statements that name them; the functional tests look at every statement that is run."""
    writers = set()
    for module in code():
        for node in module.walk(ast.Call):
            if named(node.func) == "values" and any(
                keyword.arg in COLUMNS for keyword in node.keywords
            ):
                writers.add(module.name)
        for node in module.walk(ast.Assign) if module.floor == "db" else ():
            if any(isinstance(to, ast.Attribute) and to.attr in COLUMNS for to in node.targets):
                writers.add(module.name)
    allowed = {name for names in status_writers.WRITERS.values() for name in names}
    assert writers <= allowed
    assert {"db/transitions/shares.py", "db/intents.py", "db/services.py"} <= writers
