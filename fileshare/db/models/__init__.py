"""The tables."""

from __future__ import annotations

from fileshare.db.models.base import Base, new_id
from fileshare.db.models.group_types import (
    ShareGroupType,
    ShareGroupTypeProject,
    ShareGroupTypeShareType,
    ShareGroupTypeSpec,
)
from fileshare.db.models.intents import Intent, Message
from fileshare.db.models.locks import ResourceLock
from fileshare.db.models.quotas import QuotaLimit, QuotaUsage
from fileshare.db.models.requests import RequestKey
from fileshare.db.models.services import AvailabilityZone, Member, PoolReport, Service
from fileshare.db.models.shares import (
    AccessMapping,
    AccessRule,
    ExportLocation,
    Share,
    ShareInstance,
    ShareMetadata,
)
from fileshare.db.models.types import ShareType, ShareTypeExtraSpec, ShareTypeProject

__all__ = [
    "AccessMapping",
    "AccessRule",
    "AvailabilityZone",
    "Base",
    "ExportLocation",
    "Intent",
    "Member",
    "Message",
    "PoolReport",
    "QuotaLimit",
    "QuotaUsage",
    "RequestKey",
    "ResourceLock",
    "Service",
    "Share",
    "ShareGroupType",
    "ShareGroupTypeProject",
    "ShareGroupTypeShareType",
    "ShareGroupTypeSpec",
    "ShareInstance",
    "ShareMetadata",
    "ShareType",
    "ShareTypeExtraSpec",
    "ShareTypeProject",
    "new_id",
]
