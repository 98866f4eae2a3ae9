"""A matrix instruction under a uniform `if` or loop stays under it, in PTX and in SASS.

The control flow of what came out is read as a graph: under the `if` there is a way to the end
around the instruction, under the loop a way from it back to it, and otherwise neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import tilec

PROGRAM = """
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf32>, %n: index)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %fa = "tile.load"(%a, %c0, %c0) : (memref<16x16xf16>, index, index) -> !A
    %fb = "tile.load"(%b, %c0, %c0) {transposed} : (memref<8x16xf16>, index, index) -> !B
    %fc = "tile.load"(%c, %c0, %c0) : (memref<16x8xf32>, index, index) -> !C
BODY
    "tile.store"(%fd, %c, %c0, %c0) : (!C, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }
}
"""
MMA = (
    '"tile.mma"(%fa, %fb, {c}) {{form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}}'
    " : (!A, !B, !C) -> !C"
)
STRAIGHT = f"%fd = {MMA.format(c='%fc')}"
UNIFORM_IF = f"""
    %some = arith.cmpi ugt, %n, %c1 : index
    %fd = scf.if %some -> !C {{
      %product = {MMA.format(c="%fc")}
      scf.yield %product : !C
    }} else {{
      scf.yield %fc : !C
    }}
"""
LOOP = f"""
    %fd = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %fc) -> !C {{
      %product = {MMA.format(c="%sum")}
      scf.yield %product : !C
    }}
"""


@dataclass(frozen=True)
class Graph:
    """Instructions in order, and where each may lead."""

    instructions: tuple[str, ...]
    successors: tuple[frozenset[int], ...]

    def reachable(self, start: int, without: frozenset[int] = frozenset()) -> set[int]:
        """What can be reached from `start`, itself included, never entering `without`."""
        found, waiting = set(), [start]
        while waiting:
            at = waiting.pop()
            if at not in found and at not in without:
                found.add(at)
                waiting += self.successors[at]
        return found

    def ends(self) -> set[int]:
        """Where a thread may end."""
        return {i for i, s in enumerate(self.instructions) if re.search(r"\b(ret|EXIT)\b", s)}

    def find(self, pattern: str) -> frozenset[int]:
        """The instructions that match."""
        return frozenset(i for i, s in enumerate(self.instructions) if re.search(pattern, s))


def graph(lines: Iterator[str]) -> Graph:
    """The graph of one function, of PTX or of SASS without its addresses."""
    instructions: list[str] = []
    labels: dict[str, int] = {}
    for line in lines:
        if label := re.fullmatch(r"(\$?[.\w$]+):", line):
            labels[label[1]] = len(instructions)
        else:
            instructions.append(line)
    successors = []
    for number, text in enumerate(instructions):
        conditional = text.startswith("@")
        jump = re.search(r"\b(?:bra|BRA)\b.*?(\$L\w+|\.L_\w+)", text)
        ends = re.search(r"\b(?:ret|EXIT)\b", text)
        following = {labels[jump[1]]} if jump else set()
        if not (jump or ends) or conditional:
            following.add(number + 1)
        successors.append(frozenset(n for n in following if n < len(instructions)))
    return Graph(tuple(instructions), tuple(successors))


def of_ptx(compiled: tilec.Compiled) -> Graph:
    body = compiled.ptx[compiled.ptx.index("{", compiled.ptx.index(".entry")) + 1 :]
    lines = (line.partition("//")[0].strip() for line in body.splitlines())
    return graph(line for line in lines if line and not line.startswith((".", "{", "}")))


def of_sass(compiled: tilec.Compiled) -> Graph:
    text = compiled.sass[compiled.sass.index(".text.k:") :]
    lines = (re.sub(r"/\*.*?\*/", "", line).strip() for line in text.splitlines())
    return graph(line for line in lines if re.match(r"@|[A-Z]|\.L_", line))


@pytest.mark.parametrize("read", [of_ptx, of_sass])
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize(
    ("body", "around", "back"),
    [(STRAIGHT, False, False), (UNIFORM_IF, True, False), (LOOP, True, True)],
    ids=["straight", "if", "loop"],
)
def test_stays(
    body: str, around: bool, back: bool, level: int, read: Callable[[tilec.Compiled], Graph]
) -> None:
    compiled = tilec.compile(PROGRAM.replace("BODY", body), opt_level=level)
    flow = read(compiled)
    products = flow.find(r"\bmma\.sync|\bHMMA\b")
    assert products
    assert products <= flow.reachable(0)
    # ptxas peels and unrolls loops, and predicates what a short branch holds.
    always = frozenset(p for p in products if not flow.instructions[p].startswith("@"))
    assert bool(flow.reachable(0, without=always) & flow.ends()) == around
    cycles = [p for p in products if any(p in flow.reachable(s) for s in flow.successors[p])]
    assert bool(cycles) == back
