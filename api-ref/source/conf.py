"""The reference of the API by itself, with the OpenAPI documents."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "doc" / "ext"))

project = "fileshare API"
author = "the fileshare authors"
extensions = ["myst_parser", "reference"]
html_theme = "alabaster"
html_theme_options = {"description": "Shared file systems, v2", "page_width": "72em"}
html_show_copyright = False
html_copy_source = False

generated_pages = {"api": "resources"}
generated_openapi = "openapi"
html_extra_path = ["openapi"]
