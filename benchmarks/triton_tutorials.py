"""What Triton's tutorials compute, in Triton and in tilec: lines, compile time, warnings.

    python benchmarks/triton_tutorials.py [--rounds 5] [--triton-python PATH] [--json OUT]

tilec's kernels are those of `examples/kernels`, which the tests compare with numpy; Triton's
stand in `tutorial_kernels.py`, of the same tiles and warps. Both are compiled to PTX by turns, in
processes that have compiled before and keep nothing; of the seconds the median is shown. Lines
are those of the kernel, its helpers' not counted, without comments: all of them, with one line for
each argument where annotations want it, and those of the body. What fails to compile stands as it
is told.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import runpy
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import tilec
from source_lines import lines_of

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples" / "kernels"
F16, F32, I32 = np.float16, np.float32, np.int32
E4M3 = ml_dtypes.float8_e4m3fn


@dataclass(frozen=True)
class Peer:
    """tilec's side of a tutorial.

    Attributes:
        tutorial: its number and subject.
        file: of `examples/kernels`.
        kernel: the kernel's name in it.
        arrays: element type and extents of each array.
        others: arguments behind them, and constants by name.
        settings: such as the target.
    """

    tutorial: str
    file: str
    kernel: str
    arrays: tuple[tuple[Any, tuple[int, ...]], ...]
    others: tuple[Any, ...] = ()
    constants: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


VECTOR, MATRIX, HEADS = (4096,), (256, 1024), (2, 256, 64)
PEERS = {
    "vector_add": Peer("01 vector add", "vector_add", "add", ((F32, VECTOR),) * 3),
    "softmax": Peer("02 fused softmax", "softmax", "softmax", ((F32, MATRIX),) * 2),
    "gemm": Peer(
        "03 matrix product",
        "gemm",
        "gemm",
        ((F16, (256, 256)), (F16, (256, 256)), (F32, (256, 256))),
    ),
    "dropout": Peer("04 dropout", "dropout", "dropout", ((F32, VECTOR),) * 2, (0.5, 7)),
    "layer_norm": Peer(
        "05 layer norm, forward",
        "layer_norm",
        "layer_norm",
        ((F16, MATRIX), (F16, (1024,)), (F16, (1024,)), (F16, MATRIX)),
        (1e-5,),
    ),
    "layer_norm_backward": Peer(
        "05 layer norm, backward",
        "layer_norm_backward",
        "gradient_of_x",
        (
            *((F32, MATRIX), (F32, (1024,)), (F32, MATRIX), (F32, MATRIX)),
            *((F32, (8, 1024)), (F32, (8, 1024)), (I32, (8,))),
        ),
        (1e-5,),
        {"BLOCK": 1024},
    ),
    "attention": Peer(
        "06 attention, forward", "attention", "attention", ((F16, HEADS),) * 4, (0.125,)
    ),
    "attention_backward": Peer(
        "06 attention, backward",
        "attention_backward",
        "gradients_of_keys",
        (*((F16, HEADS),) * 4, (F32, (2, 256)), (F32, (2, 256)), (F16, HEADS), (F16, HEADS)),
        (0.125,),
        {"CAUSAL": False},
    ),
    "math_functions": Peer(
        "07 libdevice",
        "math_functions",
        "apply",
        ((F32, VECTOR),) * 3,
        constants={"FUNCTION": "asinh"},
    ),
    "grouped_gemm": Peer("08 grouped GEMM", "grouped_gemm", "grouped_gemm", ()),
    "persistent_gemm": Peer(
        "09 persistent GEMM",
        "persistent_gemm",
        "persistent_gemm",
        (*((F16, (256, 256)),) * 3, (I32, (1,))),
    ),
    "scaled_gemm": Peer(
        "10 block-scaled GEMM",
        "scaled_gemm",
        "scaled_gemm",
        (*((np.uint8, (256, 256)),) * 2, *((np.uint8, (256, 8)),) * 2, (F32, (256, 256))),
    ),
    "dependent": Peer("11 dependent launch", "dependent_add", "scaled", ((F32, VECTOR),) * 3),
}


class Triton:
    """A process that compiles Triton's kernels when it is told to."""

    def __init__(self, python: str) -> None:
        command = [python, str(HERE / "tutorial_kernels.py")]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.version: str = self._answer()["version"]

    def compiled(self, name: str) -> dict[str, Any]:
        """What it says of one compilation."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


def compiled(peer: Peer) -> dict[str, Any]:
    """Lines of a kernel that is new, seconds to its PTX, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel = runpy.run_path(str(EXAMPLES / f"{peer.file}.py"))[peer.kernel]
        kernel = kernel.using(cache=False, **peer.settings)
        arrays: list[Any] = [np.empty(shape, dtype) for dtype, shape in peer.arrays]
        if peer.file == "grouped_gemm":
            arrays = [[np.empty((64, 64), dtype)] * 4 for dtype in (F16, F16, F32)]
        start = time.perf_counter()
        kernel.compile(*arrays, *peer.others, **peer.constants)
        seconds = time.perf_counter() - start
    said = [str(one.message) for one in caught]
    return {**lines_of(kernel.function), "seconds": seconds, "warnings": said}


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The runs of one kernel, of which the first loads what all need."""
    said = sorted({one for run in runs for one in run["warnings"]})
    return {**runs[0], "seconds": [run["seconds"] for run in runs[1:]], "warnings": said}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="compilations of each")
    parser.add_argument("--triton-python", default=sys.executable, help="Python with Triton")
    parser.add_argument("--json", type=Path, help="where to write the results")
    given = parser.parse_args()
    triton = Triton(given.triton_python)
    found: dict[str, Any] = {"triton": {}, "tilec": {}}
    for name, one in PEERS.items():  # by turns, so that what else the machine does is for both
        pairs = [(triton.compiled(name), compiled(one)) for _ in range(given.rounds + 1)]
        found["triton"][name], found["tilec"][name] = map(
            together, map(list, zip(*pairs, strict=True))
        )
    print(f"Triton {triton.version}; medians of {given.rounds} compilations to PTX")
    print(f"{'tutorial':26} {'lines (body)':>21} {'seconds':>16} {'ratio':>6}  warnings")
    for name, one in PEERS.items():
        mine, other = found["tilec"][name], found["triton"][name]
        lines = " : ".join(f"{side['lines']} ({side['body']})" for side in (other, mine))
        warned = f"{len(other['warnings'])} : {len(mine['warnings'])}"
        if "error" in other:
            print(f"{one.tutorial:26} {lines:>21} {other['error']}")
            continue
        theirs, own = (statistics.median(side["seconds"]) for side in (other, mine))
        times = f"{theirs:.3f} : {own:.3f}"
        print(f"{one.tutorial:26} {lines:>21} {times:>16} {own / theirs:6.2f}  {warned}")
    if given.json:
        machine = {"python": platform.python_version(), "cores": os.cpu_count()}
        about = {"tilec": tilec.__version__, "triton": triton.version, **machine}
        found = {"about": about, "rounds": given.rounds, **found}
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
