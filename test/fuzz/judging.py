"""What a case came to: how far it went, or the signature of what went wrong."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from case import Case, Reached, WrongError


class Outcome(NamedTuple):
    """What a case came to.

    Attributes:
        reached: how far it came; empty if it went wrong.
        wrong: what went wrong, the same for the same fault; empty if nothing.
        detail: the traceback, or the last words of the process.
    """

    reached: str
    wrong: str = ""
    detail: str = ""


def judged(case: Case, run: Callable[[Case], Reached]) -> Outcome:
    """Try a case in this process."""
    try:
        reached = run(case)
    except WrongError as error:
        return Outcome("", f"{case.entry}: {error}")
    except MemoryError:
        return Outcome("", f"{case.entry}: MemoryError", traceback.format_exc()[-4000:])
    except BaseException as error:
        return Outcome("", _signature(case, error), traceback.format_exc()[-4000:])
    left = os.listdir(tempfile.gettempdir())
    if left:
        _clear(left)
        return Outcome("", f"{case.entry}: left in the folder for temporary files", str(left))
    return Outcome(str(reached))


def _signature(case: Case, error: BaseException) -> str:
    """The same for the same fault: place and kind, whatever the message says of the input."""
    frames: list[Any] = traceback.extract_tb(error.__traceback__)
    at = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
    return f"{case.entry}: {type(error).__name__} at {at}"


def _clear(names: list[str]) -> None:
    for name in names:
        path = Path(tempfile.gettempdir(), name)
        if path.is_file() or path.is_symlink():
            path.unlink(missing_ok=True)
