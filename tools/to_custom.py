"""`python -m tilec.tools.to_custom FILE…`: write the generic ops in files in their custom form.

For programs and tests from before an op's class declared its `assembly_format`. Files are MLIR, or
others that hold MLIR, such as Python or Markdown. What FileCheck looks for is converted too, as far
as it can be understood; look at what is left. With `--dialect MODULE` that module, which defines
the ops, is imported first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from .common import Parser, run

_CHECK = re.compile(r"^\s*(?://|#)\s*[A-Z][\w-]*:")
_MASKED = re.compile(r"\{\{.*?\}\}|\[\[[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*\]\]")
_MASK = re.compile(r"(%?)QQ(\d+)([QX])Q")
_FAKE = "QFAKEQ"


def convert_text(text: str) -> str:
    """`text` with its generic ops in the custom form, and what FileCheck looks for."""
    from tilec.ir.assembly.convert import converted  # noqa: PLC0415 (imports MLIR)

    text = converted(text)
    return "".join(
        _checked(line) if _CHECK.match(line) else line for line in text.splitlines(keepends=True)
    )


def _checked(line: str) -> str:
    """A line that FileCheck reads."""
    from tilec.ir.assembly.registry import known  # noqa: PLC0415

    ops = known()
    for quoted in (re.compile(p.pattern.removesuffix(r"\(")) for p in ops.quoted):
        at = 0
        while found := quoted.search(line, at):
            at = found.end()
            if found[1] in ops.classes:
                rest = line[found.end() :].rstrip("\n")
                written = _op(found[1], rest)
                line = f"{line[: found.start()]}{found[1]}{written}\n"
                at = found.start() + len(found[1])
    return line


def _op(name: str, rest: str) -> str:
    """What FileCheck looks for after the name of an op."""
    texts: list[str] = []

    def mask(found: re.Match[str]) -> str:
        if found[0] not in texts:
            texts.append(found[0])
        return f"QQ{texts.index(found[0])}QQ"

    def unmask(found: re.Match[str]) -> str:
        return ("" if found[3] == "X" else found[1]) + texts[int(found[2])]

    masked = _MASKED.sub(mask, rest)
    if not masked.startswith("("):
        return rest
    operands, closed, tail = masked[1:].partition(")")
    operands = re.sub(r"(?<![%\w])QQ(\d+)QQ", r"%QQ\1XQ", operands)
    for attempt in _attempts(name, operands, tail):
        return _MASK.sub(unmask, attempt)
    dictionary = re.match(r" \{[^{}]*\}", tail)
    attributes, types = (dictionary[0], tail[dictionary.end() :]) if dictionary else ("", tail)
    for attempt in _attempts(name, operands, attributes):
        types = re.sub(r"^ : \($", " :", types)
        types = re.sub(r"^ : \((.*?)(?:, index)*\) -> ", r" : \1 -> ", types)
        return _MASK.sub(unmask, attempt + types)
    # At least without the parentheses.
    return _MASK.sub(unmask, f" {operands}{tail}" if operands or closed else tail)


def _attempts(name: str, operands: str, tail: str) -> Iterator[str]:
    """The custom form of an op whose text may end early."""
    from tilec.ir.assembly.convert import converted_op  # noqa: PLC0415
    from tilec.ir.assembly.registry import known  # noqa: PLC0415

    class_ = known().classes[name]
    values = [value for value in operands.split(", ") if value]
    for lists in _operand_lists(values, tail):
        for end in _ends(name, len(lists), tail):
            found = converted_op(class_, f"({', '.join(lists)}){end}", 0, {})
            if found:
                yield _cut(found[0]) + end_of_line(f"({', '.join(lists)}){end}", found[1])


def end_of_line(text: str, at: int) -> str:
    """What stands after an op."""
    return "" if _FAKE in text[at:] else text[at:]


def _operand_lists(values: Sequence[str], tail: str) -> Iterator[list[str]]:
    """The operands; where one pattern stands for several, as many as there are types."""
    yield list(values)
    types = re.search(r": \((.*?)\) ->", tail)
    if len(values) == 1 and types:
        yield list(values) * (1 + len(re.findall(r",(?![^<]*>)", types[1])))


def _ends(name: str, operands: int, tail: str) -> Iterator[str]:
    """`tail` and what may have been left out of it."""
    yield tail
    tail = tail.rstrip()
    types, result = _fake_types(name, operands)
    whole = f" : ({', '.join(types)}) -> {result}"
    if not tail:
        yield f"{_needed(name)}{whole}"
    for close in ("", "}", f' = "{_FAKE}"}}', f"{_FAKE}}}"):
        yield f"{tail}{close}{whole}"
    for count in range(operands + 1):
        rest = ", ".join(types[count:])
        for start in ("", " (", " : (", ", ", " "):
            yield f"{tail}{start}{rest}) -> {result}"
    for start in (" -> ", " ", ""):
        yield f"{tail}{start}{result}"


def _fake_types(name: str, operands: int) -> tuple[list[str], str]:
    """Types of so many operands that the format of an op can say, and of its result."""
    from tilec.ir.assembly.declaration import format_of  # noqa: PLC0415
    from tilec.ir.assembly.registry import known  # noqa: PLC0415

    format_ = format_of(known().classes[name])
    assert format_ is not None
    signature = format_.signature
    several = operands - sum(group.single for group in signature.operands)
    types: list[str] = []
    named = {group.name: f"{_FAKE}{group.name}" for group in signature.operands}
    named |= {group.name: f"{_FAKE}{group.name}" for group in signature.results}
    for other, rule in signature.inferred.items():
        named[other] = named[rule[1:]] if rule.startswith("$") else rule
    if "ranked(" in format_.text:
        first, second = (group.name for group in signature.operands[:2])
        named[first] = f"memref<?x?x{_FAKE}>"
        named[second] = f"memref<{'?x' * max(0, several - 2)}{_FAKE}>"
    for group in signature.operands:
        types += [named[group.name]] * (1 if group.single else several)
    return types, named[signature.results[0].name] if signature.results else "()"


def _needed(name: str) -> str:
    """Attributes that the format of an op cannot do without."""
    from tilec.ir.assembly.declaration import format_of  # noqa: PLC0415
    from tilec.ir.assembly.elements import Attribute, Spelling  # noqa: PLC0415
    from tilec.ir.assembly.registry import known  # noqa: PLC0415

    format_ = format_of(known().classes[name])
    assert format_ is not None
    fake = {Spelling.LIST: "array<i64: 99>", Spelling.KEYWORD: f'"{_FAKE}A"'}
    found = [
        f"{element.name} = {fake.get(element.spelling, f'{_FAKE}A')}"
        for element in format_.elements
        if isinstance(element, Attribute)
    ]
    return f" {{{', '.join(found)}}}" if found else ""


def _cut(written: str) -> str:
    """What was written, up to what was made up."""
    written = written.replace(f"{_FAKE}A", "{{.*}}").replace("[99]", "[{{.*}}]")
    at = written.find(_FAKE)
    if at < 0:
        return written
    if "memref<?" in written[:at]:
        at = written.index("memref<?")
    return re.sub(r"(?:[\s,:]|->|\bto\b)+$", "", written[:at])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit code."""
    parser = Parser("tilec.tools.to_custom", __doc__ or "")
    parser.add_argument("files", nargs="+", metavar="FILE", help="files to rewrite in place")
    parser.add_argument(
        "--dialect", action="append", default=[], metavar="MODULE", help="a module that defines ops"
    )

    def convert(arguments: object) -> int:
        for module in ("tilec.dialects.tile.ops", *vars(arguments)["dialect"]):
            import_module(module)
        for name in vars(arguments)["files"]:
            path = Path(name)
            text = path.read_text(encoding="utf-8")
            made = convert_text(text)
            if made != text:
                path.write_text(made, encoding="utf-8")
        return 0

    return run(parser, convert, argv)


if __name__ == "__main__":
    raise SystemExit(main())
