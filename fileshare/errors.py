"""Every error a caller can meet: one class each, with its HTTP status and stable code.

``api/faults.py`` is the only place that turns a class of this catalogue into a
response; ``domain/messages.py`` turns the same classes into user messages.  Codes
are part of the interface: do not change one, do not use one twice.
"""

from __future__ import annotations

import enum
from typing import ClassVar


class Remedy(enum.Enum):
    """What the reader of an error should do."""

    CALLER = "Change the request."
    WAIT = "Try again later; the resource is busy or a back end is not ready."
    OPERATOR = "Ask the operator; the details are in the service logs."


def storable(text: object) -> str:
    """*text* with what no database takes (half characters, zeros) written as it is in Python.

    What a command of a back end says may be in any encoding, or none; and a driver may hand on
    the error that says it.
    """
    return str(text).encode(errors="backslashreplace").decode().replace("\x00", "\\x00")


class FileshareError(Exception):
    """The root of the catalogue, and the answer to what nobody foresaw.

    *facts* fill the template; they are kept, so that a log record or a test can read them.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    template: ClassVar[str] = "The request could not be completed."
    remedy: ClassVar[Remedy] = Remedy.CALLER
    declines: ClassVar[bool] = False  # raised by a handler: nothing was changed

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(self.template.format(**facts))


class NotFound(FileshareError):
    """An object that is absent, or that the caller may not know of."""

    status, code = 404, "not_found"
    template = "{resource} {id} could not be found."


class RouteNotFound(FileshareError):
    """A path or method that is not served at the asked microversion."""

    status, code = 404, "route.not_found"
    template = "The resource could not be found."


class InvalidInput(FileshareError):
    """A request that a schema or a rule of the field refuses; names the field."""

    status, code = 400, "input.invalid"
    template = "Invalid input for field {field}: {reason}"


class MalformedBody(FileshareError):
    status, code = 400, "body.malformed"
    template = "Malformed request body: {reason}"


class MalformedUrl(FileshareError):
    """The project id in the URL is not the token's."""

    status, code = 400, "url.malformed"
    template = "Malformed request url"


class UnprocessableBody(FileshareError):
    """Older resources answer 422 where the body has not the expected wrapper."""

    status, code = 422, "body.unprocessable"
    template = "Unable to process the request: {reason}"


class NoSuchAction(FileshareError):
    status, code = 400, "action.unknown"
    template = "There is no such action: {action}"


class InvalidVersion(FileshareError):
    status, code = 400, "microversion.invalid"
    template = "API version string {version} is of invalid format. It must be of the form X.Y."


class UnsupportedVersion(FileshareError):
    status, code = 406, "microversion.unsupported"
    template = "Version {version} is not supported by the API. Minimum is {least}, maximum {most}."


class Unauthorized(FileshareError):
    status, code = 401, "unauthorized"
    template = "The request you have made requires authentication."


class Forbidden(FileshareError):
    status, code = 403, "forbidden"
    template = "Policy doesn't allow {rule} to be performed."


class Refused(FileshareError):
    """Something that the caller may do, but not to this object as it is now (403 on the wire)."""

    status, code = 403, "refused"
    template = "{reason}"


class Locked(Refused):
    """A resource that somebody has locked against what is asked."""

    code = "locked"


class Conflict(FileshareError):
    status, code = 409, "conflict"
    template = "{reason}"


class WrongStatus(FileshareError):
    """A verb on a resource whose status is none of the verb's sources."""

    status, code = 409, "wrong_status"
    template = "{resource} {id} is {status}; it must be one of {sources} to {verb}."
    remedy = Remedy.WAIT


class Busy(FileshareError):
    """A resource that another intent holds."""

    status, code = 400, "busy"
    template = "{resource} {id} is busy: {reason}."
    remedy = Remedy.WAIT


class OverQuota(FileshareError):
    """A charge that would pass a limit.  The word «exceed» stays: client libraries look for it."""

    status, code = 413, "quota.exceeded"
    template = (
        "{exception}: Quota exceeded for {quota}: requested {delta}, already used {used}, "
        "limit {limit}."
    )


class Unsupported(FileshareError):
    """A capability that the back end does not have."""

    status, code = 400, "driver.unsupported"
    template = "The back end does not offer {capability}."
    declines = True


class NoValidHost(FileshareError):
    """No pool passed the filters; *trace* says why for each, *last_filter* names the last one."""

    status, code = 500, "scheduler.no_valid_host"
    template = "No storage could be allocated: {summary}"
    declines = True
    remedy = Remedy.WAIT


