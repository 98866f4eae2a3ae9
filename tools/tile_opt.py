"""`tile-opt`: run passes, tilec's and upstream's, on a module, as mlir-opt does.

Any pass may also be given as a flag of its own, `-canonicalize` or `--PASS="option=value …"`; one
that works on another op than the module is nested in it. Flags have one dash or two.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tilec.isa import TilecError

from .common import Parser, hurry, leave, run
from .crash_watch import reported_crashes, watch_for_crashes
from .files import check_outputs, decoded, read_bytes, write_outputs
from .opt_arguments import OptParser, add_opt_flags, style
from .part_diagnostics import tell
from .pass_flags import asked_validator, instrumented, shown_remarks, written_remarks
from .split_input import BYTECODE, parts

if TYPE_CHECKING:
    from tilec.ir.mlir import ir
    from tilec.passes.base import Diagnostic
    from tilec.passes.instrumentation import Instrumentation
    from tilec.passes.pipeline_text import PipelinePart
    from tilec.report.diagnostics import Source
    from tilec.report.reproducer import Reproducer


class _Job(NamedTuple):
    """What is done to each part of the input.

    Attributes:
        pipeline: the passes.
        verify_each: whether to verify after each.
        watched: what to print and time.
        arguments: the flags.
    """

    pipeline: Sequence[PipelinePart]
    verify_each: bool
    watched: Instrumentation | None
    arguments: argparse.Namespace


def parser() -> OptParser:
    """The arguments."""
    made = OptParser("tile-opt", __doc__ or "")
    add_opt_flags(made)
    return made


def _pipeline(arguments: argparse.Namespace) -> Sequence[PipelinePart]:
    if arguments.pass_pipeline is not None and arguments.passes:
        raise TilecError("give --pass-pipeline or passes as flags, not both")
    if arguments.pass_pipeline is not None:
        return [arguments.pass_pipeline]
    from tilec.passes.pipeline_text import Element  # noqa: PLC0415

    return [Element(name, options, implicit=True) for name, options in arguments.passes]


def _main(arguments: argparse.Namespace) -> int:
    if arguments.list_passes:
        from .pass_list import pass_list  # noqa: PLC0415

        print(pass_list(), end="")
        return 0
    if arguments.show_dialects:
        from .pass_list import dialect_list  # noqa: PLC0415

        print(dialect_list(), end="")
        return 0
    from tilec.report.diagnostics import Source  # noqa: PLC0415

    # The program itself may be written where it was read.
    reproducer = arguments.mlir_pass_pipeline_crash_reproducer
    check_outputs([arguments.remarks_output, reproducer], [arguments.input, arguments.output])
    data = read_bytes(arguments.input)
    name = "<stdin>" if arguments.input == "-" else arguments.input
    pipeline, verify_each = _pipeline(arguments), arguments.verify_each
    if arguments.dump_pass_pipeline:
        from tilec.passes.pipeline_dump import dump  # noqa: PLC0415

        sys.stderr.write(dump(pipeline))
    if data.startswith(BYTECODE):
        sources = [Source(name, "")]
    else:
        text = decoded(data, name)
        if arguments.run_reproducer:
            from tilec.passes.pipeline_text import parse_pipeline  # noqa: PLC0415
            from tilec.report.reproducer import read_reproducer  # noqa: PLC0415

            text, passes, verify_each = read_reproducer(text)
            pipeline = [replace(one, implicit=True) for one in parse_pipeline(passes)]
        sources = list(parts(text, name, arguments.split_input_file))
    remarked: list[tuple[Sequence[Diagnostic], Source]] = []
    outputs: list[str | bytes | None] = []
    with instrumented(arguments, style(arguments, name), asked_validator(arguments)) as watched:
        job = _Job(pipeline, verify_each, watched, arguments)
        for source in sources:
            given = data if data.startswith(BYTECODE) else source
            found: list[Diagnostic] = []
            remarked.append((found, source))
            outputs.append(_process(given, source, job, found))
    if None in outputs:
        return 1
    done = _joined([output for output in outputs if output is not None], arguments)
    write_outputs({arguments.output: done} | written_remarks(remarked, arguments))
    return 0


def _joined(outputs: list[str | bytes], arguments: argparse.Namespace) -> str | bytes:
    """What became of the parts, as one."""
    if len(outputs) == 1:
        return outputs[0]
    data = [out.encode() if isinstance(out, str) else out for out in outputs]
    return f"{arguments.output_split_marker}\n".encode().join(data)


def _process(
    given: Source | bytes, source: Source, job: _Job, remarked: list[Diagnostic]
) -> str | bytes | None:
    """What becomes of one part of the input; None if it failed.

    Args:
        given: the part.
        source: its name, and its text if it is text.
        job: what is done to it.
        remarked: takes what the passes remark on.
    """
    from tilec.passes.base import ProgramError, remarks  # noqa: PLC0415
    from tilec.report.diagnostics import reports  # noqa: PLC0415

    errors: tuple[Diagnostic, ...] = ()
    output: str | bytes = ""
    with reports() as reported, remarks() as found:
        try:
            output = _printed(_transformed(given, job), source.name, job)
        except ProgramError as error:
            errors = error.diagnostics
    remarked += found
    everything = [*reported, *shown_remarks(found, job.arguments), *errors]
    return output if tell(everything, source, job.arguments, failed=bool(errors)) else None


def _transformed(given: Source | bytes, job: _Job) -> ir.Module:
    """The module after the passes."""
    from tilec.frontend.contexts import new_context  # noqa: PLC0415
    from tilec.frontend.parsing import parse  # noqa: PLC0415
    from tilec.passes.pipeline import run_pipeline  # noqa: PLC0415
    from tilec.report.reproducer import reproducible  # noqa: PLC0415

    context = new_context()
    context.allow_unregistered_dialects = job.arguments.allow_unregistered_dialect
    if isinstance(given, bytes):
        from tilec.frontend.bytecode import read_bytecode  # noqa: PLC0415

        module = read_bytecode(given, context)
    else:
        module = parse(given, context, bare=job.arguments.no_implicit_module)
    if job.arguments.verify_roundtrip:
        from .round_trip import check_round_trip  # noqa: PLC0415

        check_round_trip(module)
    left = job.arguments.mlir_pass_pipeline_crash_reproducer
    verify_each = job.verify_each
    reproducer = "" if left or isinstance(given, bytes) else _reproducer(given, job)
    with (
        reproducible(left, lambda: _asked_reproducer(module, job)),
        reported_crashes(reproducer, "tile-opt --run-reproducer", left or ""),
    ):
        run_pipeline(
            module,
            job.pipeline,
            verify_each=verify_each,
            verify_last="verify-each" not in job.arguments.denied,
            instrumentation=job.watched,
            statistics=job.arguments.mlir_pass_statistics,
        )
    return module


def _asked_reproducer(module: ir.Module, job: _Job) -> Reproducer:
    """The module and the passes, as mlir-opt could run them if they were all upstream's."""
    from tilec.passes.pipeline_dump import written  # noqa: PLC0415
    from tilec.report.printing import to_text  # noqa: PLC0415
    from tilec.report.reproducer import Reproducer  # noqa: PLC0415

    return Reproducer(to_text(module), written(job.pipeline), job.verify_each)


