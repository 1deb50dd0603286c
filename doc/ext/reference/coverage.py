"""How much of the contract is served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from fileshare.api.policy import all_operations
from reference.markdown import code, table

CONTRACT = Path(__file__).resolve().parents[3] / "tests" / "contract" / "routes.yaml"


def coverage() -> str:
    """Families of routes with those that are served, of those that the contract has."""
    rows = [
        (
            family.replace("_", " "),
            f"{len(routes) - len(missing)} of {len(routes)}",
            "all" if len(missing) == len(routes) else ", ".join(map(code, missing)),
        )
        for family, routes in families().items()
        for missing in [absent(routes)]
    ]
    return table(("Resource", "Routes", "Not served yet"), rows)


def families() -> dict[str, list[dict[str, Any]]]:
    """The contract's routes by the first part of their ids."""
    found: dict[str, list[dict[str, Any]]] = {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for route in yaml.load(CONTRACT.read_text(), Loader=loader)["routes"]:  # noqa: S506  (safe)
        found.setdefault(route["id"].partition(".")[0], []).append(route)
    return found


def absent(routes: list[dict[str, Any]]) -> list[str]:
    """What of *routes* is not declared: actions by their names, the others by method and path."""
    known = {operation.id for operation in all_operations()}
    missing = [route for route in routes if route["id"] not in known]
    return sorted({_name(route) for route in missing})


def _name(route: dict[str, Any]) -> str:
    _, is_action, action = route["id"].partition(".action.")
    return action if is_action else f"{route['method']} {route['path']}"
