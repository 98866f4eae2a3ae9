"""Random programs that the passes compile rightly: of none may the validator name a pass.

    python test/unit/validation/census.py FIRST LAST [-o census.json]

runs the programs of the seeds through the passes of their targets up to level 3, with every pass
validated on inputs drawn from the same seed, and counts what became of them. With -o the counts
are added to those of a file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import target
from tilec.passes.base import ProgramError
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

TILES = Path(__file__).resolve().parent.parent / "tiles"
GENERATORS = ("random_tiles", "random_memory")
"""What draws programs: even seeds are the first's, odd ones the second's."""
SAVED_EVERY = 50


class Tried(NamedTuple):
    """What became of a program.

    Attributes:
        became: "validated", "named", "refused" (such as a product that the target has not) or
            "not interpreted", if that was so behind some pass.
        changes: kernels that passes changed and that were compared.
        message: of what was named or refused, or why something was not compared.
    """

    became: str
    changes: int
    message: str = ""


def generator(name: str) -> Callable[[int], Any]:
    """A class of programs, of a folder that is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, TILES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    made: Callable[[int], Any] = sys.modules[name].Program
    return made


def tried(seed: int) -> Tried:
    """The program of a seed through its passes, each of them validated."""
    made = generator(GENERATORS[seed % len(GENERATORS)])(seed)
    passes = list(map(str, pipeline(target(made.target)).tile))
    validator = Validator(seed)
    watched = Instrumentation(watchers=(validator.around,))
    try:
        module = parse(Source("-", made.text), new_context())
        run_pipeline(module, passes, instrumentation=watched)
    except ProgramError as error:
        message = str(error)
        became = "named" if "changed the meaning" in message else "refused"
        return Tried(became, len(validator.validated), message)
    why = "; ".join(validator.left.values())
    return Tried("not interpreted" if why else "validated", len(validator.validated), why)


def main() -> None:
    """Count what becomes of programs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("-o", dest="output", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    held: dict[str, Any] = {"seeds": [], "counts": {}}
    if arguments.output and arguments.output.exists():
        held = json.loads(arguments.output.read_text())
    begun, counted = list(held["seeds"]), Counter(held["counts"])
    for seed in range(arguments.first, arguments.last):
        found = tried(seed)
        counts[found.became] += 1
        counts["changes compared"] += found.changes
        if found.became not in ("validated", "refused"):
            print(seed, *found, flush=True)
        if arguments.output and ((seed + 1) % SAVED_EVERY == 0 or seed + 1 == arguments.last):
            now = {"seeds": [*begun, [arguments.first, seed + 1]], "counts": counted + counts}
            arguments.output.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
