"""Video instructions, spelled at random, give what the ISA's pseudo-code does, coded apart."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tilec.sim import check, launch

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{{
  .reg .b32 %r<4>, %d<{count}>;
  .reg .b64 %p<5>;
  ld.param.u64 %p0, [x];
  ld.param.u64 %p1, [y];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %p2, %r0, 12;
  add.u64 %p0, %p0, %p2;
  ld.global.u32 %r1, [%p0];
  ld.global.u32 %r2, [%p0+4];
  ld.global.u32 %r3, [%p0+8];
  mul.wide.u32 %p3, %r0, {stride};
  add.u64 %p1, %p1, %p3;
{body}
  ret;
}}
"""
PARTS = ["", *(f".b{n}" for n in range(4)), ".h0", ".h1"]
TYPES = ["u32", "s32"]


def bits_of(value: int, type_: str, width: int) -> int:
    """The low bits of a number, read as the type."""
    value &= (1 << width) - 1
    return value - (1 << width) if type_ == "s32" and value >> (width - 1) else value


def part(value: int, type_: str, selector: str) -> int:
    if not selector:
        return bits_of(value, type_, 32)
    width = 8 if selector[1] == "b" else 16
    return bits_of(value >> width * int(selector[2]), type_, width)


def clamp(value: int, type_: str, width: int) -> int:
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if type_ == "s32" else (0, 2**width - 1)
    return max(low, min(high, value))


def average(a: int, b: int) -> int:
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


OPS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "absdiff": lambda a, b: abs(a - b),
    "min": min,
    "max": max,
    "avrg": average,
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


class Case:
    """An instruction, with what the ISA says that it gives."""

    def __init__(self, text: str, expected: Callable[[int, int, int], int]) -> None:
        self.text = text
        self.expected = expected


def scalar(rng: random.Random) -> Case:
    """vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr or vset, in any of its forms."""
    name = rng.choice(["add", "sub", "absdiff", "min", "max", "shl", "shr", "set"])
    of, left, right = (rng.choice(TYPES) for _ in range(3))
    a_part, b_part = rng.choice(PARTS), rng.choice(PARTS)
    form = rng.choice(["plain", "second", "merge"])
    second = rng.choice(["add", "min", "max"])
    sat, word, mode = rng.random() < 0.5, rng.choice(list(COMPARE)), rng.choice(["clamp", "wrap"])
    to = rng.choice(PARTS[1:]) if form == "merge" else ""
    if name == "set":
        of, sat, types = "u32", False, f"{left}.{right}.{word}"
    elif name in ("shl", "shr"):
        right = "u32"
        types = f"{of}.{left}.u32{'.sat' if sat else ''}.{mode}"
    else:
        types = f"{of}.{left}.{right}{'.sat' if sat else ''}"

    def expected(a: int, b: int, c: int) -> int:
        ta, tb = part(a, left, a_part), part(b, right, b_part)
        if name == "set":
            t = int(COMPARE[word](ta, tb))
        elif name in ("shl", "shr"):
            count = min(tb, 32) if mode == "clamp" else tb % 32
            t = ta << count if name == "shl" else ta >> count
        else:
            t = OPS[name](ta, tb)
        width = {"": 32, "b": 8, "h": 16}[to[1:2]]
        if sat:
            t = clamp(t, of, width)
        if form == "second":
            t = OPS[second](t, bits_of(c, of, 32))
        if form == "merge":
            shift = width * int(to[2])
            field = ((1 << width) - 1) << shift
            return (c & ~field) | (t << shift & field)
        return t & 0xFFFFFFFF

    tail = "" if form == "plain" else ", %r3"
    suffix = f".{second}" if form == "second" else ""
    return Case(f"v{name}.{types}{suffix} {{d}}{to}, %r1{a_part}, %r2{b_part}{tail};", expected)


def multiply(rng: random.Random) -> Case:
    """vmad: with a negated product or addend, or rounded up."""
    left, right = rng.choice(TYPES), rng.choice(TYPES)
    a_part, b_part = rng.choice(PARTS), rng.choice(PARTS)
    kind = rng.choice(["", "", "po", "a", "b", "ab", "c"])
    shift, sat = rng.choice([0, 7, 15]), rng.random() < 0.5
    signed = "s32" in (left, right) or kind in ("a", "b", "ab", "c")
    of = "s32" if signed else "u32"

    def expected(a: int, b: int, c: int) -> int:
        tmp = part(a, left, a_part) * part(b, right, b_part)
        addend, lsb = bits_of(c, of, 32), 0
        if kind == "po":
            lsb = 1
        elif kind in ("a", "b"):
            tmp, lsb = ~tmp, 1
        elif kind == "c":
            addend, lsb = ~addend, 1
        result = (tmp + addend + lsb) >> shift
        return (clamp(result, of, 32) if sat else result) & 0xFFFFFFFF

    flags = ".po" * (kind == "po") + ".sat" * sat + (f".shr{shift}" if shift else "")
    signs = ["-" if letter in kind and kind != "po" else "" for letter in "abc"]
    return Case(
        f"vmad.{of}.{left}.{right}{flags} {{d}}, {signs[0]}%r1{a_part}, {signs[1]}%r2{b_part}, "
        f"{signs[2]}%r3;",
        expected,
    )