def _reproducer(source: Source, job: _Job) -> str:
    """A file that repeats the run of a part of the input: its text as it is, and the pipeline."""
    from tilec.report.reproducer import Reproducer  # noqa: PLC0415

    return str(Reproducer(source.text, ",".join(map(str, job.pipeline)), job.verify_each))


def _printed(module: ir.Module, name: str, job: _Job) -> str | bytes:
    """A module as the flags want it written."""
    from tilec.report.printing import print_as  # noqa: PLC0415

    arguments = job.arguments
    if arguments.emit_bytecode or arguments.emit_bytecode_version is not None:
        from tilec.frontend.bytecode import write_bytecode  # noqa: PLC0415

        from .round_trip import with_file_name  # noqa: PLC0415

        return write_bytecode(with_file_name(module, name), arguments.emit_bytecode_version)
    return print_as(module, style(arguments, name))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-opt`; returns its exit code."""
    made = parser()
    return run(made, partial(_suggesting_flags, made), argv)


def _suggesting_flags(made: Parser, arguments: argparse.Namespace) -> int:
    """The tool; where a flag names neither a pass nor a flag, say which flag is most like it."""
    try:
        return _main(arguments)
    except TilecError as error:
        from tilec.passes.pass_options import UnknownPassError  # noqa: PLC0415 (for messages only)

        if isinstance(error, UnknownPassError):
            meant = (made.meant(f"--{name}") for name, _ in arguments.passes if name == error.name)
            raise TilecError(f"{error}{next(meant, '')}") from None
        raise


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    watch_for_crashes()
    leave(main())


if __name__ == "__main__":
    command()
