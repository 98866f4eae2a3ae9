"""`tile-isa`: the table of matrix instructions, and a kernel that tries any one of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from tilec.isa import Form, Target, UnknownNameError, forms, instruction, target
from tilec.isa.kernel import kernel
from tilec.isa.table import current

from . import form_text
from .common import Parser, run
from .files import write_output
from .form_list import FORMATS, render

_EXAMPLES = """\
examples:
  tile-isa list --family ldmatrix --target sm_90a
  tile-isa show mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  tile-isa emit ldmatrix.sync.aligned.m8n8.x4.b16 --target sm_80 -o try.ptx
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

    lister = command("list", "the forms of the table")
    lister.add_argument("--family", metavar="F", help=", ".join(current().families))
    lister.add_argument("--target", metavar="T", help="only forms that this target has")
    lister.add_argument("--format", choices=FORMATS, default="text")

    show = command("show", "all that the table says of one form")
    show.add_argument("mnemonic")
    show.add_argument("--format", choices=("text", "json"), default="text")
    _add_kind(show)

    emit = command("emit", "a complete kernel that executes one form once")
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
        help="value of a selector: selector, byte_id_a, thread_id_a, byte_id_b, thread_id_b",
    )
    _add_kind(emit)
    emit.add_argument("-o", metavar="FILE", dest="output", default="-", help="default: -")
    return made


def _add_kind(parser_: argparse.ArgumentParser) -> None:
    parser_.add_argument(
        "--a",
        choices=("descriptor", "registers"),
        help="where A of wgmma lies (default: in shared memory, by descriptor)",
    )


def _form(arguments: argparse.Namespace) -> tuple[Form, str]:
    """The form that was named, and the state space of its address."""
    kind: str | None = arguments.a
    if kind is None and len(several := current().named(arguments.mnemonic)) > 1:
        kind = several[0].a_kind
    return instruction(arguments.mnemonic, kind)


def _list(arguments: argparse.Namespace) -> str:
    found = list(forms().values())
    if arguments.family is not None:
        families = [str(family) for family in current().families]
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
    form, space = _form(arguments)
    if arguments.command == "show":
        as_json = arguments.format == "json"
        data = json.dumps(form_text.details(form), indent=1) + "\n" if as_json else ""
        sys.stdout.write(data or form_text.text(form))
        return 0
    where, selectors = target(arguments.target), dict(arguments.select)
    if arguments.format == "mlir":
        write_output(arguments.output, _program(form, where, selectors, space))
    else:
        write_output(arguments.output, kernel(form, where, selectors=selectors).ptx)
    return 0


def _program(form: Form, where: Target, selectors: dict[str, int], space: str) -> str:
    # MLIR takes its time, which the other commands do not need.
    from tilec.dialects.tile.form_program import form_kernel, form_program  # noqa: PLC0415

    return form_program([form_kernel(form, where, selectors=selectors, space=space)], where)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    return run(parser(), body, argv)


if __name__ == "__main__":
    sys.exit(main())
