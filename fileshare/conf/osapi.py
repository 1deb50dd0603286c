"""How the API is reached: addresses, pages and the way callers prove who they are."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"
OPTS = [
    cfg.HostAddressOpt(
        "osapi_share_listen",
        default="::",
        help="Address that the API listens on. With auth_strategy noauth it must be a loopback "
        "address, because anybody who reaches it is believed.",
    ),
    cfg.PortOpt(
        "osapi_share_listen_port",
        default=8786,
        help="TCP port that the API listens on; the one that service catalogues name.",
    ),
    cfg.IntOpt(
        "osapi_share_workers",
        min=1,
        help="Number of processes that serve the API. Not set, it is the number of processors.",
    ),
    cfg.IntOpt(
        "osapi_max_limit",
        default=1000,
        min=1,
        help="Number of objects that one page of a list holds at most. A larger value lets one "
        "request take more memory.",
    ),
    cfg.StrOpt(
        "osapi_share_base_URL",
        help="URL that takes the place of scheme and host in the links of answers, for clients "
        "behind a proxy. Not set, links repeat what the client asked.",
    ),
    cfg.StrOpt(
        "project_id_regex",
        default=r"[0-9a-f\-]+",
        help="Regular expression for the project ids that paths may hold. Other texts in that "
        "place are answered with 404.",
    ),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=[
            ("keystone", "tokens of the identity service, checked by keystonemiddleware"),
            ("tokens", "tokens of our own file, for a service that stands alone"),
            ("noauth", "callers are believed; for tests, on loopback addresses only"),
        ],
        help="How callers prove who they are.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
