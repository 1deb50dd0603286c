"""Creating, resizing and deleting shares on a back end."""

from __future__ import annotations

import dataclasses
import functools

from oslo_log import log as logging

from fileshare import errors
from fileshare.db import exports, services, shares
from fileshare.db.transitions import Settlement
from fileshare.domain.quotas import Charge, resize_amounts, share_amounts
from fileshare.drivers.base import Resizable, require
from fileshare.intents import destinations
from fileshare.intents.consumer import Handlers
from fileshare.intents.job import Job
from fileshare.intents.kinds import (
    CreateShare,
    DeferredDeleteShare,
    DeleteShare,
    ExtendShare,
    ForceDeleteShare,
    PlaceShare,
    ShrinkShare,
)
from fileshare.intents.outcomes import Done, HandOn, Outcome
from fileshare.share import references
from fileshare.share.references import Subject

LOG = logging.getLogger(__name__)

handlers = Handlers()


@handlers.handles(CreateShare, reads=references.of_job)
def create(job: Job[CreateShare]) -> Outcome:
    """Make the share here; another pool is tried where the back end cannot."""
    subject: Subject = job.look()
    try:
        with job.driving(subject.ref.id) as driver:
            rows = references.exports(driver.create(subject.ref))
    except errors.DriverError as error:
        if error.transient and job.intent.attempts < job.runtime.conf.intents.max_attempts:
            raise
        return _elsewhere(job, subject, error)
    finished = {"progress": "100%"}
    return Done(
        Settlement(share=finished, instance=finished),
        writes=[lambda session: exports.add(session, subject.instance.id, rows)],
    )


def _elsewhere(job: Job[CreateShare], subject: Subject, error: errors.DriverError) -> Outcome:
    """Ask the scheduler for another pool; what was half made here is removed first."""
    host = subject.instance.host or ""
    release = functools.partial(services.release, host=host, gigabytes=subject.share.size)
    attempted = [*job.work.attempted, host]
    if len(attempted) >= job.runtime.conf.scheduler_max_attempts:
        job.on_failure.append(release)
        raise error
    LOG.warning("Share %s could not be made on %s: %s", job.resource_id, host, error.operator_text)
    _clean_up(job, subject)
    failures = [*job.work.failures, f"{host}: {error.operator_text}"]
    nowhere = {"host": None, "availability_zone_id": job.work.zone_id}
    return HandOn(
        PlaceShare(job.work.hints, attempted, failures, job.work.any_zone),
        destinations.SCHEDULER,
        Settlement(share=nowhere, instance={**nowhere, "claimed_gb": 0}),
        writes=[release],
        trace={"host": host, "failed": error.operator_text},
    )


def _clean_up(job: Job[CreateShare], subject: Subject) -> None:
    try:
        with job.driving(subject.ref.id) as driver:
            driver.delete(subject.ref)
    except errors.DriverError as error:
        # The reconciler finds what is left, because no instance of the back end has its id.
        LOG.warning("Left over of share %s: %s", job.resource_id, error.operator_text)


@handlers.handles(ExtendShare, reads=references.of_job)
def extend(job: Job[ExtendShare]) -> Outcome:
    """Bring the share to its new size."""
    subject: Subject = job.look()
    job.on_failure.append(
        functools.partial(
            services.release, host=subject.instance.host or "", gigabytes=job.work.claimed
        )
    )
    with job.driving(subject.ref.id) as driver:
        require(driver, Resizable).extend(subject.ref, job.work.size)
    return Done(Settlement(share={"size": job.work.size}))


@handlers.handles(ShrinkShare, reads=references.of_job)
def shrink(job: Job[ShrinkShare]) -> Outcome:
    """Bring the share down to its new size, and give back what it took."""
    subject: Subject = job.look()
    with job.driving(subject.ref.id) as driver:
        require(driver, Resizable).shrink(subject.ref, job.work.size)
    share = subject.share
    replicas = 1 if share.replication_type else 0
    freed = resize_amounts(share.size - job.work.size, replicas=replicas)
    return Done(
        Settlement(share={"size": job.work.size}),
        refund=Charge(share.project_id, share.user_id, share.share_type_id, freed),
    )


def _gone(subject: Subject) -> Done:
    share = subject.share
    amounts = share_amounts(share.size, replicated=bool(share.replication_type))
    refund = Charge(share.project_id, share.user_id, share.share_type_id, amounts)
    return Done(
        writes=[lambda session: shares.drop_children(session, share.id)],
        refund=refund if share.is_charged else None,
    )


@handlers.handles(DeleteShare, reads=references.of_job)
def delete(job: Job[DeleteShare]) -> Outcome:
    """Remove the share with its exports and rules."""
    subject: Subject = job.look()
    with job.driving(subject.ref.id) as driver:
        driver.delete(subject.ref)
    return _gone(subject)


@handlers.handles(DeferredDeleteShare, reads=references.of_job)
def deferred_delete(job: Job[DeferredDeleteShare]) -> Outcome:
    """Remove the share; what it was charged with was given back when its user let it go."""
    subject: Subject = job.look()
    with job.driving(subject.ref.id) as driver:
        driver.delete(subject.ref)
    # The usage audit reads in a row that is gone whether the share had ever been made.
    return dataclasses.replace(_gone(subject), settlement=Settlement(share={"is_charged": True}))


@handlers.handles(ForceDeleteShare, reads=references.of_job)
def force_delete(job: Job[ForceDeleteShare]) -> Outcome:
    """Remove the share; what the back end keeps is left to the reconciler.

    A back end that is only busy is asked again, as for any other work.
    """
    subject: Subject = job.look()
    try:
        with job.driving(subject.ref.id) as driver:
            driver.delete(subject.ref)
    except errors.DriverError as error:
        if error.transient and job.intent.attempts < job.runtime.conf.intents.max_attempts:
            raise
        LOG.warning("Left over of share %s: %s", job.resource_id, error.operator_text)
    return _gone(subject)
