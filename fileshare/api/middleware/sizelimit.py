"""The bound on a request's body: ``[oslo_middleware] max_request_body_size``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import webob.exc
from oslo_config import cfg
from oslo_middleware import sizelimit

from fileshare.api.middleware.identity import WSGI, Environ, StartResponse


class SizeLimit:
    """Hands on what says itself that it is short, and refuses what says that it is too large.

    What does not say how large it is goes through oslo.middleware.
    """

    def __init__(self, application: WSGI, conf: cfg.ConfigOpts) -> None:
        self.application, self.conf = application, conf
        self.limiter = cast("WSGI", sizelimit.RequestBodySizeLimiter(application, conf))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        return self._chosen(environ)(environ, start_response)

    def _chosen(self, environ: Environ) -> WSGI:
        length = environ.get("CONTENT_LENGTH") or ""
        if not length:
            return self.limiter if "HTTP_TRANSFER_ENCODING" in environ else self.application
        if not length.isdigit():
            return self.limiter
        most: int = self.conf.oslo_middleware.max_request_body_size
        if int(length) <= most:
            return self.application
        reason = f"Request is too large. Larger than max_request_body_size ({most})."
        return cast("WSGI", webob.exc.HTTPRequestEntityTooLarge(explanation=reason))
