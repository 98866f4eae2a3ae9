"""PTX around the instructions that a probe tries, and a launch of it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.isa import LANES
from tilec.isa.operands import WARPGROUP_THREADS

from ..driver import Cuda

THREADS = WARPGROUP_THREADS

POLLS = 1 << 14
"""Times that a phase is asked for, 200 ns apart, before it is taken never to complete."""


def module(parameters: Sequence[str], body: Sequence[str], version: str = "8.0") -> str:
    """A module for sm_90a with the kernel `probe`, of `THREADS` threads.

    Args:
        parameters: as PTX declares them, without `.param`.
        body: declarations, then instructions, without the `ret` at the end.
        version: of PTX.
    """
    declared = ", ".join(f".param {one}" for one in parameters)
    lines = "\n".join(f"    {line}" for line in (*body, "ret;"))
    return (
        f".version {version}\n.target sm_90a\n.address_size 64\n"
        f".visible .entry probe({declared})\n.reqntid {THREADS}, 1, 1\n{{\n{lines}\n}}\n"
    )


def filled(name: str, size: int, word: int) -> list[str]:
    """Instructions with which the CTA's threads fill an array in shared memory.

    They use `%at` and `%lane`, both `.b32`, of which `%lane` is the thread.
    """
    lines = [f"mov.u32 %at, {name};", "mad.lo.u32 %at, %lane, 4, %at;"]
    step = 4 * THREADS
    return lines + [f"st.shared.b32 [%at+{n}], {word};" for n in range(0, size, step)]


def copied_in(name: str, size: int, pointer: str) -> list[str]:
    """Instructions with which they fill it from global memory; registers as of `given_back`."""
    lines = [f"ld.param.u64 %p, [{pointer}];", "mad.wide.u32 %p, %lane, 4, %p;"]
    lines += [f"mov.u32 %at, {name};", "mad.lo.u32 %at, %lane, 4, %at;"]
    for n in range(0, size, 4 * THREADS):
        lines += [f"ld.global.b32 %word, [%p+{n}];", f"st.shared.b32 [%at+{n}], %word;"]
    return lines


def given_back(name: str, size: int, pointer: str) -> list[str]:
    """Instructions with which they copy it to global memory; `%p` is `.b64`, `%word` `.b32`."""
    lines = [f"ld.param.u64 %p, [{pointer}];", "mad.wide.u32 %p, %lane, 4, %p;"]
    lines += [f"mov.u32 %at, {name};", "mad.lo.u32 %at, %lane, 4, %at;"]
    for n in range(0, size, 4 * THREADS):
        lines += [f"ld.shared.b32 %word, [%at+{n}];", f"st.global.b32 [%p+{n}], %word;"]
    return lines


class Probe:
    """A module's kernel `probe`, with its memory.

    Args:
        cuda: the GPU.
        text: the module.
    """

    def __init__(self, cuda: Cuda, text: str) -> None:
        self.cuda = cuda
        self._module = cuda.load(text)
        self._function = cuda.function(self._module, "probe")
        self._places: list[int] = []

    def given(self, array: np.ndarray) -> int:
        """The address of an array's copy on the GPU."""
        self._places.append(self.cuda.alloc(array.nbytes))
        self.cuda.upload(self._places[-1], np.ascontiguousarray(array))
        return self._places[-1]

    def launch(self, ctas: int, values: Sequence[Any]) -> None:
        """Run it: an address is an int, any other value one of ctypes."""
        held = [ctypes.c_uint64(one) if isinstance(one, int) else one for one in values]
        self.cuda.launch(self._function, (ctas, 1, 1), (THREADS, 1, 1), held)
        self.cuda.synchronize()

    def result(self, address: int, like: np.ndarray) -> np.ndarray:
        """What an array of this shape and type holds now."""
        found = np.empty_like(like)
        self.cuda.download(address, found)
        return found

    def close(self) -> None:
        """Give memory and module back."""
        for place in self._places:
            self.cuda.free(place)
        self.cuda.unload(self._module)


def rows_of_accumulator() -> list[str]:
    """Instructions that put the first row and column of a thread's accumulator into `%row`, `%col`.

    Registers 0 and 1 lie there and one column on, 2 and 3 eight rows below. They use `%lane`.
    """
    return [
        "shr.u32 %row, %lane, 2;",
        "and.b32 %row, %row, 7;",
        f"shr.u32 %col, %lane, {LANES.bit_length() - 1};",
        "mad.lo.u32 %row, %col, 16, %row;",
        "and.b32 %col, %lane, 3;",
        "shl.b32 %col, %col, 1;",
    ]
