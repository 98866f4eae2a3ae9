"""What of a text's structure would end MLIR's parser, which recurses and allocates as it is told.

It is looked for before MLIR sees the text. What nearly every text lacks is told by counting, at no
cost; only where there may be too much, strings and comments are told from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from tilec.ir.assembly.scan import (
    COMMENT,
    STRING,
    attribute_end,
    bracketed_end,
    skip_space,
    type_end,
)

DEEPEST = 256
"""Brackets of any kind inside each other, and aliases that stand for others."""
MOST_RESULTS = 1 << 16
"""Results of an op: MLIR allocates as many as a `#number` after a value says."""
LONGEST_NUMBER = 1000
"""Characters of a number or a shape: reading one takes time that grows with their square."""
LONGEST_MAP = 1 << 16
"""Characters of an affine map or set, whose simplification takes such time as well."""
MOST_EXPANDED = 1 << 20
"""Aliases that one alias stands for, if all that it names are written out."""

_FEW_ALIASES = 32
"""So many aliases and uses of some stand for 3 ** (32 / 3) at most, which is less than that."""

_BRACKETS = b"([{<)]}>"
_OPENING = b"([{<"
_PAIRS = (b"()", b"[]", b"{}", b"<>")
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_SIGNS = re.compile(rf"-(?:\s*+-){{{DEEPEST}}}")
_SIGN_FIRST = re.compile(r"-\s*+(?:-|//)")
"""A sign that another may follow, behind comments too: those are told apart only once they must."""
_RESULT = re.compile(r"#[0-9]{5}")
_LONG_NUMBER = re.compile(rf"(?<![\w.$%#@!^])[\d?][\w.?]{{{LONGEST_NUMBER}}}")
_MAP = re.compile(r"\baffine_(?:map|set)<")
_ALIAS = re.compile(r"[#!][A-Za-z_][\w$.-]*+(?=\s*+=[^=])")
_ALIAS_USE = re.compile(r"(?<!\w)[#!][A-Za-z_][\w$.-]*")
_ITERATORS = re.compile(
    r'(?<!")\b(?:linalg|vector)\.\w+\s*\{[^}]*?\biterator_types\s*=\s*\['
    r'(?!\s*(?:"[^"\n]*"\s*(?:,\s*"[^"\n]*"\s*)*)?\])'
)
"""Upstream's parser of these ops takes whatever is in the list for strings."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile(rf'{STRING}|"[^\n]*|{COMMENT}')
"""Strings, those that nothing closes among them, and comments."""
_NUL_OF_STRING = re.compile(r"(?<!\\)((?:\\\\)*)\0")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_HIGH_ESCAPE = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
_BEHIND_NAME = re.compile(r"\s*(?:\(|=(?!=)|:\s*\d)")
"""What follows the name of an op, an attribute or a file, and no other string."""
_DICTIONARY = re.compile(r'\{\s*(?:[\w.$]+|" *")\s*[=,}]')
"""How attributes begin, and no region."""
_AROUND_NAME = re.compile(r'(?P<open>[(\[{<])|(?P<close>[)\]}]|(?<!-)>(?!=))|,|(?P<string>" *"?)')
_AFTER_WORD = re.compile(r"\s*[,}]")
_OPENED_BY = {")": "(", "]": "[", "}": "{", ">": "<"}
_TOKEN = re.compile(
    rf"(?P<signs>{_SIGNS.pattern})|->|[<>=]=|(?P<open>[(\[{{<])"
    rf"|(?P<close>[)\]}}>])|(?P<result>#[0-9]+)|(?P<number>{_LONG_NUMBER.pattern})"
)


class Excess(NamedTuple):
    """Too much of something.

    Attributes:
        at: its place in the text.
        message: what there is too much of.
    """

    at: int
    message: str


