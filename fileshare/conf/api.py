"""What the API does with requests and answers."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "api"
OPTS = [
    cfg.StrOpt(
        "response_validation",
        default="ignore",
        choices=[
            ("error", "an answer that breaks its schema becomes an error 500"),
            ("warn", "it is logged"),
            ("ignore", "answers are not compared with their schema"),
        ],
        help="What happens with answers that break their own schema. The comparison costs more "
        "than the rest of a long list, so it is meant for tests.",
    ),
    cfg.StrOpt(
        "service_binary_prefix",
        default="manila",
        help="Word before the dash in the names of services on the wire (manila-share). Clients, "
        "exporters and test suites look for the default.",
    ),
    cfg.StrOpt(
        "tokens_file",
        default="$state_path/tokens.json",
        help="File of the tokens that auth_strategy tokens knows: a hash, a user, a project and "
        "roles for each. It is made at the first start, and read again when it changes.",
    ),
    cfg.IntOpt(
        "idempotency_key_ttl",
        default=86400,
        min=60,
        help="Seconds for which a request that makes something, and is sent again with the same "
        "Idempotency-Key, is answered with what the first one made.",
    ),
    cfg.IntOpt(
        "threads",
        default=16,
        min=1,
        help="Number of threads in each process of the API. Each may hold one connection to the "
        "database, so keep it below the size of the pool.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS, group=GROUP)
