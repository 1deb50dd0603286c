"""Virtual environments of programs that are not to share ours."""

from __future__ import annotations

import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path


def installed(where: Path, requirements: Sequence[str]) -> Path:
    """Return the bin directory of an environment, made when missing or of other packages."""
    done = where / "installed"
    wanted = "\n".join(requirements)
    if not (done.exists() and done.read_text() == wanted):
        print(f"Installing {', '.join(requirements)} into {where}", flush=True)
        venv.create(where, with_pip=True, clear=True)
        subprocess.run([where / "bin/pip", "install", "-qq", *requirements], check=True)
        done.write_text(wanted)
    return where / "bin"
