"""Which casts verify: of every two element types, those that a rule of widths written here allows.

Integers and floats of every width stand against each other; that a legal cast gives the right
numbers, the tests of the passes say.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from tilec.dialects.tile import builders as tile
from tilec.dialects.tile.casts import CASTS

LAYOUT = "register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32"
PLAIN = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
SPECIAL = {
    "tf32": 19,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "!tile.byte<f6E3M2FN>": 6,
    "!tile.byte<f6E2M3FN>": 6,
    "!tile.byte<f4E2M1FN>": 4,
    "f4E2M1FN": 4,
}
UNKNOWN = {"f8E8M0FNU": 8, "f8E4M3": 8, "f8E5M2FNUZ": 8}
INTEGERS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = PLAIN | SPECIAL | UNKNOWN
IN_MEMORY = FLOATS | INTEGERS | {name: 8 for name in SPECIAL if "byte" in name} | {"tf32": 32}


def legal(source: str, result: str) -> set[str]:
    """The casts between two types."""
    found = {"arith.bitcast"} if IN_MEMORY[source] == IN_MEMORY[result] else set()
    if source in INTEGERS and result in INTEGERS:
        before, after = INTEGERS[source], INTEGERS[result]
        if before != after:
            found |= {"arith.trunci"} if before > after else {"arith.extsi", "arith.extui"}
        return found
    if source in INTEGERS or result in INTEGERS:
        other = source if result in INTEGERS else result
        if other in PLAIN:
            verb = ("fpto{}i" if result in INTEGERS else "{}itofp").format
            found |= {f"arith.{verb(sign)}" for sign in "su"}
        return found
    if {source, result} & UNKNOWN.keys():
        return found
    if "f64" in (source, result) and {source, result} & SPECIAL.keys():
        return found
    before, after = FLOATS[source], FLOATS[result]
    if before != after:
        return found | {"arith.truncf" if before > after else "arith.extf"}
    return found if source == result else found | {"arith.convertf"}


@pytest.fixture(scope="module")
def values() -> Iterator[dict[str, Any]]:
    """A fragment of each element type, in a kernel that is being built."""
    with tile.module("m"), tile.kernel("k", {"x": "memref<8x32xi8>"}, block=32) as (x,):
        yield {
            name: tile.cast("arith.bitcast", _of_width(x, IN_MEMORY[name]), name)
            for name in FLOATS | INTEGERS
        }


def _of_width(memory: Any, bits: int) -> Any:
    integer = tile.load(memory, 0, 0, type=tile.frag_type((8, 32), "i8", LAYOUT))
    fn = "arith.extsi" if bits > 8 else "arith.trunci"
    return integer if bits == 8 else tile.cast(fn, integer, f"i{bits}")


@pytest.mark.parametrize("source", FLOATS | INTEGERS)
def test_every_cast(values: dict[str, Any], source: str) -> None:
    wrong = []
    for result, fn in itertools.product(FLOATS | INTEGERS, CASTS):
        try:
            built = tile.cast(fn, values[source], result)
        except tile.BuildError:
            found = False
        else:
            assert str(built.type) == str(tile.frag_type((8, 32), result, LAYOUT))
            found = True
        if found != (fn in legal(source, result)):
            wrong.append((fn, result))
    assert not wrong
