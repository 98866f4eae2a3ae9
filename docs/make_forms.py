"""Write forms.md from the instruction table: counts by family, and which target has what.

    python docs/make_forms.py [--check]

With --check nothing is written, and the exit code says whether the file is up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tilec.isa import TARGETS, Family, Form, Target, forms
from tilec.isa.instructions import instructions
from tilec.isa.sass import executions

FILE = Path(__file__).with_name("forms.md")

_INTRODUCTION = """\
# Instruction forms

Written by `docs/make_forms.py` from the instruction table in `isa/`; do not edit. `tile-isa list`
prints the forms one by one, `tile-isa show` all about one of them, and `tile-isa emit` a kernel
that tries it: PTX on registers, or with `--format mlir` a tile program on matrices.

The mnemonic of `wgmma` does not say whether A comes from registers or by a descriptor, so the key
of a form does, by a last word: `a::registers` or `a::descriptor`. `tile-isa show` and `emit` take
the mnemonic and `--a registers` too; in JSON `ptx` is the mnemonic, `a` that word, `key` the key.

## Count by family
"""

_MATRIX = """
## Which target has what

A number is the first PTX version with which the target has the form, which a module needs besides
the version that knows the target's name; a dash means never. Targets that have the same forms from
the same versions share a column. Braces hold alternatives of one word of the mnemonic.
"""

_EMULATION = """
## Native and emulated

A form is emulated where the architecture has no tensor instruction for its types. Measured in the
code of ptxas 13.0 and 13.5; forms that are native everywhere are left out.
"""

_AROUND = """
## Around them

What moves, orders and synchronises for these instructions on Hopper and later, and `tcgen05.mma`,
whose mnemonic says nothing of types and shape: `tile-isa list` has them behind the forms.
`tile-isa show` has the operands, state spaces, order and scope of each, and by what a copy is known
to be done. A target's name stands for later ones too, as in PTX; each is followed by the first PTX
version.

`python benchmarks/certify_forms.py` asks every ptxas at hand of every form on every target in every
PTX version, both ways, and writes a table, of which `benchmarks/results` has one. They agree but
for this: twelve forms of `mma` of fp8 by
`kind::f8f6f4` assemble on sm_100a and its kin, which the ISA grants to sm_120 only. The ptxas of
CUDA 13.0 asks for PTX 8.8 where `.block_scale` stands alone; the ISA, and the ptxas of CUDA 13.5,
have it from 8.6 on. Both also take an exponent behind `tcgen05.mma` of
`kind::i8`, which the ISA does not grant.
"""

Words = tuple[tuple[str, ...], ...]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _merged(names: Iterable[str]) -> list[str]:
    """Mnemonics, those that differ in one word as one with braces, again and again."""
    patterns: list[Words] = [tuple((word,) for word in name.split(".")) for name in names]
    changed = True
    while changed:
        changed = False
        for at in range(max(map(len, patterns))):
            found: dict[tuple[Words, Words], list[tuple[str, ...]]] = {}
            for one in patterns:
                if at < len(one):
                    found.setdefault((one[:at], one[at + 1 :]), []).append(one[at])
            merged = [
                (*before, tuple(dict.fromkeys(word for part in parts for word in part)), *after)
                for (before, after), parts in found.items()
            ]
            merged += [one for one in patterns if at >= len(one)]
            changed |= len(merged) < len(patterns)
            patterns = merged
    return [
        ".".join(words[0] if len(words) == 1 else f"{{{','.join(words)}}}" for words in one)
        for one in patterns
    ]


def _since(form: Form, target: Target) -> str:
    versions = [clause.ptx for clause in form.since if clause.covers(target)]
    return str(min(versions)) if versions else "–"


def _columns(found: list[Form]) -> list[list[Target]]:
    """Targets in groups that have the same forms from the same versions."""
    groups: dict[tuple[str, ...], list[Target]] = {}
    for target in TARGETS.values():
        groups.setdefault(tuple(_since(form, target) for form in found), []).append(target)
    return list(groups.values())


def _matrix(family: Family) -> str:
    found = [form for form in forms().values() if form.family == family]
    columns = _columns(found)
    rows: dict[tuple[str, ...], list[str]] = {}
    for form in found:
        rows.setdefault(tuple(_since(form, column[0]) for column in columns), []).append(form.ptx)
    lines = [(f"`{name}`", *row) for row, names in rows.items() for name in _merged(names)]
    head = (" ".join(target.name for target in column).replace(" sm_", " ") for column in columns)
    return f"\n### {family}\n\n" + _table(("form", *head), lines)


def _executed(form: Form) -> str:
    ranges = []
    for one in executions(form):
        what = f"{one.count} {one.opcode}" if one.count else "scalar arithmetic"
        ranges.append(f"sm_{one.since} on: {what}{', emulated' * one.emulated}")
    return "; ".join(ranges)


def _emulated() -> str:
    found = [f for f in forms().values() if any(one.emulated for one in executions(f))]
    ordered = sorted(found, key=_executed)
    lines = [
        (f"`{name}`", how)
        for how, group in groupby(ordered, key=_executed)
        for name in _merged(form.ptx for form in group)
    ]
    return "\n" + _table(("form", "executed as"), lines)


def _around() -> str:
    """Instructions that are not matrix instructions, family by family."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in instructions().values():
        where = ", ".join(f"{name} {version}" for name, version in one.targets.items())
        rows.setdefault((one.family, str(one.scope), where), []).append(one.ptx)
    lines = [
        (f"`{name}`", scope, where)
        for (_, scope, where), names in rows.items()
        for name in _merged(names)
    ]
    return "\n" + _table(("instruction", "executed by", "from"), lines)


def document() -> str:
    """The whole file."""
    found = forms().values()
    counts = [(f"`{f}`", str(sum(form.family == f for form in found))) for f in Family]
    counts.append(("all", str(len(found))))
    matrices = "".join(_matrix(family) for family in Family)
    return (
        _INTRODUCTION
        + "\n"
        + _table(("family", "forms"), counts)
        + _MATRIX
        + matrices
        + _EMULATION
        + _emulated()
        + _AROUND
        + _around()
    )


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    if not parser.parse_args().check:
        FILE.write_text(document(), encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") == document():
        return 0
    print(f"error: {FILE.name} is not what the table says; run docs/make_forms.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
