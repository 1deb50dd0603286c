"""``token …``: who may use a service that stands alone."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fileshare import errors
from fileshare.api.middleware import tokens
from fileshare.cmd.manage.program import Doing, Listing, Parser, Rows, Showing, with_dry_run
from fileshare.drivers.files import lock_file

_SHOWN = 12  # letters of a hash: enough to name one


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let no other command change the file meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(path.with_name(f".{path.name}.lock")):
        yield


class Create(Showing):
    """Make a token.  It is shown once: only its hash is kept."""

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("user", help="Name or id of the user.")
        parser.add_argument("project", help="Id of the project.")
        parser.add_argument(
            "--role",
            action="append",
            dest="roles",
            choices=("admin", "manager", "member", "reader"),
            help="May be given several times; default: member.",
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
        path, roles = Path(self.conf.api.tokens_file), parsed.roles or ["member"]
        with _alone(path):
            token = tokens.create(path, parsed.user, parsed.project, roles)
        names = ("token", "id", "user", "project", "roles")
        id = tokens.digest(token)[:_SHOWN]
        return names, (token, id, parsed.user, parsed.project, " ".join(roles))


class List(Listing):
    """List who has a token; the tokens themselves are kept nowhere."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        bearers = tokens.read(Path(self.conf.api.tokens_file))
        return ("id", "user", "project", "roles"), [
            (bearer.hash[:_SHOWN], bearer.user, bearer.project, " ".join(bearer.roles))
            for bearer in bearers
        ]


class Revoke(Doing):
    """Take a token away; the running service notices at once.

    Exit codes: 0 done, 1 there is no such token, or several.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = with_dry_run(super().get_parser(prog_name))
        parser.add_argument("id", help="Id of the token, as 'token list' shows it.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        path = Path(self.conf.api.tokens_file)
        with _alone(path):
            bearers = tokens.read(path)
            found = [bearer for bearer in bearers if bearer.hash.startswith(parsed.id)]
            if not found:
                raise errors.NotFound(resource="Token", id=parsed.id)
            if len(found) > 1:
                raise errors.Conflict(reason=f"{len(found)} tokens begin with {parsed.id!r}.")
            if not parsed.dry_run:
                tokens.write(path, [bearer for bearer in bearers if bearer not in found])
        verb = "would be" if parsed.dry_run else "was"
        self.tell(f"The token of {found[0].user} in {found[0].project} {verb} revoked.")


COMMANDS: dict[str, type] = {
    "token create": Create,
    "token list": List,
    "token revoke": Revoke,
}
