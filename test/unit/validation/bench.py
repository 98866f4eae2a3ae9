"""Programs whose results are known, and what a mutant makes of them.

    python test/unit/validation/bench.py FIRST LAST [-o mutants.json] [--within staging …]

draws the mutants of seeds, keeps those that miscompile one of the programs, and says of each
whether the validator names the pass that the mutant is of: the first that leaves other IR.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import NoMeaning, arithmetic_of, interpret
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.base import ProgramError
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

HERE = Path(__file__).resolve().parent
TILES = HERE.parent / "tiles"
PROGRAMS = (
    *(("random_memory", seed) for seed in (14, 18, 0)),
    *(("random_tiles", seed) for seed in (19, 12)),
)
"""Generators and seeds: each pass up to level 3 changes one of them."""
WRITERS = (
    *(
        "fragments",
        "to_fragments",
        "staging",
        "stage_",
        "pipeline_loops",
        "coalesce_stores",
        "emit",
    ),
    *("reuse_shared", "unroll_loops", "assign_layouts", "remove_", "analysis.buffer_lifetimes"),
    *("layouts.transposed_loads", "layouts.conversion_motion", "layouts.atomic_copies", "erasure"),
)
"""What the names of the modules begin with that write IR, rather than ask about it."""
SECONDS = 30
"""Of the processor, that a mutant has at most."""


def load(path: Path) -> ModuleType:
    """A module of a folder that is not a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


mutation = load(HERE / "mutation.py")
arrays = load(HERE.parent / "interpret" / "arrays.py")


class Known(NamedTuple):
    """A program whose result is known.

    Attributes:
        text: the program.
        passes: of its target, up to level 3.
        chip: the target.
        arguments: arrays and numbers.
        expected: by place among the arguments, what must be there.
        left: the IR after each pass.
    """

    text: str
    passes: tuple[str, ...]
    chip: str
    arguments: list[Any]
    expected: dict[int, Any]
    left: tuple[str, ...]


def known(name: str, seed: int) -> Known:
    """A program of a generator."""
    made = load(TILES / f"{name}.py").Program(seed)
    if name == "random_tiles":
        arguments, expected = [*made.arguments, 1], made.expected
    else:
        arguments, expected = list(made.arguments), dict(enumerate(made.expect()))
    passes = tuple(map(str, pipeline(target(made.target)).tile))
    module, left = parse(Source("-", made.text), new_context()), []
    for one in passes:
        run_pipeline(module, one)
        left.append(module.operation.get_asm(print_generic_op_form=True))
    return Known(made.text, passes, made.target, arguments, expected, tuple(left))


def is_right(program: Known, module: ir.Module) -> bool:
    """Whether what the passes left computes what numpy does, and races for nothing."""
    function, hardware = arrays.kernel_of(module), arithmetic_of("hardware")
    given = arrays.views(function, program.arguments, hardware)
    done = interpret(function, given, hardware, target=program.chip, limit=20_000)
    for at, wanted in program.expected.items():
        seen = arrays.contents(given[at], done.memories[at])
        if not np.array_equal(seen, np.asarray(wanted).astype(seen.dtype)):
            return False
    return not done.findings


class Verdict(NamedTuple):
    """What a mutant does to a program.

    Attributes:
        mutated: the first pass that leaves other IR.
        named: the pass that the validator names; empty if none.
    """

    mutated: str
    named: str


def judge(program: Known) -> Verdict | None:
    """What the passes, of which one may be a mutant, do to a program; None if that is right."""
    module, mutated = parse(Source("-", program.text), new_context()), ""
    for one, left in zip(program.passes, program.left, strict=True):
        run_pipeline(module, one)
        if not mutated and module.operation.get_asm(print_generic_op_form=True) != left:
            mutated = one
    if not mutated or is_right(program, module):
        return None
    return Verdict(mutated, validated(program))


def validated(program: Known) -> str:
    """The pass that the validator names; empty if none."""
    module = parse(Source("-", program.text), new_context())
    watched = Instrumentation(watchers=(Validator(shrinks=False).around,))
    try:
        run_pipeline(module, list(program.passes), instrumentation=watched)
    except ProgramError as error:
        _, quote, rest = str(error).partition("pass '")
        return rest.partition("'")[0] if quote else ""
    return ""


def miscompiled(mutant: Any, programs: list[Known]) -> Verdict | None:
    """The verdict on the first program that a mutant miscompiles; None if other checks catch it."""
    for program in programs:
        try:
            with mutation.applied(mutant):
                verdict = judge(program)
        except NoMeaning:
            continue
        except Exception:  # a mutant that crashes, or that verifiers refuse
            return None
        if verdict is not None:
            return verdict
    return None


def apart(mutant: Any, programs: list[Known]) -> Verdict | None:
    """`miscompiled` in a process of its own, which may crash, or take too long."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        verdict = miscompiled(mutant, programs)
        os.write(write, json.dumps(verdict).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as stream:
        told = stream.read()
    os.waitpid(child, 0)
    found = json.loads(told) if told else None
    return None if found is None else Verdict(*found)


def main() -> None:
    """Draw mutants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("-o", dest="output", default="")
    parser.add_argument("--within", nargs="+", default=WRITERS, metavar="NAME", help="modules")
    arguments = parser.parse_args()
    programs = [known(*one) for one in PROGRAMS]

    def everything() -> None:
        for program in programs:
            module = parse(Source("-", program.text), new_context())
            run_pipeline(module, list(program.passes))

    whole = tuple(f"tilec.passes.{name}" for name in arguments.within)
    names = [one for one in mutation.executed(everything) if one.startswith(whole)]
    found, drawn = [], 0
    for seed in range(arguments.first, arguments.last):
        mutant = mutation.draw(seed, names)
        if mutant is None:
            continue
        drawn += 1
        verdict = apart(mutant, programs)
        if verdict is not None:
            found.append({**mutant._asdict(), **verdict._asdict()})
            agrees = "named" if verdict.mutated == verdict.named else "NOT NAMED"
            print(agrees, verdict, *mutant, flush=True)
            if arguments.output:
                Path(arguments.output).write_text(json.dumps(found, indent=1) + "\n")
    named = sum(one["mutated"] == one["named"] for one in found)
    print(f"{drawn} mutants, {len(found)} miscompile, of {named} the pass is named")


if __name__ == "__main__":
    main()