def lanes(rng: random.Random) -> Case:
    """The instructions on two and on four parts."""
    name = rng.choice([*OPS, "set"])
    count = rng.choice([2, 4])
    width, letter = 32 // count, {2: "h", 4: "b"}[count]
    of, left, right = (rng.choice(TYPES) for _ in range(3))
    add, sat, word = rng.random() < 0.5, rng.random() < 0.5, rng.choice(list(COMPARE))
    orders = [list(range(count)), list(range(count, 2 * count))]
    selectors = ["", ""]
    for i in range(2):
        if rng.random() < 0.5:
            orders[i] = [rng.randrange(2 * count) for _ in range(count)]
            selectors[i] = f".{letter}" + "".join(map(str, reversed(orders[i])))
    mask, masked = set(range(count)), ""
    if rng.random() < 0.5:
        mask = set(rng.sample(range(count), rng.randint(1, count)))
        masked = f".{letter}" + "".join(map(str, sorted(mask, reverse=True)))
    sat = sat and name != "set" and not add

    def expected(a: int, b: int, c: int) -> int:
        both = a | b << 32
        total, merged = c, 0
        for lane in range(count):
            x = bits_of(both >> width * orders[0][lane], left, width)
            y = bits_of(both >> width * orders[1][lane], right, width)
            t = int(COMPARE[word](x, y)) if name == "set" else OPS[name](x, y)
            if sat:
                t = clamp(t, of, width)
            total += t if lane in mask else 0
            kept = t if lane in mask else c >> width * lane
            merged |= (kept & ((1 << width) - 1)) << width * lane
        return (total if add else merged) & 0xFFFFFFFF

    types = f"{left}.{right}.{word}" if name == "set" else f"{of}.{left}.{right}"
    flags = ".sat" * sat + ".add" * add
    operands = f"{{d}}{masked}, %r1{selectors[0]}, %r2{selectors[1]}, %r3"
    return Case(f"v{name}{count}.{types}{flags} {operands};", expected)


def program(cases: list[Case]) -> str:
    lines = []
    for number, case in enumerate(cases):
        lines.append("  " + case.text.replace("{d}", f"%d{number}"))
        lines.append(f"  st.global.u32 [%p1+{4 * number}], %d{number};")
    return TEXT.format(count=len(cases), stride=4 * len(cases), body="\n".join(lines))


@pytest.mark.parametrize(("draw", "seed"), list(product([scalar, multiply, lanes], range(4))))
def test_against_the_isa(draw: Callable[[random.Random], Case], seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    cases = [draw(rng) for _ in range(120)]
    text = program(cases)
    edges = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    x = np.array(
        [
            [rng.choice([rng.getrandbits(32), rng.choice(edges), rng.randrange(40)]) for _ in "abc"]
            for _ in range(64)
        ],
        np.uint32,
    )
    y = np.zeros((64, len(cases)), np.uint32)
    assert not check(text)
    launch(text, "k", 1, 64, [x, y]).require_ok()
    for number, case in enumerate(cases):
        expected = [case.expected(*map(int, row)) for row in x]
        np.testing.assert_array_equal(y[:, number], expected, err_msg=case.text)
    ptxas = shutil.which("ptxas")
    if ptxas is not None:
        source = tmp_path / "k.ptx"
        source.write_text(text)
        command = [ptxas, "-arch=sm_80", source, "-o", tmp_path / "k.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("vadd4.u32.u32 %d0, %r1, %r2, %r3;", "takes 3 types"),
        ("vadd4.u32.u32.u32.max %d0, %r1, %r2, %r3;", "legal: u32, s32, sat, add"),
        ("vadd2.u32.u32.u32 %d0, %r1.b3210, %r2, %r3;", "legal: .h and digits below 4"),
        ("vadd2.u32.u32.u32 %d0, %r1.h0, %r2, %r3;", "selects 1 part, not 2"),
        ("vadd.u32.u32.u32 %d0, %r1.b4, %r2;", "legal: .b0 to .b3, .h0, .h1"),
        ("vadd.u32.u32.u32.add %d0, %r1, %r2;", "a third source goes with"),
        ("vadd.u32.u32.u32 %d0.b0, %r1, %r2;", "a third source goes with"),
        ("vshl.u32.u32.u32 %d0, %r1, %r2;", "a shift is .clamp or .wrap"),
        ("vset.u32.u32 %d0, %r1, %r2;", "the comparison is missing; legal: eq"),
        ("vmad.s32.s32.s32.po %d0, -%r1, %r2, %r3;", "takes only one of"),
    ],
)
def test_illegal_spellings_are_named(text: str, reason: str) -> None:
    case = Case(text.replace("%d0", "{d}"), lambda *_: 0)
    (error,) = check(program([case]))
    assert reason in str(error)
