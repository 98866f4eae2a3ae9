"""Random straight lines of PTX, run on the simulator and compared with numpy."""

from __future__ import annotations

import random

import numpy as np
from case import Case, Reached, WrongError
from ptx_numpy import HELD, TYPES, execute

_INTEGERS = ("u32", "s32", "u64", "s64")
_FLOATS = ("f32", "f64")
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("add", (*_INTEGERS, *_FLOATS), "xx"), ("sub", (*_INTEGERS, *_FLOATS), "xx"),
    ("mul.lo", _INTEGERS, "xx"), ("mul.hi", _INTEGERS, "xx"), ("mad.lo", _INTEGERS, "xxx"),
    ("mul", _FLOATS, "xx"), ("and", ("b32", "b64"), "xx"), ("or", ("b32", "b64"), "xx"),
    ("xor", ("b32", "b64"), "xx"), ("not", ("b32", "b64"), "x"), ("shl", ("b32", "b64"), "xr"),
    ("shr", _INTEGERS, "xr"), ("min", (*_INTEGERS, *_FLOATS), "xx"),
    ("max", (*_INTEGERS, *_FLOATS), "xx"), ("neg", ("s32", "s64", *_FLOATS), "x"),
    ("abs", ("s32", "s64", *_FLOATS), "x"), ("div.rn", _FLOATS, "xx"), ("rcp.rn", _FLOATS, "x"),
    ("sqrt.rn", _FLOATS, "x"), ("brev", ("b32", "b64"), "x"), ("bfe", ("u32", "s32"), "xrr"),
    ("prmt", ("b32",), "xxx"), ("mov", ("b32", "b64", "f32", "f64"), "x"),
)  # fmt: skip
"""Instructions whose result is of their type, and their operands: of the type, or a number."""
_OTHERS = (
    ("mul.wide.u32", "l", "rr"), ("mul.wide.s32", "l", "rr"), ("popc.b32", "r", "r"),
    ("popc.b64", "r", "l"), ("clz.b32", "r", "r"), ("clz.b64", "r", "l"), ("cvt.u64.u32", "l", "r"),
    ("cvt.s64.s32", "l", "r"), ("cvt.u32.u64", "r", "l"), ("cvt.rn.f32.s32", "f", "r"),
    ("cvt.rn.f32.u32", "f", "r"), ("cvt.rn.f64.s32", "d", "r"), ("cvt.rn.f64.u64", "d", "l"),
    ("cvt.rn.f32.s64", "f", "l"), ("cvt.rzi.s32.f32", "r", "f"), ("cvt.rzi.u32.f32", "r", "f"),
    ("cvt.rzi.s64.f64", "l", "d"), ("cvt.rzi.s32.f64", "r", "d"), ("cvt.f64.f32", "d", "f"),
    ("cvt.rn.f32.f64", "f", "d"),
)  # fmt: skip
"""Instructions whose result is of another type."""
_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
_INPUTS = 2
"""Registers of each kind that hold something from memory."""
_PATTERNS = (
    0, 1, 2, 31, 32, 33, 127, 128, 255, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x3F800000,
    0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF,
    0x4F000000, 0xCF000000, 0x4B800000,
)  # fmt: skip
"""Bits that make numbers at some border, of integers or of floats."""


def prepare() -> None:
    """Import the simulator."""
    run(make(random.Random(0)))


def make(rng: random.Random) -> Case:
    """A few instructions, each a line."""
    held = {letter: [f"%{letter}{n}" for n in range(_INPUTS)] for letter in HELD}
    held["p"] = []
    lines = [_line(rng, held) for _ in range(rng.randrange(2, 14))]
    return Case("arithmetic", "\n".join(lines), {"seed": rng.randrange(1 << 40)})


def _line(rng: random.Random, held: dict[str, list[str]]) -> str:
    """An instruction; its result is a new register, or under a predicate one that there is."""
    chance = rng.random()
    if chance < 0.12:
        type_ = rng.choice((*_INTEGERS, *_FLOATS))
        relation = rng.choice(_RELATIONS + (_UNORDERED if type_[0] == "f" else ()))
        op, to, of = f"setp.{relation}.{type_}", "p", _letter(type_) * 2
    elif chance < 0.2 and held["p"]:
        type_ = rng.choice(("b32", "b64", "f32", "f64"))
        op, to, of = f"selp.{type_}", _letter(type_), _letter(type_) * 2 + "p"
    elif chance < 0.25:
        return _result(
            f"lop3.b32 {{}}, {_names('rrr', rng, held)}, {rng.randrange(256)};", "r", held
        )
    elif chance < 0.5:
        op, to, of = rng.choice(_OTHERS)
    else:
        name, types, of = rng.choice(_KINDS)
        type_ = rng.choice(types)
        op, to = f"{name}.{type_}", _letter(type_)
        of = of.replace("x", to)
    names = _names(of, rng, held)
    if to != "p" and held["p"] and rng.random() < 0.15:
        guard = f"@{rng.choice(('', '!'))}{rng.choice(held['p'])}"
        return f"{guard} {op} {rng.choice(held[to])}, {names};"
    return _result(f"{op} {{}}, {names};", to, held)


