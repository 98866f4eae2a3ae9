"""Which row and column of A each bit of a fragment of single bits is, of `wgmma`.

One bit is set in the registers of some threads, and D tells where it lies: B has the bits of a
column's number in its columns, and ones in the next.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import Product
from tilec.isa import form as find_form
from tilec.isa.operands import WARPGROUP_THREADS
from tilec.layout import fragment_of
from tilec.layout.index_arrays import index_arrays
from tilec.runtime import from_registers

from ..driver import Cuda
from .answer import Row
from .warp import Warp

FORM = "wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc.a::registers"
BITS = range(32)
"""Of a register; those that are tried."""
QUAD = 4
"""Threads of a row, as the layout has it: those that are set together differ in their rows."""
THREADS = range(WARPGROUP_THREADS)
"""Threads that are tried alone."""

Place = tuple[int, int]
Places = set[Place]
"""Rows and columns."""
_SHOWN = 4


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for the bits of quads, and one for the rows of single threads."""
    if target != "sm_90a":
        return
    form = find_form(FORM)
    assert isinstance(form, Product)
    reader = Reader(cuda, form, target)
    a = form.operand("a")
    laid_out = Layout(form)
    quads: dict[str, tuple[Places, Places]] = {}
    for register in range(a.registers):
        for bit in BITS:
            for place in range(QUAD):
                threads = np.arange(a.threads) % QUAD == place
                name = f"register {register}, bit {bit}, threads {place} mod {QUAD}"
                wanted = laid_out.places(register, bit, threads)
                quads[name] = (reader.places(register, bit, threads), wanted)
    yield _row("rows and columns of bits of A", quads)
    alone: dict[str, tuple[Places, Places]] = {}
    for thread in THREADS:
        for register in range(a.registers):
            threads = np.arange(a.threads) == thread
            name = f"register {register}, thread {thread}"
            wanted = laid_out.places(register, 0, threads)
            alone[name] = (reader.places(register, 0, threads), wanted)
    yield _row("rows of A of threads", alone)
    reader.close()


class Reader:
    """Finds where bits of A lie.

    Args:
        cuda: the GPU.
        form: of single bits, with A in registers and nine columns of B or more.
        target: of the PTX.
    """

    def __init__(self, cuda: Cuda, form: Product, target: str) -> None:
        self._warp = Warp(cuda, form, target)
        self._form = form
        m, n, k = form.shape
        self._digits = k.bit_length() - 1
        b = np.zeros((k, n), np.int64)
        b[:, : self._digits] = np.arange(k)[:, None] >> np.arange(self._digits) & 1
        b[:, self._digits] = 1
        self._b = self._warp.given("b", b)
        self._c = self._warp.given("c", np.zeros((m, n), np.int64))

    def places(self, register: int, bit: int, threads: np.ndarray) -> Places:
        """Rows and columns of a bit of a register in some threads; column -1 if one row has two."""
        a = self._form.operand("a")
        registers = np.zeros((a.registers, a.threads), np.uint32)
        registers[register, threads] = 1 << bit
        given = {"a": registers, "b": self._b, "c": self._c}
        d = from_registers(self._form, "d", self._warp.execute(given)).astype(np.int64)
        columns = d[:, : self._digits] @ (1 << np.arange(self._digits))
        count = d[:, self._digits]
        return {
            (int(row), int(columns[row]) if count[row] == 1 else -1)
            for row in np.flatnonzero(count)
        }

    def close(self) -> None:
        """Give memory back."""
        self._warp.close()


class Layout:
    """The same by `tilec.layout`.

    Args:
        form: the form.
    """

    def __init__(self, form: Product) -> None:
        a = form.operand("a")
        bits = a.register.bits
        found = index_arrays(fragment_of(form, "a"), bits).registers
        self._elements = found.reshape(a.registers, a.threads, bits)
        self._columns = a.cols

    def places(self, register: int, bit: int, threads: np.ndarray) -> Places:
        """As `Reader.places`."""
        found = self._elements[register, threads, bit].tolist()
        return {divmod(element, self._columns) for element in found}


def _row(question: str, found: dict[str, tuple[Places, Places]]) -> Row:
    """A row that says of which bits the layout is wrong; all that was found is kept of these."""
    differing = {name: sorted(got) for name, (got, wanted) in found.items() if got != wanted}
    verdict = "as laid out"
    if differing:
        name = next(iter(differing))
        wanted = sorted(found[name][1])
        verdict = (
            f"{len(differing)} of {len(found)} differ; {name}: {differing[name][:_SHOWN]}, "
            f"not {wanted[:_SHOWN]}"
        )
    return {
        "work": "probe",
        "question": question,
        "form": FORM,
        "verdict": verdict,
        "results": differing,
        "says": f"{question} ({FORM}): {verdict}",
    }
