"""``fileshare.cmd.wsgi:application`` for other WSGI servers (uWSGI, mod_wsgi).

The configuration is found where oslo.config looks: ``/etc/fileshare/fileshare.conf``, or the
file that ``FILESHARE_CONFIG`` names.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import os

from fileshare.api import wsgi
from fileshare.cmd import bootstrap

_FILE = os.environ.get("FILESHARE_CONFIG")

application = wsgi.build(
    bootstrap.make_runtime(
        bootstrap.configure("fileshare-api", ["--config-file", _FILE] if _FILE else [])
    )
)
