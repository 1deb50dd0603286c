"""What of manila-tempest-plugin is run: which tests, with which configuration, what must pass."""

from __future__ import annotations

import configparser
import dataclasses
import io
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = ("tempest==47.0.0", "manila-tempest-plugin==3.2.0")


@dataclasses.dataclass(frozen=True)
class Plan:
    """Tests whose ids match *tests*, and options that differ from the stack's tempest.conf.

    An option that is None is left out.
    """

    name: str
    about: str
    tests: str
    options: Mapping[str, Mapping[str, str | None]] = dataclasses.field(default_factory=dict)

    @property
    def expected(self) -> Path:
        """The file with the ids of the tests that pass."""
        return HERE / f"expected-{self.name}.txt"

    def configure(self, text: str) -> str:
        """The stack's tempest.conf, as this plan wants it."""
        parser = configparser.RawConfigParser()
        parser.read_string(text)
        for section, options in self.options.items():
            for option, value in options.items():
                if value is None:
                    parser.remove_option(section, option)
                else:
                    parser.set(section, option, value)
        written = io.StringIO()
        parser.write(written)
        return written.getvalue()


_NOT_SERVED = (
    "run_driver_assisted_backup_tests",
    "run_driver_assisted_migration_tests",
    "run_host_assisted_migration_tests",
    "run_manage_unmanage_snapshot_tests",
    "run_manage_unmanage_tests",
    "run_migration_with_preserve_snapshots_tests",
    "run_mount_snapshot_tests",
    "run_replication_tests",
    "run_revert_to_snapshot_tests",
    "run_share_group_tests",
    "run_snapshot_tests",
)
"""Features that the plug-in is told are not there; a name goes when its feature is served."""

PLANS = {
    plan.name: plan
    for plan in (
        Plan(
            "dhss-false",
            "back ends without share servers, and everything that the plug-in can ask of them",
            r"^manila_tempest_tests\.tests\.api\.",
        ),
        Plan(
            "served",
            "the same, told what is not served: classes whose set-up needs it run otherwise",
            r"^manila_tempest_tests\.tests\.api\.",
            {"share": dict.fromkeys(_NOT_SERVED, "False")},
        ),
        Plan(
            "rbac",
            "what administrators, members and readers may do",
            r"^manila_tempest_tests\.tests\.rbac\.",
            # Everybody would be a member, readers too.
            {"auth": {"tempest_roles": None}, "share": {"default_share_type_name": "default"}},
        ),
    )
}
