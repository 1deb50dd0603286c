"""Telling a back end of the metadata of its shares."""

from __future__ import annotations

import functools

from fileshare import errors
from fileshare.db import messages
from fileshare.domain.statuses import Status
from fileshare.drivers.base import MetadataUpdates, require
from fileshare.intents import destinations
from fileshare.intents.consumer import Handlers
from fileshare.intents.job import Job
from fileshare.intents.kinds import UpdateMetadata
from fileshare.intents.outcomes import Again, Done, HandOn, Outcome
from fileshare.share import references

handlers = Handlers()

_PAUSE = 2.0
_BEING_MADE = (Status.CREATING, Status.CREATING_FROM_SNAPSHOT)


@handlers.handles(UpdateMetadata)
def update(job: Job[UpdateMetadata]) -> Outcome:
    """Tell the driver of all keys of driver_updatable_metadata that the share has now.

    While the share is being made, maybe with those of before, it is waited for; where another
    back end has made it in the end, that one is told.
    """
    try:
        subject = job.read(references.subject, job.resource_id)
    except errors.NotFound:
        return Done()  # deleted meanwhile
    if subject.instance.status in _BEING_MADE:
        return Again(_PAUSE)
    if not subject.instance.host:
        return Done()  # never made: there is nobody to tell
    here = destinations.share(subject.instance.host)
    if here != job.intent.destination:
        return HandOn(job.work, here)
    keys = job.runtime.conf.driver_updatable_metadata
    pairs = {key: value for key, value in subject.ref.metadata.items() if key in keys}
    with job.driving(subject.ref.id) as driver:
        require(driver, MetadataUpdates).update_metadata(subject.ref, pairs)
    tell = functools.partial(
        messages.add,
        action="UPDATE_METADATA",
        detail="UPDATE_METADATA_SUCCESS",
        project_id=subject.share.project_id,
        resource_id=subject.share.id,
        request_id=job.intent.request_id,
        ttl=job.runtime.conf.message_ttl,
    )
    return Done(writes=[tell])
