"""`tilec`: compile a tile program to PTX, or to any stage before or after."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tilec.isa import TARGETS, TilecError
from tilec.isa.plugins import plugins
from tilec.isa.wording import counted
from tilec.stages import Stage

from .cache_report import ACTIONS, cache_report
from .colours import say
from .common import Parser, hurry, leave, run
from .crash_watch import reported_crashes, watch_for_crashes
from .files import check_outputs, is_file_name, made_folder, read_input, write_outputs
from .pass_flags import (
    add_pass_flags,
    asked_validator,
    instrumented,
    shown_remarks,
    wants_remarks,
    written_remarks,
)
from .stored_choice import check_flags, edits, instance

if TYPE_CHECKING:
    from tilec.compiled import Compiled
    from tilec.options import Options
    from tilec.passes.instrumentation import Instrumentation
    from tilec.pipeline_choice import PipelineLike
    from tilec.report.diagnostics import Source

_SUFFIXES = {
    Stage.TILE: ".tile.mlir",
    Stage.NVVM: ".nvvm.mlir",
    Stage.LLVM: ".ll",
    Stage.PTX: ".ptx",
    Stage.CUBIN: ".cubin",
    Stage.SASS: ".sass",
}
_PAGE = "html"
"""What `--emit` calls the explorer's page."""
_EPILOG = """\
examples:
  tilec gemm.mlir --target sm_90a -o gemm.ptx    compile
  tilec gemm.mlir --emit sass -v                 disassemble what ptxas makes
  tilec gemm.mlir --remarks -o /dev/null         what was decided, and why
  tilec gemm.mlir --emit html -o gemm.html       every pass and stage, in a browser

FILE.ptx and FILE.cubin come with FILE.json, which describes how to launch the kernels.
Without --target the program's #nvvm.target applies, or sm_80 if it has none.
"""


class _AddEdit(argparse.Action):
    """Notes a change of the pipeline, in the order in which they are given."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Note the flag and what is after it."""
        name, equals, passes = str(values).partition("=")
        insert = option_string == "--insert-pass"
        if not name or not equals or (insert and not passes):
            parser.error(f"argument {option_string}: expected NAME=PASSES, not '{values}'")
        namespace.edits = [*namespace.edits, (name, passes, insert)]


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tilec", __doc__ or "", epilog=_EPILOG, usage="%(prog)s [options] [input]")
    made.add_argument("input", nargs="?", default="-", help="an .mlir file, or - (the default)")
    _add_output_flags(made.add_argument_group("output"))
    _add_compilation_flags(made.add_argument_group("compilation"))
    _add_information_flags(made.add_argument_group("information, instead of a compilation"))
    add_pass_flags(made)
    return made


def _add_output_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    group.add_argument(
        "--emit",
        choices=(*map(str, Stage), _PAGE),
        default="ptx",
        help="default: ptx; html is a page with the program after every pass and stage",
    )
    group.add_argument("--save-temps", metavar="DIR", help="write the output of each stage to DIR")
    group.add_argument(
        "--lineinfo", action="store_true", help="add source locations to PTX and cubin"
    )
    group.add_argument(
        "--launcher",
        action="store_true",
        help="write FILE.h and FILE.c beside FILE.ptx or FILE.cubin: C that launches the kernels",
    )
    group.add_argument("-v", dest="verbose", action="store_true", help="print what ptxas reports")


def _add_compilation_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--target", metavar="TARGET", help="the target, such as sm_90a")
    group.add_argument(
        "-O",
        dest="level",
        type=int,
        choices=range(4),
        default=3,
        help="LLVM's optimisation level, -O0 to -O3 (the default)",
    )
    group.add_argument(
        "--store",
        metavar="FILE",
        help="take the tiles that tile-tune found best: of linalg's products, and of a .json that "
        "declares a template",
    )
    group.add_argument(
        "--problem", metavar="SIZES", help="sizes of that template's problem, such as n=4096"
    )
    group.add_argument(
        "--pipeline",
        metavar="TEXT",
        help="passes to run instead of the target's, or the name of a pipeline",
    )
    for flag, where in (("--insert-pass", "before"), ("--replace-pass", "in place of")):
        group.add_argument(
            flag,
            dest="edits",
            action=_AddEdit,
            default=[],
            metavar="NAME=PASSES",
            help=f"run PASSES{' or none' * (where != 'before')} {where} the pass NAME",
        )


