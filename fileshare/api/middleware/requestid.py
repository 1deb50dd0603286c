"""The id of a request: in the environment for the context and the log, in the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fileshare.api.middleware.identity import WSGI, Environ, StartResponse
from fileshare.context import Context, new_request_id, tell_the_log

HEADER = "x-openstack-request-id"
_FORM = re.compile(r"req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RequestId:
    """Gives each request an id of its own; one that came with it is kept as the global one."""

    def __init__(self, application: WSGI) -> None:
        self.application = application

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        id = environ["openstack.request_id"] = new_request_id()
        inbound = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
        if _FORM.fullmatch(inbound):
            environ["openstack.global_request_id"] = inbound
        # Until it is known who asks, and where nobody is found.
        tell_the_log(Context(id, global_request_id=environ.get("openstack.global_request_id")))

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, [*headers, (HEADER, id)], *rest)

        return self.application(environ, start)
