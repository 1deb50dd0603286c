"""The program's source, parsed once for all tests that read it."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "fileshare"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True)
class Module:
    name: str  # below the package: "db/intents.py"
    text: str
    tree: ast.Module

    @property
    def floor(self) -> str:
        return self.name.partition("/")[0].removesuffix(".py")

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def walk(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def functions(self) -> Iterator[Function]:
        return self.walk(ast.FunctionDef, ast.AsyncFunctionDef)

    def imports(self) -> Iterator[tuple[str, ast.AST]]:
        """Whole names of what is imported, wherever in the module."""
        for node in self.walk(ast.Import, ast.ImportFrom):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node) for alias in node.names)
            elif node.module:
                yield node.module, node
                yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{node.lineno}"


@functools.cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        found.append(Module(str(path.relative_to(PACKAGE)), text, ast.parse(text)))
    assert len(found) > 100
    return tuple(found)


def code() -> tuple[Module, ...]:
    """Without migrations, which are steps of the past."""
    return tuple(module for module in modules() if "db/migrations/" not in module.name)
