"""``python tests/conformance/api/freeze.py 2.99``: promise that a version stays as it is.

A frozen version's digest lies in ``tests/conformance/frozen``; freeze a version when it is
released, and never again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fileshare.api.microversions import HISTORY, VERSIONS
from fileshare.api.openapi import digest, document
from fileshare.api.policy import all_operations

FROZEN = Path(__file__).parents[1] / "frozen"


def current(version):
    return digest(document(all_operations(), VERSIONS[version]))


def main(versions):
    FROZEN.mkdir(exist_ok=True)
    for version in versions or HISTORY:
        path = FROZEN / f"{version}.sha256"
        if path.exists():
            sys.exit(f"{version} is frozen already")
        path.write_text(current(version) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
