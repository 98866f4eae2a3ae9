"""`tile-translate`: translate MLIR in the LLVM dialect to LLVM IR, as mlir-translate does.

What is translated is the module, or its `gpu.module` if there is nothing else in it. `tilec` with
`--emit llvm` gives the LLVM IR of a tile program, fit for NVPTX.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from tilec.isa import TilecError

from .common import hurry, leave, run
from .files import decoded, read_bytes, write_output
from .opt_arguments import OptParser, add_input_flags
from .part_diagnostics import tell
from .split_input import BYTECODE, parts

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic
    from tilec.report.diagnostics import Source


class _TranslateParser(OptParser):
    """Takes flags as LLVM's tools do, and no passes."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        found, left = super().parse_known_args(args, namespace)
        if found.passes:
            self.error(f"unrecognized argument: --{found.passes[0].name}")
        return found, left


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = _TranslateParser("tile-translate", __doc__ or "")
    add_input_flags(made)
    made.add_argument("--mlir-to-llvmir", action="store_true", help="translate to LLVM IR")
    return made


def _main(arguments: argparse.Namespace) -> int:
    if not arguments.mlir_to_llvmir:
        raise TilecError("say which translation: --mlir-to-llvmir")
    data = read_bytes(arguments.input)
    name = "<stdin>" if arguments.input == "-" else arguments.input
    if data.startswith(BYTECODE):
        outputs = [_translated(data, name, arguments)]
    else:
        sources = parts(decoded(data, name), name, arguments.split_input_file)
        outputs = [_translated(source, name, arguments) for source in sources]
    done = [output for output in outputs if output is not None]
    if len(done) < len(outputs):
        return 1
    write_output(arguments.output, f"{arguments.output_split_marker}\n".join(done))
    return 0


def _translated(given: Source | bytes, name: str, arguments: argparse.Namespace) -> str | None:
    """LLVM IR of one part of the input; None if it failed."""
    from tilec.passes.base import ProgramError  # noqa: PLC0415
    from tilec.report.diagnostics import Source, reports  # noqa: PLC0415

    errors: tuple[Diagnostic, ...] = ()
    output = ""
    source = Source(name, "") if isinstance(given, bytes) else given
    with reports() as reported:
        try:
            output = _llvm_ir(given, arguments)
        except ProgramError as error:
            errors = error.diagnostics
    told = tell([*reported, *errors], source, arguments, failed=bool(errors))
    return output if told else None


def _llvm_ir(given: Source | bytes, arguments: argparse.Namespace) -> str:
    from tilec.backend.translation_check import translation  # noqa: PLC0415
    from tilec.frontend.bytecode import read_bytecode  # noqa: PLC0415
    from tilec.frontend.contexts import new_context  # noqa: PLC0415
    from tilec.frontend.parsing import parse  # noqa: PLC0415

    context = new_context()
    context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
    read = read_bytecode(given, context) if isinstance(given, bytes) else parse(given, context)
    return translation(read)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-translate`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    leave(main())


if __name__ == "__main__":
    command()
