"""The manual."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ext"))

project = "fileshare"
author = "the fileshare authors"
extensions = ["myst_parser", "reference"]
if shutil.which("dot"):
    extensions.append("sphinx.ext.graphviz")
myst_enable_extensions = ["deflist", "attrs_inline"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "Shared file systems by self-service", "page_width": "72em"}
html_show_copyright = False
html_copy_source = False

generated_pages = {"api": "reference/api", "decisions": "contributor/decisions"}
