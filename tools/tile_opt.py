"""`tile-opt`: run passes, tilec's and upstream's, on a module, as mlir-opt does.

Any pass may also be given as a flag of its own, `--canonicalize` or `--PASS=option=value`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from tilec.isa import TilecError

from .common import Parser, hurry, leave, run
from .files import check_outputs, read_input, write_outputs
from .pass_flags import add_pass_flags, instrumented, shown_remarks, written_remarks

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic
    from tilec.passes.instrumentation import Instrumentation
    from tilec.report.diagnostics import Source

_SPLIT = re.compile(r"^// -----.*\n?", re.MULTILINE)
_PASS_FLAG = re.compile(r"--([a-z][a-z0-9.-]*)(?:=(.*))?", re.DOTALL)


class _Parser(Parser):
    """Takes flags that it does not know for passes."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, with the unknown flags in `passes`, in their order."""
        found, unknown = super().parse_known_args(args, namespace)
        found.passes = []
        for flag in unknown:
            match = _PASS_FLAG.fullmatch(flag)
            if not match:
                self.error(f"unrecognized argument: {flag}")
            name, options = match.groups()
            found.passes.append(f"{name}{{{options}}}" if options else name)
        return found, []


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = _Parser("tile-opt", __doc__ or "")
    made.add_argument("input", nargs="?", default="-", help="an .mlir file, or - (the default)")
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    made.add_argument("--pass-pipeline", metavar="TEXT", help="such as 'builtin.module(cse)'")
    made.add_argument(
        "--split-input-file", action="store_true", help="treat the parts between '// -----' apart"
    )
    made.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="check that what is reported is what '// expected-error {{…}}' comments say",
    )
    made.add_argument("--list-passes", action="store_true", help="list tilec's passes and options")
    made.add_argument("--show-dialects", action="store_true", help="list the dialects")
    made.add_argument(
        "--run-reproducer", action="store_true", help="run the pipeline that the input carries"
    )
    made.add_argument("--mlir-print-debuginfo", action="store_true", help="print locations")
    made.add_argument("--mlir-print-op-generic", action="store_true", help="print generically")
    add_pass_flags(made)
    return made


def _chunks(text: str, name: str, *, split: bool) -> Iterator[Source]:
    """The parts of the input; blank lines before each keep its line numbers."""
    from tilec.report.diagnostics import Source  # noqa: PLC0415

    if not split:
        yield Source(name, text)
        return
    start = 0
    for end, following in [*(m.span() for m in _SPLIT.finditer(text)), (len(text), len(text))]:
        yield Source(name, "\n" * text.count("\n", 0, start) + text[start:end])
        start = following


def _pipeline(arguments: argparse.Namespace) -> str:
    if arguments.pass_pipeline is not None and arguments.passes:
        raise TilecError("give --pass-pipeline or passes as flags, not both")
    text: str | None = arguments.pass_pipeline
    return ",".join(arguments.passes) if text is None else text


def _main(arguments: argparse.Namespace) -> int:
    if arguments.list_passes:
        from .pass_list import pass_list  # noqa: PLC0415

        print(pass_list(), end="")
        return 0
    if arguments.show_dialects:
        from .pass_list import dialect_list  # noqa: PLC0415

        print(dialect_list(), end="")
        return 0
    # The program itself may be written where it was read.
    reproducer = arguments.mlir_pass_pipeline_crash_reproducer
    check_outputs([arguments.remarks_output, reproducer], [arguments.input, arguments.output])
    text = read_input(arguments.input)
    name = "<stdin>" if arguments.input == "-" else arguments.input
    pipeline, verify_each = _pipeline(arguments), arguments.verify_each
    if arguments.run_reproducer:
        from tilec.report.reproducer import read_reproducer  # noqa: PLC0415

        text, pipeline, verify_each = read_reproducer(text)
    outputs: list[str] = []
    remarked: list[tuple[Sequence[Diagnostic], Source]] = []
    failed = False
    with instrumented(arguments) as watched:
        for source in _chunks(text, name, split=arguments.split_input_file):
            found: list[Diagnostic] = []
            remarked.append((found, source))
            output = _process(source, pipeline, verify_each, watched, arguments, found)
            failed |= output is None
            outputs.append(output or "")
    if failed:
        return 1
    files: dict[str, str] = {}
    if not arguments.verify_diagnostics:
        files[arguments.output] = "// -----\n".join(outputs)
    write_outputs(files | written_remarks(remarked, arguments))
    return 0


def _process(
    source: Source,
    pipeline: str,
    verify_each: bool,
    watched: Instrumentation | None,
    arguments: argparse.Namespace,
    remarked: list[Diagnostic],
) -> str | None:
    """The transformed text of one part of the input; None if it failed.

    What the passes remark on goes to `remarked`.
    """
    from tilec.frontend.contexts import new_context  # noqa: PLC0415
    from tilec.frontend.parsing import parse  # noqa: PLC0415
    from tilec.passes.base import ProgramError, remarks  # noqa: PLC0415
    from tilec.passes.pipeline import run_pipeline  # noqa: PLC0415
    from tilec.report.diagnostics import render, reports  # noqa: PLC0415
    from tilec.report.printing import to_text  # noqa: PLC0415
    from tilec.report.reproducer import Reproducer, reproducible  # noqa: PLC0415

    from .verify_diagnostics import mismatches  # noqa: PLC0415

    errors: tuple[Diagnostic, ...] = ()
    output = ""
    with reports() as reported, remarks() as found:
        try:
            module = parse(source, new_context())
            left = arguments.mlir_pass_pipeline_crash_reproducer
            with reproducible(left, lambda: Reproducer(to_text(module), pipeline, verify_each)):
                run_pipeline(module, pipeline, verify_each=verify_each, instrumentation=watched)
            output = to_text(
                module,
                locations=arguments.mlir_print_debuginfo,
                generic=arguments.mlir_print_op_generic,
            )
        except ProgramError as error:
            errors = error.diagnostics
    remarked += found
    everything = [*reported, *shown_remarks(found, arguments), *errors]
    if arguments.verify_diagnostics:
        wrong = list(mismatches(everything, source))
        sys.stderr.writelines(f"{line}\n" for line in wrong)
        return None if wrong else output
    sys.stderr.write(render(everything, source))
    return None if errors else output


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-opt`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    leave(main())


if __name__ == "__main__":
    command()
