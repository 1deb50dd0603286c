"""Handlers of the share daemon, one module for each resource."""

from __future__ import annotations

from fileshare.intents.consumer import Handlers
from fileshare.share.handlers import access, backends, metadata, shares

HANDLERS = Handlers(shares.handlers, access.handlers, backends.handlers, metadata.handlers)
