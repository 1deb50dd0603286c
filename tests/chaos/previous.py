"""The release before: the program as it was before the newest commit that changed it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
CHOICE = "FILESHARE_PREVIOUS"
"""Names another commit to be the release before."""


def git(*words: str) -> str:
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LookupError(done.stderr.strip())
    return done.stdout.strip()


def commit() -> str:
    """The release before; raises LookupError where the history does not reach back to it."""
    if os.environ.get(CHOICE):
        return git("rev-parse", os.environ[CHOICE])
    if git("status", "--porcelain", "--", "fileshare"):
        return git("rev-parse", "HEAD")
    newest = git("log", "-1", "--format=%H", "--", "fileshare")
    if git("rev-parse", "--is-shallow-repository") == "true" and not has_parent(newest):
        raise LookupError("this is a shallow clone")
    return git("rev-parse", f"{newest}^")


def has_parent(name: str) -> bool:
    return bool(git("rev-list", "--parents", "-1", name).partition(" ")[2])


def unpack(directory: pathlib.Path) -> tuple[str, str]:
    """Put the release before below *directory*; its commit, and the path to import it from."""
    try:
        name = commit()
    except (LookupError, FileNotFoundError) as error:
        pytest.skip(f"The release before cannot be had: {error}")
    archive = directory / "previous.tar"
    git("archive", f"--output={archive}", name, "fileshare")
    with tarfile.open(archive) as packed:
        packed.extractall(directory / "previous", filter="data")
    return name, str(directory / "previous")
