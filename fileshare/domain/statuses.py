"""The words of the wire for what state a thing is in; no other floor spells them."""

from __future__ import annotations

from typing import Final


class Status:
    """Statuses of shares, share instances and snapshots."""

    CREATING: Final = "creating"
    CREATING_FROM_SNAPSHOT: Final = "creating_from_snapshot"
    AVAILABLE: Final = "available"
    ERROR: Final = "error"
    INACTIVE: Final = "inactive"
    DELETING: Final = "deleting"
    DEFERRED_DELETING: Final = "deferred_deleting"
    DELETED: Final = "deleted"
    ERROR_DELETING: Final = "error_deleting"
    ERROR_DEFERRED_DELETING: Final = "error_deferred_deleting"
    EXTENDING: Final = "extending"
    EXTENDING_ERROR: Final = "extending_error"
    SHRINKING: Final = "shrinking"
    SHRINKING_ERROR: Final = "shrinking_error"
    SHRINKING_DATA_LOSS: Final = "shrinking_possible_data_loss_error"
    MANAGE_STARTING: Final = "manage_starting"
    MANAGE_ERROR: Final = "manage_error"
    UNMANAGE_STARTING: Final = "unmanage_starting"
    MANAGE_ERROR_UNMANAGE_STARTING: Final = "manage_error_unmanage_starting"
    UNMANAGE_ERROR: Final = "unmanage_error"
    UNMANAGED: Final = "unmanaged"
    MIGRATING: Final = "migrating"
    MIGRATING_TO: Final = "migrating_to"
    REPLICATION_CHANGE: Final = "replication_change"
    RESTORING: Final = "restoring"
    REVERTING: Final = "reverting"
    REVERTING_ERROR: Final = "reverting_error"
    AWAITING_TRANSFER: Final = "awaiting_transfer"
    BACKUP_CREATING: Final = "backup_creating"
    BACKUP_RESTORING: Final = "backup_restoring"
    BACKUP_RESTORING_ERROR: Final = "backup_restoring_error"
    ENSURING: Final = "ensuring"
    SERVER_MIGRATING: Final = "server_migrating"
    SERVER_MIGRATING_TO: Final = "server_migrating_to"


SHARE_STATUSES: Final = frozenset(
    value for name, value in vars(Status).items() if name.isupper() and isinstance(value, str)
)

TRANSITIONAL: Final = frozenset(
    {
        Status.CREATING,
        Status.CREATING_FROM_SNAPSHOT,
        Status.DELETING,
        Status.DEFERRED_DELETING,
        Status.MANAGE_STARTING,
        Status.UNMANAGE_STARTING,
        Status.EXTENDING,
        Status.SHRINKING,
        Status.MIGRATING,
        Status.MIGRATING_TO,
        Status.RESTORING,
        Status.REVERTING,
        Status.SERVER_MIGRATING,
        Status.SERVER_MIGRATING_TO,
        Status.BACKUP_RESTORING,
        Status.BACKUP_CREATING,
        Status.ENSURING,
    }
)
"""Statuses in which a share takes no change of its access rules."""

SERVED: Final = frozenset(
    {
        Status.AVAILABLE,
        Status.INACTIVE,
        Status.ENSURING,
        Status.EXTENDING_ERROR,
        Status.SHRINKING_ERROR,
        Status.SHRINKING_DATA_LOSS,
        Status.REVERTING_ERROR,
        Status.BACKUP_RESTORING_ERROR,
        Status.AWAITING_TRANSFER,
    }
)
"""Statuses of an instance that its back end must hold and export, while no verb works on it."""

BUSY: Final = frozenset(
    {
        Status.EXTENDING,
        Status.SHRINKING,
        Status.MIGRATING,
        Status.REPLICATION_CHANGE,
        Status.RESTORING,
        Status.REVERTING,
        Status.BACKUP_CREATING,
        Status.BACKUP_RESTORING,
        Status.SERVER_MIGRATING,
    }
)
"""Statuses of an instance that is there already, and that a verb works on."""

OUT_OF_SIGHT: Final = frozenset({Status.DEFERRED_DELETING, Status.ERROR_DEFERRED_DELETING})
"""Statuses of a share that is deleted as far as its project is concerned."""

RESETTABLE: Final = (
    Status.CREATING,
    Status.AVAILABLE,
    Status.DELETING,
    Status.ERROR,
    Status.ERROR_DELETING,
    Status.MIGRATING,
    Status.MIGRATING_TO,
    Status.SERVER_MIGRATING,
)
"""What an administrator may set a share to by reset_status."""


class RulesStatus:
    """The aggregate over the access rules of an instance, or of a share."""

    ACTIVE: Final = "active"
    SYNCING: Final = "syncing"
    OUT_OF_SYNC: Final = "out_of_sync"  # what syncing is called before 2.28
    ERROR: Final = "error"


class RuleState:
    """The state of one access rule on one instance."""

    QUEUED_TO_APPLY: Final = "queued_to_apply"
    QUEUED_TO_DENY: Final = "queued_to_deny"
    QUEUED_TO_UPDATE: Final = "queued_to_update"
    APPLYING: Final = "applying"
    DENYING: Final = "denying"
    UPDATING: Final = "updating"
    ACTIVE: Final = "active"
    ERROR: Final = "error"
    NEW: Final = "new"  # what syncing rules are called before 2.28


class IntentState:
    OPEN: Final = "open"
    PARKED: Final = "parked"
    DONE: Final = "done"
    FAILED: Final = "failed"


class ReplicaState:
    ACTIVE: Final = "active"
    IN_SYNC: Final = "in_sync"
    OUT_OF_SYNC: Final = "out_of_sync"
    ERROR: Final = "error"


class TaskState:
    """Phases of a share migration, shown as ``task_state``."""

    RESETTABLE: Final = (
        "migration_starting",
        "migration_in_progress",
        "migration_completing",
        "migration_success",
        "migration_error",
        "migration_cancelled",
        "migration_driver_in_progress",
        "migration_driver_phase1_done",
        "data_copying_starting",
        "data_copying_in_progress",
        "data_copying_completing",
        "data_copying_completed",
        "data_copying_cancelled",
        "data_copying_error",
    )

    BUSY: Final = frozenset(
        {
            "migration_starting",
            "migration_in_progress",
            "migration_completing",
            "migration_driver_starting",
            "migration_driver_in_progress",
            "migration_driver_phase1_done",
            "data_copying_starting",
            "data_copying_in_progress",
            "data_copying_completing",
            "data_copying_completed",
        }
    )


class ServiceStatus:
    ENABLED: Final = "enabled"
    DISABLED: Final = "disabled"


class ServiceState:
    UP: Final = "up"
    DOWN: Final = "down"
    STOPPED: Final = "stopped"
