"""The unmodified `openstack` command line, kept warm.

The client spends seconds on looking up its plug-ins and milliseconds on a command. `Client` keeps
one process of it and gives it one command line after another: the same code, the same output.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self


class ClientFailed(Exception):
    """A command ended with another exit code than 0; holds what it printed as an error."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a command came to."""

    code: int
    out: str
    err: str


class Client:
    """One process of the client, with the environment of somebody; a context manager."""

    def __init__(self, variables: dict[str, str]) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "devstack.osc"],
            cwd=Path(__file__).resolve().parent.parent,
            env={**kept, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        self._process.wait(timeout=10)

    def run(self, *arguments: str) -> Answer:
        """Run one command line and return what it came to."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ClientFailed("the client has no pipes")
        stdin.write(json.dumps(arguments) + "\n")
        stdin.flush()
        return Answer(**json.loads(stdout.readline()))

    def do(self, *arguments: str) -> str:
        """Run a command line and return what it prints; ClientFailed where it fails."""
        answer = self.run(*arguments)
        if answer.code:
            command = " ".join(("openstack", *arguments))
            raise ClientFailed(f"{command} ended with {answer.code}:\n{answer.err}")
        return answer.out

    def ask(self, *arguments: str) -> Any:
        """Run a command line and return its answer as data."""
        return json.loads(self.do(*arguments, "-f", "json"))


def _one(arguments: list[str]) -> Answer:
    from openstackclient import shell  # noqa: PLC0415  (slow, and only this process needs it)

    out, err = io.StringIO(), io.StringIO()
    code: object
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = shell.OpenStackShell().run(arguments)
        except SystemExit as end:
            code = end.code
    return Answer(
        code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue()
    )


def main() -> None:
    """Answer command lines until there are no more."""
    answers = sys.stdout
    for line in sys.stdin:
        answers.write(json.dumps(dataclasses.asdict(_one(json.loads(line)))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
