"""Filter, weigh, choose: the decision of a placement, without any I/O."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from oslo_config import cfg
from stevedore import ExtensionManager

from fileshare.scheduler import capacity
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.trace import Removal, Trace
from fileshare.scheduler.weighers.base import Weigher

FILTERS = "fileshare.scheduler.filters"
WEIGHERS = "fileshare.scheduler.weighers"
Part = TypeVar("Part")


class UnknownPluginError(ValueError):
    """A filter or weigher named in an option that nothing provides; found at start."""


class Random(Protocol):
    """Where chance comes from; tests give their own."""

    def choice(self, options: Sequence[PoolState], /) -> PoolState:
        """One of the options."""


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """The chosen pool, how much of such requests it can still take, and how it came about.

    ``pool`` is None where none passed.
    """

    pool: PoolState | None
    headroom: float
    trace: Trace


@dataclasses.dataclass(frozen=True, slots=True)
class Pipeline:
    """A list of filters and one of weighers with their multipliers, ready to decide."""

    filters: tuple[tuple[str, Filter], ...]
    weighers: tuple[tuple[Weigher, float], ...] = ()
    random: Random = dataclasses.field(default_factory=random.SystemRandom, compare=False)

    def choose(self, pools: Sequence[PoolState], request: PlacementRequest) -> Choice:
        """The best pool for a request; one of them by chance where several are equal."""
        trace = Trace(order=tuple(name for name, _filter in self.filters), pools=len(pools))
        passed = self.passing(pools, request, trace)
        if not passed:
            return Choice(None, 0.0, trace)
        weights = self.weigh(passed, request)
        trace.weights = {pool.host: weight for pool, weight in zip(passed, weights, strict=True)}
        most = max(weights)
        best = [pool for pool, weight in zip(passed, weights, strict=True) if weight == most]
        pool = best[0] if len(best) == 1 else self.random.choice(best)
        trace.chosen = pool.host
        return Choice(pool, capacity.headroom(pool, request), trace)

    def passing(
        self, pools: Iterable[PoolState], request: PlacementRequest, trace: Trace
    ) -> list[PoolState]:
        """The pools that pass all filters; the others go to the trace with their reason."""
        checks = [(name, filter) for name, filter in self.filters if filter.applies(request)]
        left = list(pools)
        for name, filter in checks:
            kept = []
            for pool in left:
                verdict = filter.passes(pool, request)
                if verdict.ok:
                    kept.append(pool)
                else:
                    trace.removed.append(Removal(pool.host, name, verdict))
            left = kept
        return left

    def weigh(self, pools: Sequence[PoolState], request: PlacementRequest) -> list[float]:
        """The sum of all weighers for each pool."""
        sums = [0.0] * len(pools)
        for weigher, multiplier in self.weighers:
            if multiplier and weigher.applies(request):
                values = normalised([weigher.weight(pool, request) for pool in pools], multiplier)
                sums = [total + value for total, value in zip(sums, values, strict=True)]
        return sums


def normalised(values: Sequence[float | None], multiplier: float) -> list[float]:
    """The values between 0 and 1, times the multiplier; all 0 where they are equal.

    An unknown value counts as one worse than the worst that is known.
    """
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    worst = min(known) - 1 if multiplier > 0 else max(known) + 1
    full = [worst if value is None else value for value in values]
    least, span = min(full), max(full) - min(full)
    if not span:
        return [0.0] * len(values)
    return [multiplier * (value - least) / span for value in full]


CHANGING = frozenset(
    {
        "scheduler_default_filters",
        "scheduler_default_weighers",
        "scheduler_default_extend_filters",
        "capacity_weight_multiplier",
        "pool_weight_multiplier",
    }
)
"""The options that make a pipeline; they may change while a scheduler runs."""

TRIED = ("IgnoreAttemptedHostsFilter", "RetryFilter")


def placement(conf: cfg.ConfigOpts) -> Pipeline:
    """The pipeline of the options; raises UnknownPluginError for a name that is none.

    Pools on which a creation failed are always excluded: trying them again is what a repeated
    intent does already.
    """
    names = list(conf.scheduler_default_filters)
    if not set(TRIED) & set(names):
        names.append(TRIED[0])
    weighers = load(WEIGHERS, conf.scheduler_default_weighers, Weigher)
    return Pipeline(
        filters=_filters(names),
        weighers=tuple(
            (weigher, conf[weigher.OPTION] if weigher.OPTION else 1.0)
            for _name, weigher in weighers
        ),
    )


def extension(conf: cfg.ConfigOpts) -> Pipeline:
    """The pipeline that the pool of a growing share must pass."""
    return Pipeline(filters=_filters(conf.scheduler_default_extend_filters))


def check(conf: cfg.ConfigOpts) -> None:
    """Raise UnknownPluginError for a name in any option that nothing provides."""
    placement(conf)
    extension(conf)
    _filters(conf.scheduler_default_share_group_filters)


def _filters(names: Sequence[str]) -> tuple[tuple[str, Filter], ...]:
    return load(FILTERS, names, Filter)


def load(namespace: str, names: Sequence[str], kind: type[Part]) -> tuple[tuple[str, Part], ...]:
    """One object of each named entry point; raises UnknownPluginError where there is none."""
    manager = ExtensionManager(namespace, invoke_on_load=False)
    known = {extension.name: extension.plugin for extension in manager}
    made = []
    for name in names:
        plugin = known.get(name)
        if plugin is None or not (isinstance(plugin, type) and issubclass(plugin, kind)):
            offered = ", ".join(sorted(known))
            raise UnknownPluginError(f"{name} is none of {namespace}; there are {offered}")
        made.append((name, plugin()))
    return tuple(made)
