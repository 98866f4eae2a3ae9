"""Sphinx directive `tile-layout`: the picture that the command of that name draws.

Its argument is the command line without the format; the picture is drawn when the page is read.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from tilec.tools import tile_layout

FOLDER = "pictures"


def draw(arguments: str, file: Path) -> None:
    """Write the SVG that `tile-layout` draws.

    Raises:
        ValueError: if it refuses.
    """
    said = io.StringIO()
    with redirect_stderr(said):
        code = tile_layout.main([*shlex.split(arguments), "--format", "svg", "-o", str(file)])
    if code:
        raise ValueError(said.getvalue().strip())


class LayoutPicture(Directive):
    """`{tile-layout} m16n8k16 --operand a --type f16`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A figure: the picture, and below it the command."""
        arguments = " ".join(self.arguments[0].split())
        name = f"{re.sub(r'[^a-z0-9]+', '-', arguments.lower())}.svg"
        folder = Path(self.state.document.settings.env.srcdir) / FOLDER
        folder.mkdir(exist_ok=True)
        try:
            draw(arguments, folder / name)
        except ValueError as error:
            raise self.error(str(error)) from None
        command = f"tile-layout {arguments}"
        text = nodes.literal("", command)
        return [
            nodes.figure(
                "",
                nodes.image(uri=f"/{FOLDER}/{name}", alt=command),
                nodes.caption("", "", text),
            )
        ]


def setup(app: Any) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_directive("tile-layout", LayoutPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
