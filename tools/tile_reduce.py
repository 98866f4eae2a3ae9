"""`tile-reduce`: reduce a program that shows a miscompilation, an error or a crash.

A program is interesting if `--test COMMAND FILE` exits with 0, or as `--keep` says: `miscompile`,
a pass changes what a kernel computes, or adds a race or the like (`tile-opt --validate-each`);
`error`, the passes report an error that --matches; `crash`, `tile-opt` with the passes ends by a
signal or an internal error as it does at first. The passes are those of --target, up to level 3,
or of -p.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from tilec.isa import DEFAULT_TARGET, TilecError, target

from .common import Parser, hurry, leave, run
from .files import check_outputs, read_input, write_output

if TYPE_CHECKING:
    from tilec.reduction import Interest


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-reduce", __doc__ or "")
    made.add_argument("input", nargs="?", default="-", help="an .mlir file, or - (the default)")
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    made.add_argument(
        "--test",
        metavar="COMMAND",
        help="command to run on the file; exits with 0 if it is interesting",
    )
    made.add_argument(
        "--keep", choices=("miscompile", "error", "crash"), help="what the result must still show"
    )
    made.add_argument(
        "--matches", default="", metavar="REGEX", help="pattern that the error message must match"
    )
    made.add_argument(
        "--target", metavar="TARGET", help="target whose passes run; default: the program's"
    )
    made.add_argument("-p", "--pass-pipeline", metavar="TEXT", help="passes to run instead")
    made.add_argument("--seconds", type=float, default=60, help="time limit of each process")
    made.add_argument("-v", dest="verbose", action="store_true", help="print progress")
    return made


def _pipeline(arguments: argparse.Namespace, text: str) -> list[str]:
    """The passes."""
    if arguments.pass_pipeline:
        return [arguments.pass_pipeline]
    from tilec.pipelines import pipeline  # noqa: PLC0415

    name = arguments.target or _chip(text)
    return [str(one) for one in pipeline(target(name)).tile]


def _chip(text: str) -> str:
    """The target that a program names."""
    _, _, rest = text.partition('#nvvm.target<chip = "')
    return rest.partition('"')[0] or str(DEFAULT_TARGET)


def _interest(arguments: argparse.Namespace, text: str) -> Interest:
    from tilec.reduction.interest import (  # noqa: PLC0415
        Command,
        Crash,
        Failure,
        Validation,
        tile_opt,
    )

    if (arguments.test is None) == (arguments.keep is None):
        raise TilecError("say what is interesting with --test COMMAND or --keep")
    if arguments.test is not None:
        return Command(shlex.split(arguments.test), arguments.seconds)
    passes = _pipeline(arguments, text)
    if arguments.keep == "crash":
        whole = passes[0] if arguments.pass_pipeline else f"builtin.module({','.join(passes)})"
        return Crash(tile_opt("--pass-pipeline", whole), arguments.seconds)
    if arguments.keep == "error":
        return Failure(passes, arguments.matches)
    return Validation(passes, arguments.matches)


def _main(arguments: argparse.Namespace) -> int:
    from tilec.reduction import reduce_text  # noqa: PLC0415

    check_outputs([arguments.output], [])
    text = read_input(arguments.input)

    def tell(progress: str) -> None:
        if arguments.verbose:
            sys.stderr.write(f"{progress}\n")

    write_output(arguments.output, reduce_text(text, _interest(arguments, text), tell))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-reduce`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    leave(main())


if __name__ == "__main__":
    command()
