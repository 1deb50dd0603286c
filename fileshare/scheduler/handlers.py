"""What a scheduler does with its intents: choose a pool, or ask one for more room."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection
from typing import Any, Final

from oslo_config import cfg

from fileshare import errors
from fileshare.db import clock, pools
from fileshare.db.placements import Placed
from fileshare.db.session import Session
from fileshare.db.transitions import Settlement
from fileshare.intents import destinations
from fileshare.intents.consumer import Handlers
from fileshare.intents.job import Job
from fileshare.intents.kinds import CheckExtend, CreateShare, ExtendShare, PlaceShare
from fileshare.intents.outcomes import Again, Failed, HandOn, Outcome, Stale
from fileshare.scheduler import pipeline, requests
from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.pipeline import Choice
from fileshare.scheduler.pools import Pools

LOG = logging.getLogger(__name__)

Seen = tuple[Placed, PlacementRequest, list[PoolState]]

PAUSE: Final = 2.0
"""Seconds between two looks for a first report."""


def handlers(conf: cfg.ConfigOpts) -> Handlers:
    """The handlers of a scheduler; raises UnknownPluginError for filters that are not there."""
    placement = Placement(conf)
    made = Handlers()
    made.handles(PlaceShare, reads=placement.look)(placement.place)
    made.handles(CheckExtend, reads=placement.look_at)(placement.check_extend)
    return made


class Placement:
    """Decides on the pools of one cloud; one object serves all threads of a scheduler."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self.pools = Pools()
        self._choose_parts()
        conf.register_mutate_hook(self._options_changed)

    def _choose_parts(self) -> None:
        self.placing = pipeline.placement(self.conf)
        self.extending = pipeline.extension(self.conf)

    def _options_changed(self, _conf: cfg.ConfigOpts, fresh: Collection[tuple[str, str]]) -> None:
        """Filters and weighers may have: what is in hand goes on with those that it has."""
        if not pipeline.CHANGING.isdisjoint(name for _group, name in fresh):
            try:
                self._choose_parts()
            except pipeline.UnknownPluginError:
                LOG.exception("The filters and weighers stay what they were")

    def place(self, job: Job[PlaceShare]) -> Outcome:
        """Choose a pool for a new share, claim its room, and hand on to its back end.

        The claim is part of the transaction that hands on: a pool is never claimed for a share
        that is not on its way there.  Where the room went to somebody else meanwhile, that
        transaction is undone and the choice made again.
        """
        work = job.work
        if len(work.attempted) >= self.conf.scheduler_max_attempts:
            tried = f"the creation failed on {len(work.attempted)} pools"
            return Failed(errors.NoValidHost(summary=tried, last_filter=pipeline.TRIED[0]))
        _, request, states = job.look()
        if not states:
            return self._wait(job) or Failed(errors.NotReady())
        choice = self.placing.choose(states, request)
        if choice.pool is None:
            return _no_room(choice, failures=work.failures)
        chosen = choice.pool
        at = {"host": chosen.host, "availability_zone_id": chosen.zone_id}
        return HandOn(
            CreateShare(
                hints=work.hints,
                attempted=work.attempted,
                failures=work.failures,
                any_zone=work.any_zone,
                zone_id=request.zone_id,
            ),
            destinations.share(chosen.backend),
            settlement=Settlement(share=at, instance={**at, "claimed_gb": request.needed}),
            writes=(_claim(choice, chosen, request),),
            trace=choice.trace.dump(),
        )

    def check_extend(self, job: Job[CheckExtend]) -> Outcome:
        """Claim of the share's pool what it is to grow by, and hand on to its back end.

        One that is down is waited for: its daemon may only be starting anew.  A share that was
        never made is on none, and refused at once.
        """
        size = job.work.size
        placed, request, states = job.look()
        pause = self._wait(job) if placed.instance.host and not states else None
        if pause is not None:
            return pause
        choice = self.extending.choose(states, request)
        if choice.pool is None:
            return _no_room(choice)
        return HandOn(
            ExtendShare(size=size, claimed=request.needed),
            destinations.share(choice.pool.backend),
            writes=(_claim(choice, choice.pool, request, placed.instance.id),),
            trace=choice.trace.dump(),
        )

    def look(self, session: Session, job: Job[PlaceShare]) -> Seen:
        """What a placement is decided on."""
        placed = requests.read(session, job.resource_id)
        request = requests.of_new(placed, job.work.hints, session)
        demand = request.demand
        if job.work.any_zone:
            demand = dataclasses.replace(demand, zones=())
        request = dataclasses.replace(request, demand=demand, attempted=tuple(job.work.attempted))
        states = self._states(session, with_disabled=request.only_host is not None)
        # An operator may try a pool of a disabled service; nobody gets another one of them.
        usable = [pool for pool in states if pool.is_enabled or pool.host == request.only_host]
        return placed, request, usable

    def look_at(self, session: Session, job: Job[CheckExtend]) -> Seen:
        """What an extension is decided on."""
        placed = requests.read(session, job.resource_id)
        host = placed.instance.host
        states = self._states(session, with_disabled=True, host=host) if host else []
        return placed, requests.of_growth(placed, job.work.size), states

    def _states(
        self, session: Session, *, with_disabled: bool, host: str | None = None
    ) -> list[PoolState]:
        return self.pools.read(
            session,
            down_after=self.conf.service_down_time,
            host=host,
            with_disabled=with_disabled,
        )

    def _wait(self, job: Job[PlaceShare] | Job[CheckExtend]) -> Again | None:
        """A pause where no pool is there; None when that has been so for long enough."""
        # By the database's clock: another node may have looked first.
        now = job.read(clock.read)
        since = job.work.waited_since or now
        if now - since >= self.conf.scheduler_driver_init_wait_time:
            return None
        return Again(PAUSE, dataclasses.replace(job.work, waited_since=since))


def _no_room(choice: Choice, failures: list[str] | None = None) -> Outcome:
    trace = choice.trace
    LOG.info("No valid host: %s", trace.summary())
    error = errors.NoValidHost(summary=trace.summary(), last_filter=trace.last_filter())
    told = trace.dump()
    if failures:
        told["failures"] = failures
    return Failed(error, trace=told)


def _claim(
    choice: Choice,
    pool: PoolState,
    request: PlacementRequest,
    instance_id: str | None = None,
) -> Callable[[Session], Any]:
    wanted = pools.Claim(
        pool_id=pool.id,
        report_seq=pool.report_seq,
        most=pool.claimed + choice.headroom,
        size=request.needed,
        instance_id=instance_id,
    )

    def write(session: Session) -> None:
        if not pools.claim(session, wanted):
            raise Stale(f"{pool.host} has no room for {request.needed} GiB any more")

    return write
