"""Faults put into the pipeline by seeds, and the smallest programs that show them.

    python test/unit/reduction/injected.py FIRST LAST [-o injected.json]

Each seed draws a random program, a pass that does one thing wrong, wherever the program gives it
occasion, and the place of that pass in the pipeline of the program's target. Where the validator
names the pass, or the pass fails, the program is reduced, and what is left is counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.base import Pass, ProgramError, walk
from tilec.pipelines import pipeline
from tilec.reduction import Failure, Interest, Validation, reduce_text
from tilec.report.diagnostics import Source

UNIT = Path(__file__).resolve().parent.parent
GENERATORS = ("random_tiles", "random_memory")


def load(path: Path) -> ModuleType:
    """A module of a folder that is no package."""
    if path.stem not in sys.modules:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[path.stem]


slips = load(UNIT / "validation" / "slips.py")
Act = Callable[[Any], None]

INSTEAD = {
    "arith.addf": "arith.subf",
    "arith.subf": "arith.addf",
    "arith.mulf": "arith.addf",
    "arith.maximumf": "arith.minimumf",
    "arith.minimumf": "arith.maximumf",
    "arith.addi": "arith.subi",
    "arith.subi": "arith.addi",
    "arith.muli": "arith.ori",
    "arith.maxsi": "arith.maxui",
    "arith.minsi": "arith.maxsi",
    "arith.extsi": "arith.extui",
    "arith.sitofp": "arith.uitofp",
}
"""What a wrong pass writes instead of an op."""
TURNED = ("arith.subf", "arith.subi", "arith.divf", "arith.divsi", "arith.cmpi", "arith.cmpf")


def other_op(name: str) -> Act:
    """Write another op in place of each of a name."""

    def act(module: Any) -> None:
        for op in slips.named(module, name):
            with ir.InsertionPoint(op), op.location:
                types, given = [r.type for r in op.results], list(op.operands)
                new = ir.Operation.create(INSTEAD[name], results=types, operands=given)
            for old, result in zip(op.results, new.results, strict=True):
                old.replace_all_uses_with(result)
            op.erase()

    return act


def turned(name: str) -> Act:
    """Exchange the operands of each op of a name."""

    def act(module: Any) -> None:
        for op in slips.named(module, name):
            first, second = op.operands
            op.operands[0], op.operands[1] = second, first

    return act


def turned_indices(module: Any) -> None:
    """Exchange the indices of every load of a matrix."""
    for op in slips.named(module, "tile.load"):
        at = [n for n, value in enumerate(op.operands) if isinstance(value.type, ir.IndexType)]
        if len(at) == 2:
            first, second = op.operands[at[0]], op.operands[at[1]]
            op.operands[at[0]], op.operands[at[1]] = second, first


def raises(user: str, used: str) -> Act:
    """Fail at an op of one name that uses a result of another."""

    def act(module: Any) -> None:
        for op in slips.named(module, user):
            for value in op.operands:
                owner = value.owner
                if not isinstance(owner, ir.Block) and owner.name == used:
                    raise KeyError(used)

    return act


class Fault(NamedTuple):
    """Something wrong in a pipeline.

    Attributes:
        name: of what the pass does.
        act: does it.
        behind: how many of the target's passes go before.
        fails: whether the pass fails, rather than changing what a kernel computes.
    """

    name: str
    act: Act
    behind: int
    fails: bool


def _faults(text: str, passes: list[str]) -> Iterator[Fault]:
    """What can be wrong with a program."""
    module = parse(Source("-", text), new_context())
    there = {op.operation.name for op in walk(module.operation)}
    for name in sorted(there & set(INSTEAD)):
        yield Fault(f"{INSTEAD[name]} for {name}", other_op(name), 1, False)
    for name in sorted(there & set(TURNED)):
        yield Fault(f"operands of {name}", turned(name), 1, False)
    for act in (turned_indices, slips.drop_store, slips.other_constant, slips.shorten_loop):
        yield Fault(act.__name__, act, 1, False)
    staged = passes.index("tile-stage-shared") + 1 if "tile-stage-shared" in passes else 0
    if staged and "tile.dot" in there:
        yield Fault("drop_wait", slips.drop_wait, staged, False)
        yield Fault("drop_barriers", slips.drop_barriers, staged, False)
    for op in walk(module.operation):
        for value in op.operands:
            owner = value.owner
            if not isinstance(owner, ir.Block) and owner.name != "arith.constant":
                user, used = op.operation.name, owner.name
                yield Fault(f"fails at {user} of {used}", raises(user, used), 1, True)


@dataclass(frozen=True)
class Injected:
    """What a seed draws.

    Attributes:
        seed: the seed.
        text: the program.
        fault: what is wrong.
        interest: whether a program shows it.
    """

    seed: int
    text: str
    fault: Fault
    interest: Interest


def inject(seed: int) -> Injected:
    """The program and the fault of a seed."""
    drawn = random.Random(seed)
    made = load(UNIT / "tiles" / f"{drawn.choice(GENERATORS)}.py").Program(seed)
    passes = list(map(str, pipeline(target(made.target)).tile))
    faults = list({fault.name: fault for fault in _faults(made.text, passes)}.values())
    wrong = drawn.random() < 0.7
    fault = drawn.choice([f for f in faults if f.fails != wrong] or faults)

    @dataclass(frozen=True)
    class Wrong(Pass):
        """Does something wrong."""

        name: ClassVar[str] = "test-wrong"

        def apply(self, module: Any) -> None:
            fault.act(module)

    elements: list[str | Pass] = [*passes[: fault.behind], Wrong()]
    if fault.fails:
        return Injected(seed, made.text, fault, Failure(elements, "'test-wrong' .* failed: KeyErr"))
    return Injected(seed, made.text, fault, Validation(elements, r"^pass 'test-wrong'"))


def lines(text: str) -> int:
    """The lines of a program."""
    return len([line for line in text.split("\n") if line.strip()])


def reduced(injected: Injected) -> dict[str, Any] | None:
    """What is left of a program; None if it does not show what is wrong."""
    if not injected.interest(injected.text):
        return None
    tried = 0

    def interest(text: str) -> bool:
        nonlocal tried
        tried += 1
        return injected.interest(text)

    text = reduce_text(injected.text, interest)
    assert injected.interest(text)
    found = {"seed": injected.seed, "fault": injected.fault.name, "programs": tried}
    return found | {"before": lines(injected.text), "lines": lines(text), "left": text}


def main() -> None:
    """Reduce programs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("-o", dest="output", type=Path)
    arguments = parser.parse_args()
    found: list[dict[str, Any]] = []
    for seed in range(arguments.first, arguments.last):
        try:
            one = reduced(inject(seed))
        except ProgramError:  # the program itself is refused
            continue
        if one is None:
            continue
        text = one.pop("left")
        found.append(one)
        print(one, flush=True)
        if one["lines"] >= 15:
            print(text, flush=True)
        if arguments.output:
            arguments.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