class NotReady(FileshareError):
    """No back end has reported yet."""

    status, code = 503, "scheduler.not_ready"
    template = "No back end has reported yet."
    declines = True
    remedy = Remedy.WAIT


class Interrupted(FileshareError):
    """Work that was claimed too often and never finished."""

    status, code = 500, "intent.interrupted"
    template = "The operation was interrupted {attempts} times and has been given up."
    remedy = Remedy.OPERATOR


class Abandoned(FileshareError):
    """Work that no daemon took, because the back end it waits for is gone."""

    status, code = 500, "intent.abandoned"
    template = "Nothing serves {destination}; the operation has been given up."
    remedy = Remedy.OPERATOR


class OutcomeUnknown(FileshareError):
    """The database went away during a commit, and what is there now does not tell by whom it is.

    Not the refusal that a second try meets: what the request asked for may be done.
    """

    status, code = 503, "outcome_unknown"
    template = (
        "The connection to the database was lost while the request was being completed. "
        "Look whether it was done before asking again."
    )
    remedy = Remedy.WAIT


class DatabaseAway(FileshareError):
    """The database cannot be reached, or refuses to work, for longer than a request waits."""

    status, code = 503, "database.away"
    template = "The database does not answer at the moment. Ask again later."
    remedy = Remedy.WAIT


class CoordinationAway(FileshareError):
    """The service that keeps the locks between nodes does not answer: work waits for it."""

    status, code = 503, "coordination.away"
    template = "The locks between nodes cannot be reached: {reason}"
    remedy = Remedy.WAIT


class LockHeld(FileshareError):
    """Something else has been at the resource for too long, a call that hangs perhaps."""

    status, code = 503, "coordination.lock_held"
    template = "Something else has been at work there for {seconds} seconds."
    remedy = Remedy.OPERATOR


class LocksDiffer(FileshareError):
    """Another daemon serves the back end, and the locks of the two do not reach each other."""

    status, code = 409, "coordination.locks_differ"
    template = (
        "Back end {host} is served by {process} on node {node}, whose locks are not those of this "
        "daemon. Set [coordination] backend_url to the same etcd, Redis or MySQL on all nodes; a "
        "directory serves the daemons of one machine."
    )
    remedy = Remedy.OPERATOR


class DriverError(FileshareError):
    """A failure of a back end: *user_text* is shown to the tenant, *operator_text* is logged.

    Drivers raise it, or one of its children.  ``transient`` says that the same call may succeed
    later without anybody doing anything.
    """

    status, code = 500, "driver.failed"
    template = "{user_text}"
    remedy = Remedy.OPERATOR
    transient: ClassVar[bool] = False

    def __init__(
        self,
        user_text: str = "The storage back end reported a failure.",
        operator_text: str = "",
        **facts: object,
    ) -> None:
        self.user_text = storable(user_text)
        self.operator_text = storable(operator_text or user_text)
        super().__init__(user_text=self.user_text, **facts)


class BackendBusy(DriverError):
    """The back end cannot do it now; the same call may succeed later."""

    code = "driver.busy"
    transient = True


class ShrinkWouldLoseData(DriverError):
    """A share holds more than the size it shall shrink to; it is left as it was."""

    code = "driver.shrink_would_lose_data"
    declines = True


class ShareExistsDifferently(DriverError):
    """A share of this id exists on the back end with other properties."""

    code = "driver.exists_differently"


class ShareLost(DriverError):
    """The back end works, and does not hold the share or its data."""

    code = "driver.share_lost"


class InvalidAccess(DriverError):
    """An access rule that the back end cannot enforce (type or level)."""

    code = "driver.invalid_access"


class ForbiddenAccess(InvalidAccess):
    """An access rule for a client that is not the project's to admit."""

    code = "driver.forbidden_access"


class BadConfiguration(DriverError):
    """A back end whose options cannot work; the daemon keeps trying and reports it."""

    code = "driver.bad_configuration"


class PrivilegeMissing(BadConfiguration):
    """Something that only root (or a capability of root) can do here; names it."""

    code = "driver.privilege_missing"


def catalogue() -> list[type[FileshareError]]:
    """All classes, by code; the manual's page and the tests read it."""
    todo: list[type[FileshareError]] = [FileshareError]
    found: list[type[FileshareError]] = []
    while todo:
        cls = todo.pop()
        found.append(cls)
        todo.extend(cls.__subclasses__())
    return sorted(found, key=lambda cls: cls.code)