def _add_information_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--list-targets", action="store_true", help="list the targets")
    group.add_argument(
        "--emit-irdl", action="store_true", help="write the tile dialect in IRDL, for mlir-opt"
    )
    group.add_argument(
        "--cache",
        choices=ACTIONS,
        help="list the entries of the compile cache, delete them, or summarise them",
    )


def _main(arguments: argparse.Namespace) -> int:
    if arguments.list_targets:
        print("\n".join((*TARGETS, *plugins("tilec.targets"))))
        return 0
    if arguments.emit_irdl:
        from tilec.dialects.irdl import irdl_text  # noqa: PLC0415

        write_outputs({arguments.output: irdl_text()})
        return 0
    if arguments.cache:
        print(cache_report(arguments.cache), end="")
        return 0
    name = "<stdin>" if arguments.input == "-" else arguments.input
    reproducer = arguments.mlir_pass_pipeline_crash_reproducer
    check_outputs(
        [
            *(arguments.output, arguments.remarks_output, _abi_file(arguments), reproducer),
            *_launcher_files(arguments),
        ],
        [arguments.input],
    )
    if arguments.emit == Stage.CUBIN and arguments.output == "-" and sys.stdout.isatty():
        raise TilecError("a cubin is binary and is not written to a terminal; give -o FILE")
    check_flags(arguments)
    template = instance(arguments)
    if template is not None:
        arguments.target = template.target
        return _compile(template.text, template.name, arguments, template.said)
    text = read_input(arguments.input)
    if name.endswith(".py"):
        raise TilecError(
            f"{name} is Python, not MLIR: run it, or call kernel.compile(…) on its kernels"
        )
    return _compile(text, name, arguments)


def _compile(text: str, name: str, arguments: argparse.Namespace, taken: str = "") -> int:
    """Compile a text; `taken` is what a remark says of where it comes from."""
    from tilec.driver import compile_input  # noqa: PLC0415
    from tilec.frontend.inputs import TextInput  # noqa: PLC0415
    from tilec.passes.base import Diagnostic, ProgramError, remarks  # noqa: PLC0415
    from tilec.report.diagnostics import Source, render, reports  # noqa: PLC0415

    source = Source(name, text)
    errors: tuple[Diagnostic, ...] = ()
    validator = asked_validator(arguments)
    with (
        instrumented(arguments, validator=validator) as watched,
        reports() as reported,
        remarks() as found,
    ):
        try:
            with _crashes_reported(source, arguments):
                compiled = compile_input(TextInput(source), _options(arguments, watched))
            found[:] = compiled.remarks
            if taken:
                said = Diagnostic(None, taken, "remark", decided_by="tilec", advice=True)
                found.insert(0, said)
            if validator is not None and _last_stage(arguments).generates_code:
                validator.check_ptx(compiled)
            if wants_remarks(arguments) and arguments.emit in (Stage.PTX, Stage.CUBIN, Stage.SASS):
                from tilec.report.remarks import occupancy_remarks  # noqa: PLC0415 (if asked)

                found.extend(occupancy_remarks(compiled))
            outputs = _outputs(compiled, arguments) | written_remarks([(found, source)], arguments)
            with made_folder(arguments.save_temps):
                write_outputs(outputs)
        except ProgramError as error:
            errors = error.diagnostics
        finally:
            shown = shown_remarks(found, arguments)
            say(render([*reported, *shown, *errors], source))
    return 1 if errors else 0


def _crashes_reported(
    source: Source, arguments: argparse.Namespace
) -> AbstractContextManager[None]:
    """Says what ran, and how to run it again, if a pass ends the process."""
    if path := arguments.mlir_pass_pipeline_crash_reproducer:
        return reported_crashes("", "tile-opt --run-reproducer", path)
    flags = {"--target": arguments.target, "--pipeline": arguments.pipeline}
    words = [word for flag, value in flags.items() if value for word in (flag, shlex.quote(value))]
    for name, passes, insert in arguments.edits:
        words += ["--insert-pass" if insert else "--replace-pass", shlex.quote(f"{name}={passes}")]
    again = ["tilec", *words, "--emit", arguments.emit, f"-O{arguments.level}"]
    return reported_crashes(source.text, " ".join(again))


