"""What kernels are launched with, by whichever tilec is on PYTHONPATH; run by `check_defaults.py`.

Reads requests as JSON from standard input, and writes what the simulator would have been given to
the file that is named, pickled.
"""

from __future__ import annotations

import json
import pickle
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tilec.sim


class _CapturedError(BaseException):
    """Ends a launch before it begins; no handler of errors takes it."""


def main() -> None:
    """Compile what is asked for, and note its launches."""
    found: list[dict[str, Any]] = []

    def launch(ptx: str, kernel: str, grid: Any, block: Any, args: Any, **how: Any) -> None:
        given = {"ptx": ptx, "kernel": kernel, "grid": grid, "block": block, "args": list(args)}
        found.append({**given, "how": how})
        raise _CapturedError

    tilec.sim.launch = launch  # type: ignore[assignment]
    for request in json.load(sys.stdin):
        kernel = runpy.run_path(request["program"])[request["kernel"]]
        kernel = kernel.using(target=request["target"], device="sim", **request["settings"])
        arrays = [np.zeros(shape, dtype) for shape, dtype in request["arrays"]]
        try:
            kernel[tuple(request["grid"])](*arrays, *request["scalars"], **request["constants"])
        except _CapturedError:
            continue
    Path(sys.argv[1]).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
