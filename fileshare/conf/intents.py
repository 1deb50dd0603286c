"""[intents]: how promised work is claimed, repeated and given up."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "intents"

OPTS = [
    cfg.IntOpt(
        "lease",
        default=60,
        min=2,
        help="Seconds for which a claim holds. A live worker renews it three times in a lease; "
        "the work of a killed one is taken over when it ends.",
    ),
    cfg.IntOpt(
        "longest_work",
        default=7200,
        min=1,
        mutable=True,
        help="Seconds for which one claim is renewed. A call of a driver that takes longer hangs: "
        "another worker takes the work over, waits until the call ends, and gives the work up "
        "if it never does; what the hung one says then is not listened to any more. What is done "
        "by the clock, such as the comparison of a back end, is begun anew after this time.",
    ),
    cfg.FloatOpt(
        "poll_interval",
        default=5.0,
        min=0.05,
        mutable=True,
        help="Seconds between two looks for work whose ring was lost. Work is found at once as "
        "long as messages arrive; with the broker away it is found by these looks alone.",
    ),
    cfg.IntOpt(
        "max_attempts",
        default=5,
        min=1,
        mutable=True,
        help="How often a piece of work may be claimed before it is given up, its resource is "
        "settled as failed, and the user is told that it was interrupted.",
    ),
    cfg.IntOpt(
        "give_up_after",
        default=3600,
        min=0,
        mutable=True,
        help="Seconds after which work that no daemon claims is settled as failed by a "
        "scheduler, because the back end it waits for is gone: the scheduler must have seen for "
        "so long that no other work of the back end was in hand either. 0: never.",
    ),
    cfg.IntOpt(
        "workers",
        default=16,
        min=1,
        help="Threads that perform work in each process.",
    ),
    cfg.IntOpt(
        "retain_days",
        default=30,
        min=0,
        help="Days for which closed work is kept as history.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS, group=GROUP)
