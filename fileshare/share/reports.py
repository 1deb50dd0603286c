"""What a back end says of its pools, checked before schedulers rely on it.

Every placement of the cloud looks at every pool: one number that nothing can be worked out with
would fail them all.  A pool that cannot be used is left out, and no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from oslo_log import log as logging

from fileshare.domain.hosts import pool_host
from fileshare.share import answers

LOG = logging.getLogger(__name__)

# Columns of a pool's report by the key that the field uses for it.
_AMOUNTS: Final = {
    "total_gb": "total_capacity_gb",
    "free_gb": "free_capacity_gb",
    "provisioned_gb": "provisioned_capacity_gb",
}
_NUMBERS: Final = {
    "allocated_gb": "allocated_capacity_gb",
    "max_over_subscription_ratio": "max_over_subscription_ratio",
}
_PERCENTAGES: Final = {
    "reserved_percentage": "reserved_percentage",
    "reserved_snapshot_percentage": "reserved_snapshot_percentage",
    "reserved_share_extend_percentage": "reserved_share_extend_percentage",
}
_NAME: Final = "pool_name"
_COLUMNS: Final = frozenset(
    {_NAME, *_AMOUNTS.values(), *_NUMBERS.values(), *_PERCENTAGES.values()}
)
_NOT_KNOWN: Final = (None, "unknown", "infinite", math.inf)
_LONGEST_HOST: Final = 255
_WHOLE: Final = 100


class UnusableReport(ValueError):
    """A report of a pool that no placement can be decided on; the text says why."""


def usable(backend: str, reports: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns of each report that can be used; why another one cannot is logged."""
    rows = []
    for report in reports:
        try:
            rows.append(columns(backend, report))
        except UnusableReport as error:
            name = report.get(_NAME)
            LOG.warning("Pool %s of back end %s takes no shares: %s", name, backend, error)
    return rows


def columns(backend: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """A driver's report as columns of the pool's row; the rest stays under its own keys.

    Raises UnusableReport.
    """
    row: dict[str, Any] = {"pool": _name(backend, report.get(_NAME))}
    for column, key in _AMOUNTS.items():
        amount = report.get(key)
        row[column] = None if amount in _NOT_KNOWN else _number(key, amount)
    for column, key in _NUMBERS.items():
        if report.get(key) is not None:
            row[column] = _number(key, report[key])
    for column, key in _PERCENTAGES.items():
        if report.get(key) is not None:
            row[column] = _percentage(key, report[key])
    thin = report.get("thin_provisioning", False)
    row["thin"] = thin is True or (isinstance(thin, list | tuple) and True in thin)
    row["capabilities"] = _plain(report)
    return row


def _name(backend: str, name: Any) -> str:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise UnusableReport(f"{name!r} is no name")
    if len(pool_host(backend, name)) > _LONGEST_HOST:
        raise UnusableReport("its name is too long")
    return name


def _number(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableReport(f"{key} is {value!r}, which is no number")
    return number


def _percentage(key: str, value: Any) -> int:
    number = _number(key, value)
    if not 0 <= number <= _WHOLE:
        raise UnusableReport(f"{key} is {number:g}, and must be 0 to {_WHOLE}")
    return round(number)


def _plain(report: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in report.items() if key not in _COLUMNS}
    try:
        return answers.document(found)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnusableReport(f"its capabilities cannot be stored: {error}") from error