def _options(arguments: argparse.Namespace, watched: Instrumentation | None) -> Options:
    """How the flags say to compile; a page and a folder of all stages are never from the cache."""
    from tilec.options import Options  # noqa: PLC0415

    return Options(
        opt_level=arguments.level,
        verify_each=arguments.verify_each,
        instrumentation=watched,
        lineinfo=arguments.lineinfo,
        cache=False if arguments.save_temps or arguments.emit == _PAGE else None,
        pipeline=_pipeline(arguments),
        target=arguments.target,
        emit=_last_stage(arguments),
        reproducer=arguments.mlir_pass_pipeline_crash_reproducer,
    )


def _pipeline(arguments: argparse.Namespace) -> PipelineLike | None:
    """The passes that the flags ask for; None for the target's."""
    stored = edits(arguments)
    if not arguments.edits and not stored:
        given: str | None = arguments.pipeline
        return given
    from tilec.passes.pipeline_text import parse_pipeline  # noqa: PLC0415
    from tilec.pipeline_choice import Edit, EditedPipeline  # noqa: PLC0415

    asked = (
        Edit(name, tuple(map(str, parse_pipeline(passes))), insert)
        for name, passes, insert in arguments.edits
    )
    return EditedPipeline(arguments.pipeline, (*stored, *asked))


def _last_stage(arguments: argparse.Namespace) -> Stage:
    """The last stage that is needed; a page shows those after PTX only where there are tools."""
    return Stage.PTX if arguments.emit == _PAGE else Stage(arguments.emit)


def _abi_file(arguments: argparse.Namespace) -> str | None:
    """The file beside PTX and cubin that says how to launch the kernels."""
    if arguments.emit in (Stage.PTX, Stage.CUBIN) and is_file_name(arguments.output):
        beside = str(Path(arguments.output).with_suffix(".json"))
        if beside == arguments.output:
            raise TilecError(
                f"{beside} is where the kernels' ABI is written; choose another output"
            )
        return beside
    return None


def _launcher_files(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The header and the source that launch the kernels, if they are asked for."""
    if not arguments.launcher:
        return ()
    if arguments.emit not in (Stage.PTX, Stage.CUBIN) or not is_file_name(arguments.output):
        raise TilecError("--launcher writes C beside a file of PTX or cubin: give -o FILE")
    path = Path(arguments.output)
    return str(path.with_suffix(".h")), str(path.with_suffix(".c"))


def _outputs(compiled: Compiled, arguments: argparse.Namespace) -> dict[str, str | bytes]:
    """What is to be written, by file."""
    last = _last_stage(arguments)
    found: dict[str, str | bytes] = {}
    if arguments.save_temps:
        stem = "stdin" if arguments.input == "-" else Path(arguments.input).stem
        for stage in last.through:
            path = Path(arguments.save_temps, f"{stem}{_SUFFIXES[stage]}")
            found[str(path)] = compiled.emit(stage)
    found[arguments.output] = compiled.explore() if arguments.emit == _PAGE else compiled.emit(last)
    if arguments.verbose:
        _report(compiled)
    if beside := _abi_file(arguments):
        found[beside] = str(compiled.abi)
    if files := _launcher_files(arguments):
        found.update(zip(files, compiled.c_launcher(Path(files[0]).stem, last), strict=True))
    return found


def _report(compiled: Compiled) -> None:
    from tilec.report.remarks import resident  # noqa: PLC0415

    for name, used in compiled.resources.items():
        (kernel,) = [k for k in compiled.kernels if k.name == name]
        dynamic = kernel.dynamic_shared
        say(
            f"{name}: {compiled.target}, {compiled.assembler}: "
            f"{counted(used.registers, 'register')}, "
            f"{counted(used.spill_stores + used.spill_loads, 'byte')} spilled, "
            f"{counted(used.static_shared + dynamic, 'byte')} of shared memory\n"
        )
        if kernel.block:
            say(f"{resident(name, prod(kernel.block), used, dynamic, compiled.target)}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tilec`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    watch_for_crashes()
    leave(main())


if __name__ == "__main__":
    command()
