"""`tile-isa`: list matrix instructions, describe them, and write kernels that execute them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import NoReturn

from tilec.ending import end_on_signals
from tilec.isa import Form, Target, TilecError, UnknownNameError, forms, instruction, target
from tilec.isa.instruction_kernel import instruction_kernel
from tilec.isa.instructions import Instruction, instructions, named
from tilec.isa.kernel import kernel
from tilec.isa.kernel_parts import Kernel
from tilec.isa.table import current
from tilec.isa.tensor_product_kernel import tensor_product_kernel
from tilec.isa.tensor_products import TensorProduct

from . import form_text, instruction_text
from .common import Parser, leave, run
from .files import write_output
from .form_list import FORMATS, render

_EXAMPLES = """\
examples:
  tile-isa list --family ldmatrix --target sm_90a
  tile-isa show mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  tile-isa emit ldmatrix.sync.aligned.m8n8.x4.b16 --target sm_80 -o try.ptx
  tile-isa emit wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 --target sm_90a --a registers
  tile-isa show fence.proxy.async.shared::cta
  tile-isa emit tcgen05.mma.cta_group::1.kind::f8f6f4 --target sm_100a \\
    --types f32.e4m3.e5m2 --select m=128 --select n=64
  tile-isa emit mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_90a \\
    --format mlir -o try.mlir && tilec try.mlir -o try.ptx
"""


def _selector(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name or not value.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=NUMBER")
    return name, int(value)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-isa", __doc__ or "", epilog=_EXAMPLES)
    commands = made.add_subparsers(dest="command", required=True, metavar="list|show|emit")

    def command(name: str, what: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=what, description=what)

    lister = command("list", "list the forms")
    lister.add_argument("--family", metavar="F", help="such as mma, wgmma.sp, mbarrier")
    lister.add_argument("--target", metavar="T", help="only forms that this target has")
    lister.add_argument("--format", choices=FORMATS, default="text")

    show = command("show", "describe one form")
    show.add_argument("mnemonic")
    show.add_argument("--format", choices=("text", "json"), default="text")
    _add_kind(show)

    emit = command("emit", "write a complete kernel that executes one form once")
    emit.add_argument("mnemonic")
    emit.add_argument("--target", metavar="T", required=True)
    emit.add_argument(
        "--format",
        choices=("mlir", "ptx"),
        default="ptx",
        help="mlir: a tile program on matrices, for tilec; ptx: registers as they are (default)",
    )
    emit.add_argument(
        "--select",
        metavar="NAME=N",
        type=_selector,
        action="append",
        default=[],
        help="value of a selector: selector, byte_id_a, thread_id_a, byte_id_b, thread_id_b; of "
        "tcgen05.mma of a field of the instruction descriptor: m, n, transpose_b, ...",
    )
    emit.add_argument("--types", metavar="D.A.B", help="element types of tcgen05.mma")
    _add_kind(emit)
    emit.add_argument("-o", metavar="FILE", dest="output", default="-", help="default: -")
    return made


def _add_kind(parser_: argparse.ArgumentParser) -> None:
    parser_.add_argument(
        "--a",
        choices=("descriptor", "registers", "tensor"),
        help="where A of wgmma and tcgen05.mma lies (default: in shared memory, by descriptor)",
    )


def _form(arguments: argparse.Namespace) -> tuple[Form, str]:
    """The form that was named, and the state space of its address."""
    kind: str | None = arguments.a
    if kind is None and len(several := current().named(arguments.mnemonic)) > 1:
        kind = several[0].a_kind
    return instruction(arguments.mnemonic, kind)


def _families() -> list[str]:
    others = (one.family for one in instructions().values())
    return list(dict.fromkeys((*map(str, current().families), *others)))


def _list(arguments: argparse.Namespace) -> str:
    found: list[Form | Instruction] = [*forms().values(), *instructions().values()]
    if arguments.family is not None:
        families = _families()
        if arguments.family not in families:
            raise UnknownNameError("family", arguments.family, families)
        found = [form for form in found if form.family == arguments.family]
    if arguments.target is not None:
        where = target(arguments.target)
        found = [form for form in found if form.min_ptx(where) is not None]
    return render(found, arguments.format)


def body(arguments: argparse.Namespace) -> int:
    """Print what was asked for."""
    if arguments.command == "list":
        sys.stdout.write(_list(arguments))
        return 0
    if (one := named(arguments.mnemonic, arguments.a)) is not None:
        return _instruction(one, arguments)
    _check_opcode(arguments.mnemonic)
    form, space = _form(arguments)
    if arguments.command == "show":
        as_json = arguments.format == "json"
        data = json.dumps(form_text.details(form), indent=1) + "\n" if as_json else ""
        sys.stdout.write(data or form_text.text(form))
        return 0
    _refuse_types(form.ptx, arguments)
    where, selectors = target(arguments.target), dict(arguments.select)
    if arguments.format == "mlir":
        write_output(arguments.output, _program(form, where, selectors, space))
    else:
        write_output(arguments.output, kernel(form, where, selectors=selectors).ptx)
    return 0


def _check_opcode(mnemonic: str) -> None:
    """Refuse what is not an instruction, though another one begins like it."""
    opcode = mnemonic.partition(".")[0]
    legal = [name for name in instructions() if name.partition(".")[0] == opcode]
    is_form = opcode in current().opcodes and mnemonic.split(".")[1:2] != ["mma"]
    if legal and not is_form:
        raise UnknownNameError("instruction", mnemonic, legal, every=False)


def _instruction(one: Instruction, arguments: argparse.Namespace) -> int:
    """The same of one whose operands are not fragments."""
    if arguments.command == "show":
        as_json = arguments.format == "json"
        data = instruction_text.details(one)
        sys.stdout.write(
            json.dumps(data, indent=1) + "\n" if as_json else instruction_text.text(one)
        )
        return 0
    if arguments.format == "mlir":
        raise TilecError(f"no tile program exercises {one.ptx} alone; --format ptx has a kernel")
    write_output(arguments.output, _instruction_kernel(one, arguments).ptx)
    return 0


def _instruction_kernel(one: Instruction, arguments: argparse.Namespace) -> Kernel:
    where = target(arguments.target)
    if isinstance(one, TensorProduct):
        types = tuple(arguments.types.split(".")) if arguments.types else ()
        descriptor = one.describe(types, **dict(arguments.select))
        return tensor_product_kernel(one, where, descriptor)
    if arguments.select:
        raise TilecError(f"{one.ptx} has no selector '{arguments.select[0][0]}'; it has none")
    _refuse_types(one.ptx, arguments)
    return instruction_kernel(one, where)


def _refuse_types(name: str, arguments: argparse.Namespace) -> None:
    if arguments.types is not None:
        raise TilecError(f"{name} has no types to choose: only tcgen05.mma has")


def _program(form: Form, where: Target, selectors: dict[str, int], space: str) -> str:
    # MLIR takes its time, which the other commands do not need.
    from tilec.dialects.tile.form_program import program_of  # noqa: PLC0415

    return program_of(form, where, selectors=selectors, space=space)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    return run(parser(), body, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