def _names(of: str, rng: random.Random, held: dict[str, list[str]]) -> str:
    """Operands; one in ten of 32-bit integers is a number."""
    names = [rng.choice(held[letter]) for letter in of]
    if of.endswith("r") and len(of) > 1 and rng.random() < 0.2:
        names[-1] = str(rng.choice((*_PATTERNS[:8], rng.randrange(70))))
    return ", ".join(names)


def _result(text: str, to: str, held: dict[str, list[str]]) -> str:
    held[to].append(f"%{to}{len(held[to])}")
    return text.format(held[to][-1])


def _letter(type_: str) -> str:
    return {"f32": "f", "f64": "d"}.get(type_, "r" if type_.endswith("32") else "l")


def run(case: Case) -> Reached:
    """Run the lines and compare all registers with numpy's."""
    from tilec import sim
    from tilec.isa import TilecError

    registers, inputs = _inputs(case.options["seed"])
    lines = case.text.split("\n")
    try:
        for line in lines:
            execute(line, registers)
    except (KeyError, IndexError, ValueError):
        return Reached.REFUSED  # not such a text, after what reduction left out
    outputs = {name: np.zeros(32, np.uint64) for name in registers}
    text = _kernel(lines, list(registers))
    try:
        sim.launch(text, "k", 1, 32, [*inputs.values(), *outputs.values()])
    except TilecError as error:
        raise WrongError(f"refused: {str(error).splitlines()[0][:80]}") from None
    for name, expected in registers.items():
        if not _equal(outputs[name], expected):
            made_by = [line for line in lines if f" {name}," in line] or [name]
            raise WrongError(f"{made_by[-1].split(' %')[0]} differs from numpy's")
    return Reached.RAN


def _inputs(seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """What registers hold at first, and the arrays that it comes from."""
    rng = np.random.default_rng(seed)
    registers = {}
    for letter, type_ in HELD.items():
        for number in range(_INPUTS):
            words = rng.integers(0, 1 << 32, 64, np.uint32)
            words = np.where(rng.random(64) < 0.5, rng.choice(_PATTERNS, 64), words)
            data = words.astype(np.uint32)
            if letter == "d" and number:  # of f64, these are numbers of another size
                data = rng.standard_normal(32).view(np.uint32)
            registers[f"%{letter}{number}"] = data.view(TYPES[type_])[:32].copy()
    return registers, {name: value.copy() for name, value in registers.items()}


def _kernel(lines: list[str], names: list[str]) -> str:
    """A kernel that loads the inputs, does the lines and stores each register as 64 bits."""
    inputs = [name for name in names if int(name[2:]) < _INPUTS and name[1] != "p"]
    parameters = [f".param .u64 a{n}" for n in range(len(inputs) + len(names))]
    counts = {letter: sum(name[1] == letter for name in names) for letter in (*HELD, "p")}
    types = {"r": "b32", "l": "b64", "f": "f32", "d": "f64", "p": "pred"}
    body = [f".reg .{types[letter]} %{letter}<{many + 1}>;" for letter, many in counts.items()]
    body += [".reg .b32 %tid, %bits;", ".reg .b64 %at, %wide, %offset;", "mov.u32 %tid, %tid.x;"]
    for number, name in enumerate(inputs):
        size = 4 if name[1] in "rf" else 8
        body += [f"mul.wide.u32 %offset, %tid, {size};", f"ld.param.u64 %at, [a{number}];",
                 "add.u64 %at, %at, %offset;", f"ld.global.b{8 * size} {name}, [%at];"]  # fmt: skip
    body += [*lines, "mul.wide.u32 %offset, %tid, 8;"]
    for number, name in enumerate(names, len(inputs)):
        body += [f"ld.param.u64 %at, [a{number}];", "add.u64 %at, %at, %offset;",
                 *_widened(name), "st.global.u64 [%at], %wide;"]  # fmt: skip
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k("
    return "\n".join([head + ", ".join(parameters) + ")", "{", *body, "ret;", "}", ""])


def _widened(name: str) -> list[str]:
    match name[1]:
        case "p":
            return [f"selp.b64 %wide, 1, 0, {name};"]
        case "r":
            return [f"cvt.u64.u32 %wide, {name};"]
        case "f":
            return [f"mov.b32 %bits, {name};", "cvt.u64.u32 %wide, %bits;"]
        case _:
            return [f"mov.b64 %wide, {name};"]


def _equal(bits: np.ndarray, expected: np.ndarray) -> bool:
    """Whether 64 bits a lane are what is expected; of NaNs any."""
    if expected.dtype.kind != "f":
        return bool(np.array_equal(bits, expected.astype(np.uint64)))
    word = np.uint32 if expected.itemsize == 4 else np.uint64
    got = bits.astype(word).view(expected.dtype)
    same = got.view(word) == expected.view(word)
    return bool(np.all(same | (np.isnan(got) & np.isnan(expected))))
