"""The process that tries cases: one in a line of JSON, one outcome back."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from case import Case, WrongError


def outcome(case: Case) -> dict[str, Any]:
    """How far a case came, or the signature of what went wrong."""
    try:
        reached = import_module(f"entries.{case.entry}").run(case)
        return {"reached": str(reached)}
    except WrongError as error:
        return {"wrong": f"{case.entry}: {error}", "detail": ""}
    except MemoryError:
        return {"wrong": f"{case.entry}: MemoryError", "detail": traceback.format_exc()}
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        # The same fault has the same place and kind, whatever its message says of the input.
        at = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
        return {
            "wrong": f"{case.entry}: {type(error).__name__} at {at}",
            "detail": traceback.format_exc()[-4000:],
        }


def main() -> None:
    """Serve cases until there are no more."""
    faulthandler.enable()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if plant := os.environ.get("TILEC_FUZZ_PLANT"):
        exec(plant, {})  # takes a mend out, for the test of the harness
    for line in sys.stdin:
        made = outcome(Case(**json.loads(line)))
        replies.write(json.dumps(made) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
