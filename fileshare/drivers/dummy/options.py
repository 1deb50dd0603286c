"""Options of the dummy driver, and the pools that they describe."""

from __future__ import annotations

import dataclasses

from oslo_config import cfg

from fileshare import errors

OPTS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        "dummy_state_path",
        help=(
            "Directory of the back end's state; processes that share it serve one back end. "
            "Default: /var/lib/fileshare/dummy/SECTION."
        ),
    ),
    cfg.ListOpt(
        "dummy_pools",
        default=["pool:10000:thin"],
        help="Pools as NAME:GIB or NAME:GIB:thin; a thick pool refuses what does not fit.",
    ),
    cfg.ListOpt(
        "dummy_storage_protocols",
        default=["NFS", "CIFS"],
        help="Protocols that the back end serves, reported joined by «_».",
    ),
    cfg.ListOpt(
        "dummy_export_addresses",
        default=["10.254.0.10"],
        help="Addresses in the export locations; nothing listens there.",
    ),
    cfg.DictOpt(
        "dummy_access_types",
        default={
            "NFS": "ip user",
            "CIFS": "ip user",
            "CEPHFS": "cephx",
            "GLUSTERFS": "ip cert",
        },
        help="Access types (blank separated) that the back end enforces, by protocol.",
    ),
    cfg.StrOpt(
        "dummy_cephx_identity",
        default="dummy",
        help="The cephx identity that the back end uses itself; no share is for it.",
    ),
    cfg.StrOpt(
        "dummy_replication_type",
        choices=("readable", "writable", "dr"),
        help="Replication type that the back end reports.",
    ),
    cfg.ListOpt(
        "dummy_driver_delay",
        default=[],
        help="Seconds that calls take: SECONDS for all, OPERATION:SECONDS for one.",
    ),
    cfg.MultiStrOpt(
        "dummy_driver_fail",
        default=[],
        help=(
            "A failure: OPERATION[@PROBABILITY] [share=…] [access_to=…] [times=…] "
            "[error=failed|busy|differently|shrink|kill] [when=before|after]. "
            "control.json in the state directory replaces these at run time."
        ),
    ),
    cfg.BoolOpt(
        "dummy_record_calls",
        default=False,
        help=(
            "Write a line for each call to begun.jsonl and calls.jsonl in the state directory, "
            "and one for each change of a record to records.jsonl."
        ),
    ),
)


@dataclasses.dataclass(frozen=True, slots=True)
class DummyPool:
    """One entry of dummy_pools."""

    name: str
    total: float
    thin: bool


def parse_pool(text: str) -> DummyPool:
    """The pool that *text* describes; raises BadConfiguration."""
    name, _, rest = text.partition(":")
    total, _, kind = rest.partition(":")
    try:
        if not name or kind not in ("", "thin", "thick"):
            raise ValueError(text)
        return DummyPool(name, float(total), kind == "thin")
    except ValueError as error:
        answer = f"dummy_pools does not take {text!r}; write NAME:GIB or NAME:GIB:thin."
        raise errors.BadConfiguration(operator_text=answer) from error
