"""Sphinx directives that draw: `tile-layout`, a command, and `layout`, an expression.

Pictures are made when the page is read. Each stands in a figure over what it was made from.
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
from tilec import layout
from tilec.tools import tile_layout

FOLDER = "pictures"


class _Picture(Directive):
    """A figure: the picture, and below it what it was made from."""

    def draw(self, text: str, file: Path) -> None:
        """Write the SVG of `text`.

        Raises:
            ValueError: if there is none.
        """
        raise NotImplementedError

    def figure(self, text: str) -> list[nodes.Node]:
        """The figure of `text`."""
        folder = Path(self.state.document.settings.env.srcdir) / FOLDER
        folder.mkdir(exist_ok=True)
        name = f"{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')}.svg"
        try:
            self.draw(text, folder / name)
        except ValueError as error:
            raise self.error(str(error)) from None
        picture = nodes.image(uri=f"/{FOLDER}/{name}", alt=text)
        return [nodes.figure("", picture, nodes.caption("", "", nodes.literal("", text)))]


class CommandPicture(_Picture):
    """`{tile-layout} m16n8k16 --operand a --type f16`: as the command draws it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The figure."""
        return self.figure(f"tile-layout {' '.join(self.arguments[0].split())}")

    def draw(self, text: str, file: Path) -> None:
        """Run the command."""
        said = io.StringIO()
        with redirect_stderr(said):
            code = tile_layout.main([*shlex.split(text)[1:], "--format", "svg", "-o", str(file)])
        if code:
            raise ValueError(said.getvalue().strip())


class LayoutPicture(_Picture):
    """`{layout}` with an expression of `tilec.layout`: as a notebook shows it.

    Rows go down and columns across, whatever their order.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The figure."""
        return self.figure(" ".join(self.content))

    def draw(self, text: str, file: Path) -> None:
        """Evaluate the expression."""
        names = {name: getattr(layout, name) for name in layout.__all__}
        found = eval(text, {**names, "unit": layout.LinearLayout.identity})
        if tuple(found.out_sizes) == ("col", "row"):
            found = found.reorder(tuple(found.in_sizes), ("row", "col"))
        picture = found._repr_svg_()
        if picture is None:
            raise ValueError(f"no picture of {text}")
        file.write_text(picture, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_directive("tile-layout", CommandPicture)
    app.add_directive("layout", LayoutPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
