"""A drawing as PNG, by the optional package resvg_py."""

from __future__ import annotations

from tilec.isa import TilecError
from tilec.layout.drawing import FONTS

_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">'
    f'<text y="14" font-family="{FONTS}">{{}}</text></svg>'
)


def as_png(svg: str) -> bytes:
    """The drawing on white, two pixels for one.

    Raises:
        TilecError: if resvg_py is not installed, or finds no font to write with.
    """
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 (optional)
    except ImportError:
        raise TilecError(
            "--format png needs resvg_py: `pip install 'tilec[png]'`; --format svg needs nothing"
        ) from None
    # It leaves out text that it has no font for, without a word.
    if svg_to_bytes(svg_string=_PROBE.format("8")) == svg_to_bytes(svg_string=_PROBE.format("")):
        raise TilecError(
            "--format png finds no font of fixed width; install one, such as DejaVu Sans Mono, "
            "or take --format svg"
        )
    return bytes(svg_to_bytes(svg_string=svg, background="#ffffff", zoom=2))