def excess(text: str) -> Excess | None:
    """What of a text would exhaust MLIR's parser; None if nothing.

    Strings and comments may hold whatever they like, if it is characters.
    """
    if not text.isascii() and (stray := _SURROGATE.search(text)):
        return Excess(stray.start(), f"U+{ord(stray[0]):04X} is a lone surrogate, not a character")
    if _HIGH_ESCAPE.search(text) and (name := _unreadable_name(text)):
        return name
    doubtful = (
        _may_nest_deep(text)
        or (text.count("-") > DEEPEST and _SIGN_FIRST.search(text))
        or _RESULT.search(text)
        or (_longest_line(text) > LONGEST_NUMBER and _LONG_NUMBER.search(text))
        or _excess_of_maps(text)
        or _excess_of_aliases(text)
        or _odd_iterators(text)
    )
    if not doubtful:
        return None
    bare = _QUOTED.sub(_blank, text)
    return (
        _first_excess(bare)
        or _excess_of_maps(bare)
        or _excess_of_aliases(bare)
        or _odd_iterators(bare)
    )


def without_nuls(text: str) -> str:
    """`text` with spaces for NULs, which MLIR passes over, and escapes for those of strings.

    Whoever reads the text besides MLIR then knows what stands between tokens.
    """
    if "\0" not in text:
        return text
    parts, at = [], 0
    for quoted in _QUOTED.finditer(text):
        parts += [text[at : quoted.start()].replace("\0", " ")]
        parts += [
            _NUL_OF_STRING.sub(r"\1\\00", quoted[0])
            if quoted[0][0] == '"'
            else quoted[0].replace("\0", " ")
        ]
        at = quoted.end()
    return "".join([*parts, text[at:].replace("\0", " ")])


def _blank(quoted: re.Match[str]) -> str:
    """As long as a string or comment, with nothing in it."""
    length = len(quoted[0])
    if quoted[0][0] != '"':
        return " " * length
    return f'"{" " * (length - 2)}"'[:length]  # a quote alone is a string that nothing closes


def _unreadable_name(text: str) -> Excess | None:
    """A name whose bytes are no text: MLIR takes it, and its bindings end the process.

    Other strings may hold any bytes, as binaries and constants do.
    """
    bare = _QUOTED.sub(_blank, text)
    inside: list[int] = []  # places of the brackets that are open
    part = 0  # where what stands between brackets and commas begins
    is_dictionary = cache(lambda at: bool(_DICTIONARY.match(bare, at)))
    for found in _AROUND_NAME.finditer(bare):
        start, end = found.span()
        match found.lastgroup:
            case "open":
                inside.append(start)
            case "close":
                _close(inside, bare, _OPENED_BY[found[0]])
            case "string" if _HIGH_ESCAPE.search(text, start, end):
                named = bare[start - 1 : start] == "@" or _BEHIND_NAME.match(bare, end)
                is_word = _AFTER_WORD.match(bare, end) and not bare[part:start].strip()
                if is_word and inside and is_dictionary(inside[-1]):
                    named = True
                if named and not _is_utf8(text[start:end]):
                    return Excess(start, "a name that is not UTF-8")
        if found.lastgroup != "string":
            part = end
    return None


def _close(inside: list[int], text: str, opened_by: str) -> None:
    """Leave the innermost bracket of a kind; what `<` and `>` compare is none."""
    if opened_by == "<" and not (inside and text[inside[-1]] == "<"):
        return
    while inside and text[inside.pop()] != opened_by:
        pass


def _is_utf8(quoted: str) -> bool:
    """Whether the bytes that a string's text stands for are."""

    def byte(escape: re.Match[str]) -> bytes:
        return bytes.fromhex(escape[1]) if len(escape[1]) == 2 else escape[1].encode()

    parts, at = [], 0
    for escape in _ESCAPE.finditer(quoted):
        parts += [quoted[at : escape.start()].encode(), byte(escape)]
        at = escape.end()
    try:
        b"".join([*parts, quoted[at:].encode()]).decode()
    except UnicodeDecodeError:
        return False
    return True


def _may_nest_deep(text: str) -> bool:
    """Whether brackets may nest too deep, by a bound that counts those of comments as well.

    Taking out all pairs that touch lessens the depth by one at most, so it is no more than
    the times that this was done and the brackets that are left.
    """
    if len(text) <= DEEPEST:
        return False
    left = text.replace("->", "").encode(errors="replace").translate(None, _OTHERS)
    for times in range(DEEPEST):
        if times + sum(left.count(one) for one in _OPENING) <= DEEPEST:
            return False
        shorter = left
        for pair in _PAIRS:
            shorter = shorter.replace(pair, b"")
        if len(shorter) == len(left):
            break
        left = shorter
    return True


