"""The bound on a request's body: ``[oslo_middleware] max_request_body_size``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from oslo_config import cfg
from oslo_middleware import sizelimit

from fileshare.api.middleware.identity import WSGI, Environ, StartResponse


class SizeLimit:
    """Hands on what says itself that it is short; all else goes through oslo.middleware."""

    def __init__(self, application: WSGI, conf: cfg.ConfigOpts) -> None:
        self.application, self.conf = application, conf
        self.limiter = cast("WSGI", sizelimit.RequestBodySizeLimiter(application, conf))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        return (self.application if self._is_short(environ) else self.limiter)(
            environ, start_response
        )

    def _is_short(self, environ: Environ) -> bool:
        length = environ.get("CONTENT_LENGTH") or ""
        if not length:
            return "HTTP_TRANSFER_ENCODING" not in environ
        most: int = self.conf.oslo_middleware.max_request_body_size
        return length.isdigit() and int(length) <= most
