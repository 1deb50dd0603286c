"""The chores of a whole back end."""

from __future__ import annotations

from fileshare.intents.consumer import Handlers
from fileshare.intents.kinds import EnsureShares, Reconcile
from fileshare.share import ensure, reconciler

handlers = Handlers()

handlers.handles(EnsureShares)(ensure.ensure)
handlers.handles(Reconcile)(reconciler.compare)
