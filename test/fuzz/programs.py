"""Changes to programs of MLIR after which most of them still verify.

A text is seen as lines, which are ops as a rule, and as names of values with their types where a
line tells them. What a change needs and does not find leaves the text as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_CONSTANT = re.compile(r"(arith\.constant )(-?\d+)( : (?:index|i(?:8|16|32|64))\b)")
_DENSE = re.compile(r"(dense<)(-?\d+(?:\.\d+)?)(?=>)")
_EXTENT = re.compile(r"(?<=[<x])\d+(?=x)")
_FLOAT = re.compile(r"\b(?:f16|bf16|f32|f64|tf32|f8E4M3FN|f8E5M2)\b")
_INTEGER = re.compile(r"\bi(?:1|4|8|16|32|64)\b")
_CHIP = re.compile(r'(?<=chip = ")sm_\w+(?=")')
_BLOCK = re.compile(r"(?<=known_block_size = array<i32: )\d+")
_ATTRIBUTE = re.compile(r"(?<= = )(-?\d+)(?=(?: : i64)?[,}])")
_VALUE = re.compile(r'(?<=[\w"] = )(?:-?\d+(?: : \w+)?|"[^"\n]*"|array<[^>\n]*>)')
_ARGUMENT = re.compile(r"(%[\w$.]+): ([^,(){}=]+(?:<[^(){}=]*>)?)(?=[,){])")
_GENERIC = re.compile(
    r'^\s*(?:(%[\w]+) = )?"[\w.]+"\(([^()]*)\)(?: <?\{.*\}>?)? : \(([^()]*)\) -> (\S.*)$'
)
_PRETTY = re.compile(
    r"^\s*(%\w+) = (?:arith|math)\.(\w+) (%\w+)(?:, (%\w+))? : ([^,\s][^\n]*?)\s*$"
)
_NAME = re.compile(r"%[A-Za-z_$][\w$]*(?:#\d+)?|%\d+(?:#\d+)?")
_ALIKE = (
    ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "remf"),
    ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "divsi",
     "divui", "remsi", "remui", "shli", "shrsi", "shrui", "ceildivsi", "floordivsi", "ceildivui"),
    ("olt", "ole", "ogt", "oge", "oeq", "one", "ult", "une", "uno", "ord"),
    ("slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "ugt", "uge"),
    ("extsi", "extui"), ("sitofp", "uitofp"), ("fptosi", "fptoui"),
    ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "absf", "sin", "cos", "erf", "floor"),
    ("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim"),
    ("global", "workgroup", "private"), ("row", "col"), ("x", "y", "z"),
)  # fmt: skip
_CHIPS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120")
_SMALL = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    12,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    48,
    63,
    64,
    96,
    100,
    128,
    256,
    1000,
)


def changed(text: str, rng: random.Random) -> str:
    """A program with one to three changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        for _ in range(8):  # until one finds what it needs
            made = rng.choice(_CHANGES)(text, rng)
            if made != text:
                text = made
                break
    return text


def copy_of_any(rng: random.Random) -> str:
    """A program that copies a tile of any elements and any shape."""
    element = rng.choice(_ELEMENTS)
    rank = rng.choice((1, 2, 2, 3))
    shape = "x".join(str(rng.choice((1, 2, 4, 8, 16, 3, 5, 0, 64))) for _ in range(rank))
    held = "x".join(["?"] * rank) if rng.random() < 0.5 else shape
    memory, tile = f"memref<{held}x{element}>", f"tensor<{shape}x{element}>"
    masked, threads = rng.choice(("{masked} ", "")), rng.choice((32, 64, 128, 96, 1))
    places, indices = ", %c0" * rank, ", index" * rank
    return f"""gpu.module @m {{
  gpu.func @k(%a: {memory}, %b: {memory})
      kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %t = "tile.load"(%a{places}) {masked}: ({memory}{indices}) -> {tile}
    "tile.store"(%t, %b{places}) {masked}: ({tile}, {memory}{indices}) -> ()
    gpu.return
  }}
}}
"""


