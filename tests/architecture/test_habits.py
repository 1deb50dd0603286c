"""Habits that a reader relies on: annotations, docstrings, exceptions that are accounted for."""

from __future__ import annotations

import ast

from sources import ROOT, code, modules


def unannotated(function):
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    missing = [one for one in named if one.annotation is None and one.arg not in {"self", "cls"}]
    return bool(missing) or function.returns is None


def test_every_function_is_annotated():
    found = [
        f"{module.at(node)} {node.name}"
        for module in modules()
        for node in module.functions()
        if unannotated(node)
    ]
    assert found == []


def test_every_module_says_what_it_is():
    missing = [module.name for module in code() if not ast.get_docstring(module.tree)]
    assert missing == []


def is_public(node):
    return not node.name.startswith("_")


def explains_itself(node):
    """Protocols, records and errors whose names and fields say all."""
    return all(isinstance(part, ast.AnnAssign | ast.Assign | ast.Pass) for part in node.body)


def test_every_public_class_says_what_it_is():
    missing = [
        f"{module.at(node)} {node.name}"
        for module in code()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and is_public(node) and not explains_itself(node)
        if not ast.get_docstring(node) and node.bases != []
    ]
    assert missing == []


def swallows(handler):
    return all(isinstance(part, ast.Pass | ast.Continue) for part in handler.body)


def is_commented(module, handler):
    lines = module.text.splitlines()[handler.lineno - 1 : handler.end_lineno]
    return any("#" in line for line in lines)


def test_no_exception_is_caught_unseen():
    """No bare ``except:``, and who swallows an exception says why."""
    found = [
        module.at(node)
        for module in modules()
        for node in module.walk(ast.ExceptHandler)
        if node.type is None or (swallows(node) and not is_commented(module, node))
    ]
    assert found == []


def test_nothing_is_left_to_be_done():
    found = [
        f"{module.name}:{number}"
        for module in code()
        for number, line in enumerate(module.text.splitlines(), 1)
        if any(word in line for word in ("TODO", "FIXME", "XXX", "NotImplementedError"))
    ]
    assert found == []


CLOCKS = {
    "cmd/usage_audit.py": "which month it is for whoever calls",
    "drivers/dummy/driver.py": "its own record of calls",
    "drivers/dummy/state.py": "the same",
}


def tells_the_time(node):
    """``time.time()``, ``datetime.now()`` and the like: the clock of one machine."""
    called = ast.unparse(node.func)
    return called in {"time.time", "time.time_ns"} or called.endswith(
        ("datetime.now", "utcnow", "date.today")
    )


def test_what_nodes_agree_on_is_told_by_the_database():
    """The clocks of nodes differ: leases, heartbeats and ages go by ``db/clock.py``."""
    calls = [
        (module.name, node)
        for module in modules()
        for node in module.walk(ast.Call)
        if tells_the_time(node)
    ]
    assert {name for name, _ in calls} == set(CLOCKS)


def test_one_place_starts_processes():
    """C115: the one that gives each command the same locale, whatever the daemon's is."""
    found = {
        module.name
        for module in modules()
        for node in module.walk(ast.Call)
        if ast.unparse(node.func) in {"processutils.execute", "os.system", "os.popen", "os.execvp"}
    }
    assert found == {"privileged/commands.py"}
    imported = {name for module in modules() for name, _ in module.imports()}
    assert imported.isdisjoint({"subprocess", "pty", "locale"})


def test_test_modules_have_names_of_their_own():
    """pytest imports them by their names alone: two of one name cannot be run together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