def _longest_line(text: str) -> int:
    return max(map(len, text.split("\n"))) if len(text) > LONGEST_NUMBER else len(text)


def _first_excess(text: str) -> Excess | None:
    depth = 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "open":
                depth += 1
                if depth > DEEPEST:
                    return Excess(token.start(), f"brackets nest more than {DEEPEST} deep")
            case "close":
                depth = max(0, depth - 1)
            case "signs":
                return Excess(token.start(), f"more than {DEEPEST} signs in a row")
            case "number":
                what = f"a number or shape of more than {LONGEST_NUMBER} characters"
                return Excess(token.start(), what)
            case "result" if len(token[0]) > 7 or int(token[0][1:]) >= MOST_RESULTS:
                what = f"no operation has a result {token[0][:20]}; the last can be"
                return Excess(token.start(), f"{what} #{MOST_RESULTS - 1}")
    return None


def _excess_of_maps(text: str) -> Excess | None:
    if len(text) <= LONGEST_MAP:
        return None
    for found in _MAP.finditer(text):
        end = bracketed_end(text, found.end() - 1) or len(text)
        if end - found.start() > LONGEST_MAP:
            what = f"an affine map or set of more than {LONGEST_MAP} characters"
            return Excess(found.start(), what)
    return None


def _odd_iterators(text: str) -> Excess | None:
    found = _ITERATORS.search(text) if "iterator_types" in text else None
    what = 'iterator_types must hold only quoted words, such as "parallel"'
    return found and Excess(found.end() - 1, what)


def _attribute_end(text: str, at: int) -> int | None:
    return attribute_end(text, at, typed=True)


class _Alias(NamedTuple):
    """An alias as it is defined: where, and the aliases that it names, each as often as it does."""

    at: int
    names: list[str]


def _excess_of_aliases(text: str) -> Excess | None:
    """Aliases that stand for too many, which MLIR shares and whoever prints them writes out."""
    if text.count("#") + text.count("!") <= _FEW_ALIASES:
        return None
    defined: dict[str, _Alias] = {}
    places = [*_ALIAS.finditer(text)]
    for found, following in zip_longest(places, places[1:]):
        most = following.start() if following else len(text)
        start = skip_space(text, text.index("=", found.end()) + 1, most)
        end = (_attribute_end if found[0][0] == "#" else type_end)(text, start)
        if end is None:  # its line, or what is before the next
            end = text.find("\n", start, most) % (most + 1)
        names = _ALIAS_USE.findall(text, start, end)
        defined.setdefault(found[0], _Alias(found.start(), names))
    if not any(alias.names for alias in defined.values()):
        return None
    known: dict[str, tuple[int, int]] = {}
    for name in defined:
        for each in _in_order(name, defined, known):
            sizes = [known.get(other, (0, 0)) for other in defined[each].names]
            depth = 1 + max((deep for deep, _ in sizes), default=0)
            count = 1 + sum(many for _, many in sizes)
            known[each] = depth, count
            if depth > DEEPEST:
                what = f"aliases nest more than {DEEPEST} deep"
                return Excess(defined[each].at, what)
            if count > MOST_EXPANDED:
                return Excess(defined[each].at, f"an alias expands to more than {MOST_EXPANDED}")
    return None


def _in_order(
    name: str, defined: Mapping[str, _Alias], known: Mapping[str, object]
) -> Iterator[str]:
    """The aliases that `name` is made of and are not known yet, itself last; each after its own."""
    waiting, entered = [name], set[str]()
    while waiting:
        last = waiting[-1]
        more = [] if last in entered else [n for n in defined[last].names if n in defined]
        entered.add(last)
        waiting += [n for n in dict.fromkeys(more) if n not in known and n not in entered]
        if waiting[-1] == last:
            waiting.pop()
            if last not in known:
                yield last