_ELEMENTS = (
    "i1", "i2", "i3", "i4", "i7", "i8", "i16", "i24", "i32", "i48", "i64", "i65", "i128", "i256",
    "ui8", "si32", "index", "f16", "bf16", "tf32", "f32", "f64", "f80", "f128", "f8E4M3FN",
    "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "f6E3M2FN", "f6E2M3FN", "f8E3M4", "complex<f32>",
    "vector<2xf32>",
    "vector<4xf16>", "!llvm.ptr", "none", "!tile.byte<f4E2M1FN>",
)  # fmt: skip
"""Types of which tiles may be made or not."""


def _one(
    pattern: re.Pattern[str], group: int, new: Callable[[str, random.Random], str]
) -> Callable[[str, random.Random], str]:
    """A change of one place that a pattern finds."""

    def change(text: str, rng: random.Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        at = rng.choice(found)
        return text[: at.start(group)] + new(at[group], rng) + text[at.end(group) :]

    return change


def _every(
    pattern: re.Pattern[str], new: Callable[[str, random.Random], str]
) -> Callable[[str, random.Random], str]:
    """A change of all places that are equal, so that types still agree."""

    def change(text: str, rng: random.Random) -> str:
        found = sorted(set(pattern.findall(text)))
        if not found:
            return text
        old = rng.choice(found)
        to = new(old, rng)
        return pattern.sub(lambda one: to if one[0] == old else one[0], text)

    return change


def _number(old: str, rng: random.Random) -> str:
    if rng.random() < 0.2:
        return str(int(float(old)) + rng.choice((-1, 1)))
    return str(rng.choice((rng.choice(_SMALL), rng.randrange(2048), -rng.choice(_SMALL))))


def _dense(old: str, rng: random.Random) -> str:
    return f"{_number(old, rng)}.{rng.randrange(100)}" if "." in old else _number(old, rng)


def _extent(old: str, rng: random.Random) -> str:
    if rng.random() < 0.7:
        return str(1 << rng.randrange(8))
    return str(rng.choice(_SMALL) or 1)


def _float(old: str, rng: random.Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(("f128", "i128", "tf32", "f8E4M3FN", "f4E2M1FN"))
    return rng.choice(("f16", "bf16", "f32", "f64"))


def _integer(old: str, rng: random.Random) -> str:
    if rng.random() < 0.15:
        return rng.choice(("i1", "i4", "i7", "i128", "index"))
    return rng.choice(("i8", "i16", "i32", "i64"))


def _attribute(old: str, rng: random.Random) -> str:
    return str(rng.choice((0, 1, 1, 2, 2, 3, 4, 8, 16, 32, 64, -1, rng.randrange(300))))


def _alike(text: str, rng: random.Random) -> str:
    """An op, a predicate or a word in place of one that takes the same."""
    words = rng.choice(_ALIKE)
    pattern = re.compile(rf"(?<![\w%@#]){'(' + '|'.join(map(re.escape, words)) + ')'}(?!\w)")
    return _one(pattern, 1, lambda old, rng: rng.choice(words))(text, rng)


def types(text: str) -> dict[str, str]:
    """Types of values, by name, as far as single lines tell them."""
    found = {name: type_.strip() for name, type_ in _ARGUMENT.findall(text)}
    for line in text.splitlines():
        if generic := _GENERIC.match(line):
            result, operands, of, to = generic.groups()
            taken = [one.strip() for one in operands.split(",")]
            if len(given := _parts(of)) == len(taken):
                found.update(zip(taken, given, strict=True))
            if result and not to.startswith("("):
                found[result] = to.strip()
        elif pretty := _PRETTY.match(line):
            result, op, *operands, type_ = pretty.groups()
            if " to " not in type_ and op not in ("cmpf", "cmpi", "select"):
                found.update({one: type_ for one in (result, *operands) if one})
    found |= dict(re.findall(r"(%\w+) = arith\.constant \S+ : (\S+)", text))
    found.pop("", None)
    return found


def _parts(types_: str) -> list[str]:
    """What stands between the commas of a list of types."""
    parts, depth, last = [], 0, ""
    for one in types_:
        depth += (one in "<([") - (one in ">)]" and last != "-")
        if one == "," and depth == 0:
            parts.append("")
        else:
            parts[-1:] = [(parts[-1] if parts else "") + one]
        last = one
    return [part.strip() for part in parts]


def _operand(text: str, rng: random.Random) -> str:
    """Another value of the same type."""
    known = types(text)
    uses = [use for use in _NAME.finditer(text) if use[0] in known and _is_use(text, use)]
    rng.shuffle(uses)
    for use in uses[:10]:
        before = text[: use.start()]
        alike = [
            name
            for name, type_ in known.items()
            if type_ == known[use[0]] and name != use[0] and f"{name} " in before
        ]
        if alike:
            return before + rng.choice(alike) + text[use.end() :]
    return text


def _is_use(text: str, name: re.Match[str]) -> bool:
    after = text[name.end() : name.end() + 3]
    return not after.startswith((" = ", ":", " =\n", ","), 0) or after[0] == ","


def _twice(text: str, rng: random.Random) -> str:
    """An op once more, with a result of another name, or one that replaces the first."""
    lines = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if _is_op(line)]
    if not places:
        return text
    at = rng.choice(places)
    line = lines[at]
    if result := re.match(r"\s*(%\w+) = ", line):
        line = line.replace(result[1], f"%again{rng.randrange(1000)}", 1)
    lines.insert(at + 1, line)
    return "".join(lines)


def _gone(text: str, rng: random.Random) -> str:
    """An op without results, or whose result nobody uses, left out."""
    lines = text.splitlines(keepends=True)
    places = []
    for at, line in enumerate(lines):
        if not _is_op(line) or "return" in line or "yield" in line:
            continue
        result = re.match(r"\s*(%\w+)(?::\d+)? = ", line)
        if not result or len(re.findall(rf"{re.escape(result[1])}\b", text)) == 1:
            places.append(at)
    if places:
        del lines[rng.choice(places)]
    return "".join(lines)


def _is_op(line: str) -> bool:
    """Whether a line is one op, whole."""
    stripped = line.strip()
    return bool(
        re.match(r"(%[\w:, ]+ = )?\"?[a-z]\w*\.", stripped)
        and all(stripped.count(a) == stripped.count(b) for a, b in ("()", "{}", "[]"))
        and not stripped.endswith(("{", ","))
        and stripped.count('"') % 2 == 0
    )


def _new_op(text: str, rng: random.Random) -> str:
    """An op on a value that a line has made, whose result takes the value's place afterwards."""
    known = types(text)
    lines = text.splitlines(keepends=True)
    results = [_is_op(line) and re.match(r"\s*(%\w+) = ", line) for line in lines]
    made = [(at, one[1]) for at, one in enumerate(results) if one and one[1] in known]
    if not made:
        return text
    at, name = rng.choice(made)
    type_ = known[name]
    fresh = f"%new{rng.randrange(1000)}"
    op = _op_on(name, type_, rng)
    if op is None:
        return text
    if rng.random() < 0.7:
        rest = "".join(lines[at + 1 :])
        lines[at + 1 :] = [re.sub(rf"{re.escape(name)}\b(?!#)", fresh, rest)]
    lines.insert(at + 1, f"{fresh} = {op}\n")
    return "".join(lines)


def _op_on(name: str, type_: str, rng: random.Random) -> str | None:
    """An op that takes a value, and gives one of its type."""
    element = re.split(r"[<x]", type_.rstrip(">"))[-1] if "tensor<" in type_ else type_
    tile = [f'"tile.convert_layout"({name}) : ({type_}) -> {type_}'] if "tensor<" in type_ else []
    if _FLOAT.fullmatch(element) and "f8" not in element:
        op = rng.choice(("addf", "subf", "mulf", "maximumf", "minimumf"))
        unary = rng.choice(("arith.negf", "math.absf", "math.floor"))
        binary = f"arith.{op} {name}, {name} : {type_}"
        return rng.choice([*tile, binary, f"{unary} {name} : {type_}"])
    if _INTEGER.fullmatch(element) or element == "index":
        op = rng.choice(("addi", "subi", "muli", "xori", "andi", "minsi", "maxui", "shrsi"))
        return rng.choice([*tile, f"arith.{op} {name}, {name} : {type_}"])
    return tile[0] if tile else None


def _inside(text: str, rng: random.Random) -> str:
    """An op without results inside a branch or a loop."""
    lines = text.splitlines(keepends=True)
    known = [name for name, type_ in types(text).items() if type_ == "index"]
    places = [
        at
        for at, line in enumerate(lines)
        if _is_op(line) and re.match(r'\s*"?(tile|memref|gpu\.barrier)', line)
    ]
    if not (places and known):
        return text
    at, (low, high, step) = rng.choice(places), rng.choices(known, k=3)
    flag = f"%flag{rng.randrange(1000)}"
    compare = rng.choice(("slt", "eq", "ne", "uge"))
    head = rng.choice([
        f"scf.for %turn{rng.randrange(1000)} = {low} to {high} step {step} {{\n",
        f"{flag} = arith.cmpi {compare}, {low}, {high} : index\nscf.if {flag} {{\n",
    ])  # fmt: skip
    lines[at] = f"{head}{lines[at].rstrip()}\n}}\n"
    return "".join(lines)


def _strange_attribute(text: str, rng: random.Random) -> str:
    """An attribute that an op has besides, or an argument, of a type that nobody expects."""
    places = [one.end() for one in re.finditer(r"attributes \{|(?<=\w> )\{|\) \{(?=\w)", text)]
    if not places:
        return text
    at, value = rng.choice(places), rng.choice(_STRANGE)
    known = re.findall(r"\b(?:tile|nvvm|gpu|llvm)\.\w+(?= =)|\bknown_\w+(?= =)", text)
    name = rng.choice([*known, "tile.aligned", "tile.sizes", "tile.strides", "x.y"])
    return f"{text[:at]}{name} = {value}, {text[at:]}"


def _another_attribute(text: str, rng: random.Random) -> str:
    """A value of another type for an attribute."""
    return _one(_VALUE, 0, lambda old, rng: rng.choice(_STRANGE))(text, rng)


_DEEP = 20_000
_STRANGE = (
    '"x"', '""', "unit", "true", "1 : i64", "-1 : i64", "0 : i64", "1.5 : f32", "[]", "[1]", "{}",
    "array<i64>", "array<i64: 1, 2>", "array<i32: -1>", "dense<1> : tensor<2xi8>", "@k", "i128",
    "tensor<*xf32>", "affine_map<(i, j) -> (i floordiv 2, j)>", "9223372036854775807 : i64",
    "[" * _DEEP + "]" * _DEEP, "tuple<" * _DEEP + "i1" + ">" * _DEEP,
    "{a = " * _DEEP + "1" + "}" * _DEEP,
    "9" * 5000 + " : i64", "array<i64: " + "1, " * 5000 + "1>", "#tile.layout<>", 'loc("x")',
    "array<i128: 1, 8>", "array<bf16: 1.0>", "dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>",
    "dense<1.0> : tensor<1xf128>", "sparse<0, 1> : tensor<1xi8>", "distinct[0]<unit>",
)  # fmt: skip
"""Attributes of every kind, and some that are too much."""

_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _one(_CONSTANT, 2, _number), _one(_CONSTANT, 2, _number), _one(_DENSE, 2, _dense),
    _every(_EXTENT, _extent), _every(_EXTENT, _extent), _every(_FLOAT, _float),
    _every(_INTEGER, _integer), _one(_CHIP, 0, lambda old, rng: rng.choice(_CHIPS)),
    _one(_BLOCK, 0, lambda old, rng: str(32 * rng.choice((1, 2, 3, 4, 8, 12)))),
    _one(_ATTRIBUTE, 1, _attribute), _alike, _alike, _operand, _operand, _twice, _gone,
    _new_op, _new_op, _inside, _strange_attribute, _another_attribute,
)  # fmt: skip
