"""Ask every ptxas at hand of every form on every target in every PTX version, and compare.

    python benchmarks/certify_forms.py [--target T]... [--every N] [-o FILE]

For each ptxas, target and version that it knows, all forms of the table stand in one module, the
last line of which is refused for certain, so that no code is made. A form that ptxas takes and the
table has not, or the other way round, is a disagreement. The answer is a table in Markdown, a line
for each ptxas and target, and behind it each kind of disagreement; the exit code is 1 if there are
any but those that are known (`KNOWN`).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilec.backend.cubin import tools
from tilec.isa import TARGETS, Form, PtxVersion, Target, assembly, forms
from tilec.isa.instructions import Instruction, instructions, operand_type

VERSIONS = tuple(
    PtxVersion(major, minor)
    for major, last in ((6, 5), (7, 8), (8, 8), (9, 5))
    for minor in range(last + 1)
)
#: What ptxas says other than the ISA, and why: an expression for the mnemonic.
KNOWN = {
    r"^mma\..*kind::f8f6f4\.f(16|32)\.e[45]m[32]\.e[45]m[32]\.": (
        "the ISA grants it to sm_120 only; ptxas makes it of f16 instructions on sm_100's"
    ),
    r"\.block_scale(?!\.(scale_vec|block\d))": (
        "CUDA 13.0 asks for PTX 8.8 where `.block_scale` stands alone, the ISA and 13.5 for 8.6"
    ),
}
_RENAMED = {70: "sm_75", 72: "sm_75", 101: "sm_110"}
_HEAD = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) {{
.reg .b32 %r<129>; .reg .f32 %f<129>; .reg .f64 %d<16>; .reg .b64 %p; .reg .b32 %s;
.reg .b16 %h; .reg .pred %q;
"""
_LATER = ".reg .b128 %z;"  # refused before PTX 8.3, when nothing takes it yet
_TAIL = "add.s32 %f0, %f0, %f0;\n}\n"
_POOLS = {"b32": "%r", "s32": "%r", "u32": "%r", "f32": "%f", "f64": "%d"}
_REGISTERS = {
    "address": "%s", "tensor map": "%p", "parameter": "map", "u16": "%h", "u64": "%p",
    "b64": "%p", "pred": "%q", "f32": "%f1", "f64": "%d1", "u32": "%r1", "s32": "%r1",
    "b32": "%r1", "tensor address": "%r2", "b128": "%z",
}  # fmt: skip

Named = Form | Instruction


@dataclass(frozen=True, slots=True)
class Answer:
    """What one ptxas says of one target in one version.

    Attributes:
        agree: forms of which it says what the table says.
        more: those that it takes and the table has not.
        less: those that the table has and it does not take.
    """

    agree: int
    more: tuple[str, ...]
    less: tuple[str, ...]


def line(one: Named) -> str:
    """The instruction on any registers, with the first legal constants."""
    return _form(one) if isinstance(one, Form) else _instruction(one)


def _form(form: Form) -> str:
    places: dict[str, list[str]] = {"address": ["%p"]}
    for operand in form.all_operands:
        pool = _POOLS.get(operand.register.ptx)
        names = [f"{pool}{n}" for n in range(operand.registers)]
        places[operand.name] = names if pool else ["%p"]
    for selector in form.selectors:
        places[selector.name] = [str(selector.legal[0])]
    return assembly(form, places, "shared" if form.spaces else "")


def _instruction(one: Instruction) -> str:
    found = {}
    for name in one.names:
        sort = operand_type(name)
        far = dict(one.addresses).get(name) in ("global", "generic")
        found[name] = str(one.legal[0]) if sort == "number" else "%p" if far else _REGISTERS[sort]
    return one.text(found)


def refused(
    path: str, architecture: str, lines: Sequence[str], target: Target, version: PtxVersion
) -> set[int] | None:
    """The lines that a ptxas refuses; None if it does not know the target in that version."""
    head = _HEAD.format(version=version, target=target)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "forms.ptx"
        source.write_text(head + "".join(f"{one}\n" for one in (_LATER, *lines)) + _TAIL)
        command = [path, f"-arch={architecture}", str(source), "-o", str(source) + ".cubin"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    first = head.count("\n") + 2
    numbers = {int(n) - first for n in re.findall(r", line (\d+); (?:error|fatal) +: ", said)}
    return numbers if len(lines) in numbers and min(numbers) >= -1 else None


def compare(found: Sequence[Named], wrong: set[int], target: Target, version: PtxVersion) -> Answer:
    """The table beside what a ptxas refuses."""
    more, less, agree = [], [], 0
    for index, one in enumerate(found):
        first = one.min_ptx(target)
        has, takes = first is not None and first <= version, index not in wrong
        agree += has == takes
        if takes and not has:
            more.append(one.ptx)
        elif has and not takes:
            less.append(one.ptx)
    return Answer(agree, tuple(more), tuple(less))


def answers(
    found: Sequence[Named], targets: Sequence[Target]
) -> Iterator[tuple[str, Target, PtxVersion, Answer]]:
    """Every ptxas at hand, target and version, and the answer."""
    lines = [line(one) for one in found]
    for tool in tools("ptxas"):
        name = ".".join(map(str, tool.version))
        for target in targets:
            architecture = _RENAMED.get(target.number, f"sm_{target.number}") + target.scope
            for version in VERSIONS:
                if version < target.min_ptx:
                    continue
                wrong = refused(tool.path, architecture, lines, target, version)
                if wrong is not None:
                    yield name, target, version, compare(found, wrong, target, version)


def is_known(ptx: str) -> bool:
    """Whether it is known that ptxas says other than the ISA of this form."""
    return any(re.search(expression, ptx) for expression in KNOWN)


def document(found: Sequence[tuple[str, Target, PtxVersion, Answer]], count: int) -> str:
    """The table, and the disagreements by what is known of them."""
    rows: dict[tuple[str, str], list[tuple[PtxVersion, Answer]]] = {}
    for name, target, version, answer in found:
        rows.setdefault((name, str(target)), []).append((version, answer))
    head = ("ptxas", "target", "PTX", "asked", "agree", "ptxas alone", "table alone")
    lines = [f"# {count} forms", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for (name, target), several in rows.items():
        own = [answer for _, answer in several]
        span = f"{several[0][0]}–{several[-1][0]}"
        cells = (name, target, span, count * len(own), sum(one.agree for one in own),
                 sum(len(one.more) for one in own), sum(len(one.less) for one in own))  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    said = Counter(ptx for _, _, _, one in found for ptx in (*one.more, *one.less))
    lines += ["", "## Disagreements", ""]
    for expression, why in KNOWN.items():
        times = sum(n for ptx, n in said.items() if re.search(expression, ptx))
        lines.append(f"- {times} times: {why}")
    lines += [f"- {n} times, unknown: `{ptx}`" for ptx, n in said.items() if not is_known(ptx)]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth form")
    parser.add_argument("-o", dest="output", metavar="FILE", help="default: standard output")
    given = parser.parse_args(argv)
    every: list[Named] = [*forms().values(), *instructions().values()][:: given.every]
    targets = [TARGETS[name] for name in given.target or TARGETS]
    found = list(answers(every, targets))
    text = document(found, len(every))
    if given.output:
        Path(given.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    disagreeing = (ptx for _, _, _, one in found for ptx in (*one.more, *one.less))
    return int(not found or not all(map(is_known, disagreeing)))


if __name__ == "__main__":
    sys.exit(main())
