"""Behaviour that changes with a microversion, by name.

Handlers ask ``request.has(feature.NAME)``; numbers of versions stand nowhere else but in the
declarations.
"""

from __future__ import annotations

from fileshare.api.microversions import span

ZONE_ON_CREATE = span("2.1")
EXPORTS_APART = span("2.9")
CEPHX_ACCESS = span("2.13")
SNAPSHOTS_BY_DEFAULT = span("2.0", "2.23")
RULES_WHILE_IN_ERROR = span("2.28")
IPV6_ACCESS = span("2.38")
ACTIVE_EXPORTS_ONLY = span("2.47")
ZONES_OF_TYPE = span("2.48")
ONLY_HOST_HINT = span("2.67")
ADMIN_ONLY_METADATA = span("2.68")
RULES_WITH_REPLICA_IN_ERROR = span("2.74")
LOCKED_RULES = span("2.82")
INHERITED_ACCESS = span("2.99")
