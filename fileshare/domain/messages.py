"""User messages: action × detail, and which of them an error is.

Ids and code names are those of the wire; tenants and programs match on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fileshare import errors


@dataclass(frozen=True, slots=True)
class Text:
    id: str
    code: str
    text: str


def _table(*rows: tuple[str, str, str]) -> dict[str, Text]:
    return {code: Text(id, code, text) for id, code, text in rows}


ACTIONS: Final = _table(
    ("001", "ALLOCATE_HOST", "allocate host"),
    ("002", "CREATE", "create"),
    ("003", "DELETE_ACCESS_RULES", "delete access rules"),
    ("004", "PROMOTE", "promote"),
    ("005", "UPDATE", "update"),
    ("006", "REVERT_TO_SNAPSHOT", "revert to snapshot"),
    ("007", "DELETE", "delete"),
    ("008", "EXTEND", "extend"),
    ("009", "SHRINK", "shrink"),
    ("010", "UPDATE_ACCESS_RULES", "update access rules"),
    ("011", "ADD_UPDATE_SECURITY_SERVICE", "add or update security service"),
    ("026", "TRANSFER_ACCEPT", "transfer accept"),
    ("027", "UPDATE_METADATA", "update_metadata"),
    ("028", "RESTORE_BACKUP", "restore share backup"),
)

_NO_ROOM = "No storage could be allocated for this share request"

DETAILS: Final = _table(
    ("001", "UNKNOWN_ERROR", "An unknown error occurred."),
    ("002", "NO_VALID_HOST", f"{_NO_ROOM}. Trying again with another size or type may succeed."),
    ("003", "UNEXPECTED_NETWORK", "The back end takes no share network, but one was given."),
    ("004", "NO_SHARE_SERVER", "No share server could be found or made on the share network."),
    ("005", "NO_ACTIVE_AVAILABLE_REPLICA", "No active replica is available to copy from."),
    ("006", "NO_ACTIVE_REPLICA", "The share has no active replica."),
    ("007", "FILTER_AVAILABILITY", f"{_NO_ROOM}: no back end is in the requested zone."),
    ("008", "FILTER_CAPABILITIES", f"{_NO_ROOM}: no back end has what the share type asks for."),
    ("009", "FILTER_CAPACITY", f"{_NO_ROOM}: no back end has enough free space."),
    ("010", "FILTER_DRIVER", f"{_NO_ROOM}: the rules of the back ends exclude it."),
    ("011", "FILTER_IGNORE", f"{_NO_ROOM}: every back end that fits has been tried."),
    ("012", "FILTER_JSON", f"{_NO_ROOM}: no back end matches the query in the hints."),
    ("013", "FILTER_RETRY", f"{_NO_ROOM}: every back end that fits has been tried."),
    ("014", "FILTER_REPLICATION", f"{_NO_ROOM}: no back end can replicate this share."),
    ("015", "DRIVER_FAILED_EXTEND", "The back end could not extend the share."),
    ("016", "FILTER_CREATE_FROM_SNAPSHOT", f"{_NO_ROOM}: no back end can use the snapshot."),
    ("017", "DRIVER_FAILED_CREATING_FROM_SNAP", "The share could not be made from its snapshot."),
    ("018", "DRIVER_REFUSED_SHRINK", "More space is used than the size asked for."),
    ("019", "DRIVER_FAILED_SHRINK", "The back end cannot shrink shares."),
    ("020", "FORBIDDEN_CLIENT_ACCESS", "Access is not allowed for this client."),
    ("021", "UNSUPPORTED_CLIENT_ACCESS", "The access type or level is not supported."),
    ("022", "UNSUPPORTED_ADD_UDPATE_SECURITY_SERVICE", "The security service was not set up."),
    ("023", "SECURITY_SERVICE_FAILED_AUTH", "The credentials of the security service fail."),
    ("024", "NO_DEFAULT_SHARE_TYPE", "No default share type is configured."),
    ("025", "MISSING_SECURITY_SERVICE", "The share network lacks a needed security service."),
    ("026", "DRIVER_FAILED_TRANSFER_ACCEPT", "Access rules must be cleared before the transfer."),
    ("027", "SHARE_NETWORK_PORT_QUOTA_LIMIT_EXCEEDED", "The quota of network ports is used up."),
    ("028", "SHARE_BACKEND_NOT_READY_YET", "No back end is ready yet."),
    ("029", "UPDATE_METADATA_SUCCESS", "The metadata was handed to the back end."),
    ("030", "UPDATE_METADATA_FAILURE", "The back end could not use the metadata."),
    ("031", "UPDATE_METADATA_NOT_DELETED", "Deleted metadata is not handed to the back end."),
    ("032", "TARGETED_RESTORE_UNSUPPORTED", "The backup cannot be restored to another share."),
    ("033", "NEUTRON_SUBNET_FULL", "The subnet has no free address."),
    ("034", "UNSUPPORTED_REPLICA_CREATE_CONFIG", "A replica cannot be made with this set-up."),
)

ACTION_BY_ID: Final = {text.id: text for text in ACTIONS.values()}
DETAIL_BY_ID: Final = {text.id: text for text in DETAILS.values()}

RESOURCE_SHARE: Final = "SHARE"
LEVEL_ERROR: Final = "ERROR"

FILTER_DETAILS: Final = {
    "AvailabilityZoneFilter": "FILTER_AVAILABILITY",
    "CapabilitiesFilter": "FILTER_CAPABILITIES",
    "CapacityFilter": "FILTER_CAPACITY",
    "DriverFilter": "FILTER_DRIVER",
    "IgnoreAttemptedHostsFilter": "FILTER_IGNORE",
    "JsonFilter": "FILTER_JSON",
    "RetryFilter": "FILTER_RETRY",
    "ShareReplicationFilter": "FILTER_REPLICATION",
    "CreateFromSnapshotFilter": "FILTER_CREATE_FROM_SNAPSHOT",
}

_EVENT_ACTIONS: Final = {
    "share.create": "CREATE",
    "share.extend": "EXTEND",
    "share.shrink": "SHRINK",
    "share.delete": "DELETE",
    "share.deferred_delete": "DELETE",
    "share.force_delete": "DELETE",
    "share.ensure": "UPDATE",
    "access.sync": "UPDATE_ACCESS_RULES",
    "metadata.update": "UPDATE_METADATA",
}

_EVENT_ERRORS: Final[dict[tuple[str, type[Exception]], str]] = {
    ("share.extend", errors.DriverError): "DRIVER_FAILED_EXTEND",
    ("share.extend", errors.Unsupported): "DRIVER_FAILED_EXTEND",
    ("share.shrink", errors.ShrinkWouldLoseData): "DRIVER_REFUSED_SHRINK",
    ("share.shrink", errors.Unsupported): "DRIVER_FAILED_SHRINK",
    ("access.sync", errors.ForbiddenAccess): "FORBIDDEN_CLIENT_ACCESS",
    ("access.sync", errors.InvalidAccess): "UNSUPPORTED_CLIENT_ACCESS",
    ("metadata.update", Exception): "UPDATE_METADATA_FAILURE",
}


def describe(event: str, error: Exception) -> tuple[Text, Text]:
    """The action and the detail that tell a user of *error* in the verb *event*."""
    action = ACTIONS[_EVENT_ACTIONS[event]]
    if isinstance(error, errors.NoValidHost):
        if event == "share.create":
            action = ACTIONS["ALLOCATE_HOST"]
        last = str(error.facts.get("last_filter") or "")
        return action, DETAILS[FILTER_DETAILS.get(last, "NO_VALID_HOST")]
    if isinstance(error, errors.NotReady):
        return action, DETAILS["SHARE_BACKEND_NOT_READY_YET"]
    for (known, cls), detail in _EVENT_ERRORS.items():
        if known == event and isinstance(error, cls):
            return action, DETAILS[detail]
    return action, DETAILS["UNKNOWN_ERROR"]


def user_message(action_id: str, detail_id: str | None) -> str:
    """The text of a message, such as *create: An unknown error occurred.*."""
    action = ACTION_BY_ID.get(action_id)
    detail = DETAIL_BY_ID.get(detail_id or "001", DETAILS["UNKNOWN_ERROR"])
    return f"{action.text if action else 'unknown action'}: {detail.text}"
