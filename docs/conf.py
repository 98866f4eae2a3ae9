"""Configuration of Sphinx."""

from __future__ import annotations

import sys
from pathlib import Path

import tilec

sys.path.insert(0, str(Path(__file__).parent))  # its extensions

project = "tilec"
author = copyright = "the tilec authors"  # noqa: A001
release = version = tilec.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "gallery_directive",
    "layout_picture",
    "mlir_lexer",
]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
default_role = "code"  # docstrings quote code with single backticks
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"tilec {release}"
html_copy_source = False
pygments_style = "default"
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of signatures that have no entry of their own
suppress_warnings = ["ref.python"]  # attributes and errors of one name in several packages
