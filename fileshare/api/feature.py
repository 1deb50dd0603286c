"""Behaviour that changes with a microversion, by name.

Handlers ask ``request.has(feature.NAME)``; numbers of versions stand nowhere else but in the
declarations.
"""

from __future__ import annotations

from fileshare.api.microversions import span

ZONE_ON_CREATE = span("2.1")
SHARE_TYPE_BY_ID = span("2.6")
PUBLIC_ON_MANAGE = span("2.8")
RULES_SYNCING_MASKED = span("2.10", "2.27")
EXPORTS_APART = span("2.9")
CEPHX_ACCESS = span("2.13")
NULL_TASK_STATE = span("2.22")
SNAPSHOTS_BY_DEFAULT = span("2.0", "2.23")
RULE_STATES_MASKED = span("2.0", "2.27")
RULES_WHILE_IN_ERROR = span("2.28")
INEXACT_FILTERS = span("2.36")
IPV6_ACCESS = span("2.38")
QUOTAS_PER_TYPE = span("2.39")
ACTIVE_EXPORTS_ONLY = span("2.47")
ZONES_OF_TYPE = span("2.48")
MANAGE_WITH_SERVERS = span("2.49")
PROGRESS = span("2.54")
SIZES_OF_TYPE = span("2.61")
SECURITY_SERVICE_UPDATE = span("2.63")
ONLY_HOST_HINT = span("2.67")
ADMIN_ONLY_METADATA = span("2.68")
SUBNETS_PER_ZONE = span("2.70")
RULES_WITH_REPLICA_IN_ERROR = span("2.74")
LOCKED_RULES = span("2.82")
SUBNET_METADATA_TO_DRIVER = span("2.89")
RESTORE_ELSEWHERE = span("2.91")
MOUNT_POINT_ON_MANAGE = span("2.92")
INHERITED_ACCESS = span("2.99")
