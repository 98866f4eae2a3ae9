"""Where there are colours, and what commands say on standard error in them."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

_BOLD = 1
_COLOURS = {"error": 31, "warning": 35, "remark": 34, "note": 36}
"""By severity, as clang and MLIR have them: red, magenta, blue, cyan."""
_CARET = 32
_DIAGNOSTIC = rf"(?m)^(.*?:\d+: |[^\s:]+: |)({'|'.join(_COLOURS)}): (.*)$"
_CARETS = r"(?m)^([ \t]*)\^$"


def say(text: str) -> None:
    """Write diagnostics to standard error."""
    sys.stderr.write(coloured(text) if has_colours(sys.stderr) else text)


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal that is to have colours.

    `NO_COLOR`, if it is set and not empty, says that none is to (no-color.org); a `TERM` that is
    `dumb`, empty or missing that one cannot.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb"):
        return False
    return stream.isatty()


def coloured(text: str) -> str:
    """Rendered diagnostics with the codes of colours: places and messages bold, carets green.

    ECMA-48, 8.3.117, "Select Graphic Rendition".
    """

    def diagnostic(found: re.Match[str]) -> str:
        place, severity, message = found.groups()
        said = _styled(f"{severity}:", _BOLD, _COLOURS[severity])
        at = _styled(place, _BOLD) if place else ""
        return f"{at}{said} {_styled(message, _BOLD) if severity != 'note' else message}"

    text = re.sub(_DIAGNOSTIC, diagnostic, text)
    return re.sub(_CARETS, lambda found: f"{found[1]}{_styled('^', _BOLD, _CARET)}", text)


def _styled(text: str, *codes: int) -> str:
    return f"\033[{';'.join(map(str, codes))}m{text}\033[0m"
