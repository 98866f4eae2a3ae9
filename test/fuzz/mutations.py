"""Changes to texts that keep most of their structure: tokens, brackets, lines, numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[%@#!^.]?[A-Za-z_$][\w$.]*|-?\d[\w.]*|->|::|\s+|.', re.DOTALL
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "8", "15", "16", "17", "31", "32", "33", "64", "100", "127",
    "128", "255", "256", "257", "1024", "65535", "65536", "2147483647", "2147483648", "-2147483648",
    "4294967295", "4294967296", "9223372036854775807", "-9223372036854775808",
    "18446744073709551615", "18446744073709551616", "99999999999999999999999999", "1e400", "-0.0",
    "0x0", "0x7fc00000", "0xffffffffffffffff", "1.0e-400", "000", "1_0",
)  # fmt: skip
_DEEP = (3, 300, 3000)


def tokens(text: str) -> list[str]:
    """The tokens of a text, blanks among them."""
    return _TOKEN.findall(text)


def mutated(text: str, rng: random.Random, words: Sequence[str] = (), other: str = "") -> str:
    """A text with one to four changes.

    Args:
        text: the text.
        rng: what decides.
        words: tokens that mean something where the text is read.
        other: a text whose lines and tokens may come in.
    """
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        text = rng.choice(_CHANGES)(text, rng, words, other)
    return text[:2_000_000]


def _token(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """Another token in place of one of the same kind, or of any."""
    found = tokens(text)
    places = [at for at, one in enumerate(found) if not one.isspace()]
    if not places:
        return text + rng.choice([*NUMBERS, *words])
    at = rng.choice(places)
    kind = _kind(found[at])
    alike = [one for one in {*tokens(other[:20_000]), *found} if _kind(one) == kind]
    pool: Sequence[str] = sorted(alike)
    if kind == "number" and rng.random() < 0.7:
        pool = NUMBERS[:3] if rng.random() < 0.4 else NUMBERS
    elif words and rng.random() < 0.4:
        pool = words
    elif rng.random() < 0.1:
        pool = [one for one in found if not one.isspace()]
    found[at] = rng.choice(list(pool) or ["x"])
    return "".join(found)


def _kind(token: str) -> str:
    if token[0].isdigit() or (token[0] == "-" and token[1:2].isdigit()):
        return "number"
    if token[0] in '%@#!^."' and len(token) > 1:
        return token[0]
    return "word" if token[0].isalpha() else token


def _line(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """A line left out, twice, moved, or from another text."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        case 2:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
        case _:
            strange = other.splitlines(keepends=True)
            if strange:
                lines.insert(at, rng.choice(strange))
    return "".join(lines)


def _bracket(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """What stands in brackets left out, repeated, or put in many."""
    places = [at for at, one in enumerate(text) if one in _PAIRS]
    if not places:
        return text
    start = rng.choice(places)
    opening = text[start]
    end = text.find(_PAIRS[opening], start)
    if end < 0:
        return text[:start] + text[start + 1 :]
    inside = text[start + 1 : end]
    match rng.randrange(4):
        case 0:
            inside = ""
        case 1:
            inside = rng.choice((", ", " ", "")).join([inside] * rng.choice((2, 3, 40)))
        case 2:
            many = rng.choice(_DEEP)
            inside = opening * many + inside + _PAIRS[opening] * many
        case _:
            return text[:start] + inside + text[end + 1 :]
    return text[: start + 1] + inside + text[end:]


def _long(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """A number of many digits, or a name of many letters."""
    found = tokens(text)
    places = [at for at, one in enumerate(found) if _kind(one) in ("number", "word", "%", "#", "!")]
    if places:
        at = rng.choice(places)
        found[at] += (found[at][-1] if found[at][-1].isalnum() else "9") * rng.choice((30, 2000))
    return "".join(found)


def _byte(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """A character that no text has."""
    at = rng.randrange(len(text) + 1)
    strange = rng.choice(
        "\0\x01\x7f\x80\ufeff\u0664\ud800\U0001f600\"'`\\%#!@^{}()[]<>:,;=-/*\n\r\t"
    )
    return text[:at] + strange + text[at + rng.randrange(2) :]


def _end(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """The text cut off."""
    return text[: rng.randrange(len(text) + 1)]


def _much(text: str, rng: random.Random, words: Sequence[str], other: str) -> str:
    """One of those that readers have died of: where a token was, a name for a name, or in front."""
    found, much = tokens(text), rng.choice(_MUCH)
    if rng.random() < 0.3:
        return f"{much}\n{text}"
    places = [at for at, one in enumerate(found) if _kind(one) == much[0]]
    if not places or much[0] not in "%@":
        places = [at for at, one in enumerate(found) if not one.isspace()]
    if places:
        found[rng.choice(places)] = much
    return "".join(found)


_MUCH = (
    "%v#2147483648", "%0#4294967296", "%0#99999999999999999999", "%v#2147483648", "[" * 2000,
    "(" * 2000, "{" * 2000, "<" * 2000, "[" * 300 + "]" * 300, "<" * 300 + ">" * 300, "-" * 2000,
    "- " * 2000, "9" * 100_000,
    "9" * 1_000_000, "0x" + "f" * 100_000, "1." + "0" * 100_000, "1x" * 5000 + "f32",
    "!" * 2000, "tuple<" * 600 + "i1" + ">" * 600, "#a" * 500, '"' + "\\" * 999, "/*",
    "::" * 500, "array<i64: " + "1, " * 2000 + "1>", "@" * 300, "\0" * 10,
    f"#m = affine_map<(d0) -> ({('-' * 200 + chr(0)) * 300}d0)>", "#a\0=\0[#a, #a]\n" * 40,
    "// -----// IR Dump //----- //\n" * 40,
)  # fmt: skip
_CHANGES = (
    *[_token] * 10, *[_line] * 4, _bracket, _bracket, _long, _long, _byte, _byte, _end, _end,
    _much, _much,
)  # fmt: skip
