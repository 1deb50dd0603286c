"""One line in the log for each request, and the last net for what nobody caught."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from fileshare.api import faults
from fileshare.api.middleware.identity import CONTEXT, OPERATION, WSGI, Environ, StartResponse

LOG = logging.getLogger(__name__)

_PLAIN = "/~!$&'()*+,;=:@"
"""What stands for itself in a path; else who asks could write lines of the log."""


class RequestLog:
    """Logs who asked for what, the answer's status and length, and the time it took."""

    def __init__(self, application: WSGI) -> None:
        self.application = application

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        began = time.perf_counter()
        method = environ["REQUEST_METHOD"]
        path = quote(environ.get("PATH_INFO", ""), _PLAIN, "latin-1")  # WSGI's form of bytes
        told: list[Any] = ["-", "-"]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            told[0] = status.partition(" ")[0]
            told[1] = next((v for k, v in headers if k.lower() == "content-length"), "-")
            return start_response(status, headers, *rest)

        try:
            return self.application(environ, start)
        except Exception:
            LOG.exception("%s %s failed unexpectedly", method, path)
            return faults.unexpected()(environ, start)
        finally:
            ctx = environ.get(CONTEXT)
            LOG.info(
                "%s %s (%s) by %s of %s: status %s, %s bytes, %.1f ms",
                method,
                path,
                environ.get(OPERATION, "-"),
                ctx.user_id if ctx else "-",
                ctx.project_id if ctx else "-",
                *told,
                (time.perf_counter() - began) * 1000,
            )
