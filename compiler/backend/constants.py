"""Floating-point constants in LLVM IR: from the notation of newer LLVMs to that of LLVM 22.

The newer ones write the shortest decimal, `+inf`, `-qnan`, `+nan(0x1)`, `+snan(0x1)` and bits as
`f0x…`; LLVM 22 takes a decimal only where it is exact, and bits as `0xH…` of half, `0xR…` of
bfloat, and `0x…`, as a double, of float and double.
"""

from __future__ import annotations

import re
import struct

_TOKEN = re.compile(
    r'(?P<string>"[^"]*")'
    r"|\b(?P<type>half|bfloat|float|double)\b"
    r"|(?<![\w.%@$])(?P<literal>[+-]?(?:\d+\.\d*(?:[eE][+-]?\d+)?"
    r"|inf\b|qnan\b|s?nan\(0x[0-9A-Fa-f]+\))|f0x[0-9A-Fa-f]+)"
)
_ANY = re.compile(r" [+-]?(?:\d+\.|inf|[qs]?nan|f0x)")
"""Before each literal; quicker to look for."""

# bits, mantissa bits
_FORMATS = {"half": (16, 10), "bfloat": (16, 7), "float": (32, 23), "double": (64, 52)}


_SIGNS = tuple(map(re.compile, (r"\.(?!0+e\+00\b)\d", "inf", "nan", "f0x")))
"""What a line with a floating-point constant has in it, and few others have.

Of small integers, which every LLVM reads, none is true. One pattern of all would take ten times
as long as these do one by one.
"""


def with_constants(text: str) -> str:
    """LLVM IR with the constants of floating-point types as LLVM 22 reads them, bit for bit."""
    places = sorted(found.start() for one in _SIGNS for found in one.finditer(text))
    done, parts = 0, []
    for place in places:
        if place < done:
            continue  # a further one of a line
        first = text.rfind("\n", 0, place) + 1
        last = text.find("\n", place)
        parts += [text[done:first], _rewritten(text[first:last])]
        done = last
    return "".join([*parts, text[done:]])


def _rewritten(line: str) -> str:
    """A line of LLVM IR with its constants as LLVM 22 reads them, bit for bit the same.

    A constant is of the type that the line names last before it.
    """
    if not _ANY.search(line):
        return line
    type_ = ""

    def rewritten(match: re.Match[str]) -> str:
        nonlocal type_
        if match["type"]:
            type_ = match["type"]
        if not match["literal"] or not type_:
            return match[0]
        return _written(_bits(match["literal"], type_), type_)

    return _TOKEN.sub(rewritten, line)


def _bits(literal: str, type_: str) -> int:
    width, mantissa = _FORMATS[type_]
    if literal.startswith("f0x"):
        return int(literal[3:], 16)
    word = literal.lstrip("+-")
    if word[0].isdigit():
        return _rounded(float(literal), type_)
    sign = (literal[0] == "-") << (width - 1)
    infinity = (1 << (width - 1)) - (1 << mantissa)
    if word == "inf":
        return sign | infinity
    quiet = 0 if word.startswith("snan") else 1 << (mantissa - 1)
    _, _, payload = word.partition("(")
    return sign | infinity | quiet | int(payload.rstrip(")") or "0", 16)


def _rounded(value: float, type_: str) -> int:
    match type_:
        case "half":
            return int.from_bytes(struct.pack(">e", value))
        case "double":
            return int.from_bytes(struct.pack(">d", value))
    bits = int.from_bytes(struct.pack(">f", value))
    if type_ == "float":
        return bits
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _written(bits: int, type_: str) -> str:
    match type_:
        case "half":
            return f"0xH{bits:04X}"
        case "bfloat":
            return f"0xR{bits:04X}"
        case "float":
            bits = _as_double(bits)
    return f"0x{bits:016X}"


def _as_double(bits: int) -> int:
    """The bits of a float as a double; a NaN keeps its payload, quiet or not."""
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return bits >> 31 << 63 | 0x7FF << 52 | mantissa << 29
    (value,) = struct.unpack(">f", bits.to_bytes(4))
    return int.from_bytes(struct.pack(">d", value))
