"""`tile-layout`: which lane and register hold each element of an operand of an instruction."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import NoReturn

from tilec.ending import end_on_signals
from tilec.isa import Form, TilecError, UnknownNameError, element_type, form, target
from tilec.isa.table import current
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.wording import counted
from tilec.layout import LinearLayout, Swizzle, find_form
from tilec.layout.fragments import has_fragment
from tilec.layout.lookup import spelled_form

from . import layout_bases, layout_conversion, layout_sources, layout_text
from .common import Parser, leave, run
from .files import write_output
from .layout_descriptor import DescribedView
from .layout_export import as_csv, as_markdown
from .layout_html import as_html
from .layout_png import as_png
from .layout_smem import SharedTile
from .layout_svg import as_svg
from .layout_terminal import on_terminal, wants_colour, width_of
from .layout_view import LayoutView

_EXAMPLES = """\
examples:
  tile-layout m16n8k16 --operand a --type f16
  tile-layout m16n8k16 --operand a --type f16 --element 3,5
  tile-layout m16n8k32 --operand b --type s8 --lane 7 --reg 1
  tile-layout m16n8k16 --type f16 --sources 3,5
  tile-layout m8n8k4 --operand a --type f16 --major col
  tile-layout m16n8k32 --operand e --type f16 --selector 1 --format json
  tile-layout ldmatrix.sync.aligned.m8n8.x4.trans.b16
  tile-layout tcgen05.ld.sync.aligned.16x256b.x2.b32
  tile-layout 'register [0,1]; lane [0,2] [1,0] [2,0] -> row 4, col 4'
  tile-layout --convert m16n8k8:c:f32 m16n8k8:a:tf32 --target sm_90
  tile-layout wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 --operand b --descriptor
  tile-layout tcgen05.mma.cta_group::2.kind::f16 --operand d --shape 128x64 --element 70,40
  tile-layout smem --shape 64x64 --type f16 --swizzle 128B --access ldmatrix.x4
"""

_OF_REGISTERS = ("type", "major", "sparse", "selector", "byte_id", "thread_id", "lane", "swizzle")
"""What is asked of operands in registers, or told by a descriptor."""


def _coordinates(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers such as 3,5") from None


def _shape(text: str) -> tuple[int, int]:
    rows, x, cols = text.partition("x")
    if not (x and rows.isdecimal() and cols.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a shape such as 64x64")
    return int(rows), int(cols)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-layout", __doc__ or "", epilog=_EXAMPLES)
    made.add_argument(
        "name",
        metavar="SHAPE|FORM|BASES",
        nargs="?",
        help="m16n8k16, a mnemonic in full, or a layout such as 'lane [1] [2] -> row 4'",
    )
    made.add_argument("--operand", metavar="NAME", help="the operand: a, b, c, d, e, sfa, sfb or r")
    made.add_argument("--type", metavar="TYPE", help="element type of the operand")
    made.add_argument(
        "--types", metavar="D.A.B", help="element types of tcgen05.mma, such as f32.e4m3.e5m2"
    )
    made.add_argument(
        "--major",
        metavar="row|col",
        help="order of a or b: of m8n8k4 with f16, or in shared memory",
    )
    made.add_argument("--sparse", action="store_true", help="the shape is one of mma.sp")
    made.add_argument("--selector", type=int, metavar="N", help="sparsity selector")
    made.add_argument("--byte-id", type=int, metavar="N", help="byte selector of scale factors")
    made.add_argument("--thread-id", type=int, metavar="N", help="lane selector of scale factors")
    made.add_argument(
        "--element",
        type=_coordinates,
        metavar="R,C",
        help="show which lane and register hold this element",
    )
    made.add_argument(
        "--sources",
        type=_coordinates,
        metavar="R,C",
        help="show the elements of A and B that this element of D is computed from",
    )
    made.add_argument(
        "--lane", type=int, metavar="L", help="show the elements that this lane holds"
    )
    made.add_argument("--reg", type=int, metavar="N", help="with --lane, only this register")
    made.add_argument(
        "--warp",
        type=int,
        metavar="W",
        help="show the part of this warp, of a layout given by bases",
    )
    made.add_argument(
        "--convert",
        nargs=2,
        metavar=("FROM", "TO"),
        help="how to convert one layout, SHAPE:OPERAND:TYPE or bases, to another, and the cost",
    )
    widths = [1 << n for n in range(8)]
    made.add_argument(
        "--bits",
        type=int,
        choices=widths,
        metavar="N",
        help="bits of an element, where the layouts do not say",
    )
    made.add_argument(
        "--descriptor",
        action="store_true",
        help="show the descriptor of operand a or b of wgmma, and the bytes it reads",
    )
    made.add_argument(
        "--shape",
        type=_shape,
        metavar="RxC",
        help="shape of the operand in shared memory; M and N of tcgen05.mma",
    )
    made.add_argument(
        "--registers",
        metavar="BASES",
        help="which loads of tensor memory bring this layout of d or a of tcgen05.mma to a warp",
    )
    made.add_argument(
        "--swizzle",
        metavar="S",
        help="swizzle of the operand in shared memory: none, 32B, 64B or 128B",
    )
    made.add_argument(
        "--target", help="target whose instructions a conversion may use; default: any"
    )
    made.add_argument(
        "--format",
        choices=("text", "json", "csv", "md", "svg", "html", "png"),
        default="text",
        help="answers are text or json; conversions are text, json, svg or png",
    )
    made.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour lanes in text; auto: on a terminal, unless NO_COLOR is set",
    )
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    return made


def smem_parser() -> argparse.ArgumentParser:
    """The arguments of `tile-layout smem`."""
    made = Parser("tile-layout smem", "A tile in shared memory, and what an access to it costs.")
    made.add_argument("--shape", type=_shape, metavar="RxC", required=True)
    made.add_argument("--type", metavar="TYPE", required=True, help="element type")
    made.add_argument("--swizzle", default="none", help="none, 32B, 64B, 128B or swizzle<B,M,S>")
    made.add_argument(
        "--access",
        metavar="KIND",
        default="ldmatrix.x4",
        help="ldmatrix.xN or stmatrix.xN, either with .trans; cp.async; SHAPE:OPERAND",
    )
    made.add_argument("--format", choices=("text", "json", "svg", "png"), default="text")
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    return made


def smem(arguments: argparse.Namespace) -> int:
    """Print a tile in shared memory."""
    rows, cols = arguments.shape
    type_, swizzle = element_type(arguments.type), Swizzle.parse(arguments.swizzle)
    tile = SharedTile(rows, cols, type_, swizzle, arguments.access)
    answer: str | bytes
    match arguments.format:
        case "json":
            answer = json.dumps(tile.json())
        case "svg":
            answer = tile.svg()
        case "png":
            answer = _png(tile.svg(), arguments)
        case _:
            answer = tile.text(_width(arguments))
    return _write(answer, arguments)


def _width(arguments: argparse.Namespace) -> int | None:
    """Where to fold tables."""
    return width_of(sys.stdout) if arguments.output == "-" else None


def _png(svg: str, arguments: argparse.Namespace) -> bytes:
    if arguments.output == "-" and sys.stdout.isatty():
        raise TilecError("a terminal shows no PNG; give -o FILE")
    return as_png(svg)


def _write(answer: str | bytes, arguments: argparse.Namespace) -> int:
    if isinstance(answer, bytes):
        write_output(arguments.output, answer)
    elif arguments.output == "-":
        print(answer)
    else:
        write_output(arguments.output, answer + "\n")
    return 0


def _bases(arguments: argparse.Namespace) -> str | bytes:
    """A layout given by its bases."""
    layout = LinearLayout.parse(arguments.name)
    match arguments.format:
        case "text":
            return layout_bases.text(layout, arguments.warp, arguments.bits)
        case "json":
            return json.dumps(layout_bases.json(layout))
        case "svg":
            return layout_bases.svg(layout, arguments.warp, arguments.bits)
        case "png":
            return _png(layout_bases.svg(layout, arguments.warp, arguments.bits), arguments)
        case other:
            raise TilecError(
                f"--format {other} shows operands; a layout given by bases is shown as "
                "text, json, svg, png"
            )


def _conversion(arguments: argparse.Namespace) -> str | bytes:
    where = target(arguments.target) if arguments.target else None
    bits, plans = layout_conversion.plans_between(arguments.convert, arguments.bits, where)
    match arguments.format:
        case "json":
            return json.dumps(layout_conversion.json(bits, plans))
        case "svg":
            return layout_conversion.svg(arguments.convert, bits, plans)
        case "png":
            return _png(layout_conversion.svg(arguments.convert, bits, plans), arguments)
    return layout_conversion.text(plans)


def _only_operand(form: Form) -> str:
    """The operand meant when none is named."""
    names = form.operand_names
    held = [name for name in names if has_fragment(form.operand(name))]
    if len(held) == 1 and len(names) > 1 and form.shape is None:
        return held[0]
    if len(names) > 1:
        raise TilecError(
            f"{form.ptx} has more than one operand; give --operand: {', '.join(names)}"
        )
    return names[0]


def _selectors(arguments: argparse.Namespace) -> dict[str, int]:
    """Those that were given."""
    names = ("selector", "byte_id", "thread_id")
    return {n: value for n in names if (value := getattr(arguments, n)) is not None}


def _sources(arguments: argparse.Namespace) -> str:
    """What feeds an element of d, of the form that --operand and --type name, a if neither."""
    found = find_form(
        arguments.name,
        arguments.operand or "a",
        arguments.type,
        sparse=arguments.sparse,
        major=arguments.major,
    )
    feeding = layout_sources.sources(found, arguments.sources, _selectors(arguments))
    if arguments.format == "json":
        return json.dumps(layout_sources.json(found, arguments.sources, feeding))
    return layout_sources.text(found, arguments.sources, feeding)


def _described(arguments: argparse.Namespace) -> str | bytes:
    """An operand that lies in shared memory, and what the instructions of a K step read."""
    name = arguments.operand
    if name not in ("a", "b"):
        raise TilecError("descriptors are of operands a and b; give --operand")
    swizzle = Swizzle.parse(arguments.swizzle) if arguments.swizzle else None
    several = current().named(arguments.name)
    found = several[0] if several else form(arguments.name)
    view = DescribedView.of(found, name, arguments.shape, swizzle, arguments.major)
    match arguments.format:
        case "text":
            return view.text(_width(arguments))
        case "json":
            return json.dumps(view.json())
        case "svg":
            return view.svg()
        case "png":
            return _png(view.svg(), arguments)
        case other:
            raise TilecError(
                f"--format {other} shows registers; a descriptor is shown as text, json, svg, png"
            )


def _tensor(arguments: argparse.Namespace) -> str | bytes | None:
    """An operand of `tcgen05.mma` in tensor memory; None of another instruction."""
    if not arguments.name.startswith("tcgen05.mma"):
        return None
    from tilec.isa.instructions import named  # noqa: PLC0415 (for those alone)

    from .layout_tensor import TensorView  # noqa: PLC0415

    for flag in _OF_REGISTERS:
        given = getattr(arguments, flag)
        if given is not None and given is not False:
            raise TilecError(
                f"--{flag.replace('_', '-')} does not apply to tcgen05.mma, whose operands are in "
                "tensor memory; --operand, --types, --shape and --element do"
            )
    name = arguments.operand or "d"
    one = named(arguments.name, "tensor" if name == "a" and ".a::" not in arguments.name else None)
    if not isinstance(one, TensorProduct):
        raise UnknownNameError("instruction", arguments.name, _products(), every=False)
    view = TensorView.of(one, name, arguments.shape, arguments.types or "")
    if arguments.registers is not None:
        loads = view.loads(LinearLayout.parse(arguments.registers))
        if arguments.format == "json":
            return json.dumps([{"form": m.move.ptx, "places": m.places} for m in loads])
        return "\n".join(
            f"{m.move.ptx}, {counted(m.count, 'time')}, at row,col "
            + " ".join(f"{row},{col}" for row, col in m.places)
            for m in loads
        )
    if arguments.element is not None:
        if len(arguments.element) != 2:
            raise TilecError("an element of a matrix is ROW,COL")
        found = view.at(*arguments.element)
        if arguments.format == "json":
            places = [
                {"cta": h.cta, "lane": h.lane, "column": h.column, "bit": h.low} for h in found
            ]
            return json.dumps({"element": list(arguments.element), "places": places})
        ctas = "CTA {}, " if one.group == 2 else ""
        return "\n".join(
            f"{ctas.format(h.cta)}lane {h.lane}, column {h.column}, from bit {h.low}" for h in found
        )
    match arguments.format:
        case "text":
            return view.text()
        case "json":
            return json.dumps(view.json())
        case "svg":
            return view.svg()
        case "png":
            return _png(view.svg(), arguments)
        case other:
            raise TilecError(
                f"--format {other} shows registers; tensor memory is text, json, svg, png"
            )


def _products() -> list[str]:
    from tilec.isa.instructions import instructions  # noqa: PLC0415

    return [one.mnemonic for one in instructions().values() if isinstance(one, TensorProduct)]


def _view(arguments: argparse.Namespace) -> LayoutView:
    name: str = arguments.name
    selectors = _selectors(arguments)
    operand = arguments.operand
    if operand is None:
        operand = _only_operand(spelled_form(name, "")) if "." in name else "a"
    if "." in name and _is_open(spelled_form(name, operand), operand):
        return LayoutView.of(spelled_form(name, operand), operand, selectors)
    found = find_form(name, operand, arguments.type, sparse=arguments.sparse, major=arguments.major)
    return LayoutView.of(found, operand, selectors)


def _is_open(form: Form, name: str) -> bool:
    """Whether an operand has no layout: its view says why."""
    return any(one.name == name and not has_fragment(one) for one in form.all_operands)


def _whole(view: LayoutView, arguments: argparse.Namespace) -> str | bytes:
    """The whole map."""
    to_stdout = arguments.output == "-"
    match arguments.format:
        case "json":
            return json.dumps(view.json())
        case "csv":
            return as_csv(view)
        case "md":
            return as_markdown(view)
        case "svg":
            return as_svg(view)
        case "html":
            return as_html(view.form, _selectors(arguments))
        case "png":
            return _png(as_svg(view), arguments)
        case _:
            auto = arguments.color == "auto" and not to_stdout
            colour = not auto and wants_colour(sys.stdout, arguments.color)
            return on_terminal(view, width=_width(arguments), colour=colour)


def body(arguments: argparse.Namespace) -> int:
    """Write what was asked for."""
    return _write(_answer(arguments), arguments)


def _answer(arguments: argparse.Namespace) -> str | bytes:
    question = arguments.convert or arguments.sources or arguments.element or arguments.lane
    legal = ("text", "json", *(("svg", "png") if arguments.convert else ()))
    if question is not None and arguments.format not in legal:
        parser().error(
            f"--format {arguments.format} shows whole operands; use {', '.join(legal[:-1])} or "
            f"{legal[-1]}"
        )
    if arguments.convert:
        return _conversion(arguments)
    if arguments.name is None:
        parser().error("give a shape such as m16n8k16, a form's mnemonic, or --convert")
    if "->" in arguments.name:
        if question is not None:
            raise TilecError("a layout given by bases is shown whole")
        return _bases(arguments)
    if arguments.warp is not None:
        raise TilecError("--warp shows a part of a layout given by bases; operands are of one warp")
    if arguments.types is not None and not arguments.name.startswith("tcgen05.mma"):
        raise TilecError("--types has those of tcgen05.mma; of others --type has the operand's")
    if arguments.reg is not None and arguments.lane is None:
        raise TilecError("--reg names a register of a lane; give --lane too")
    if arguments.element is not None and arguments.lane is not None:
        raise TilecError("--element and --lane ask opposite questions; give only one")
    if arguments.sources is not None:
        return _sources(arguments)
    if arguments.descriptor:
        return _described(arguments)
    in_tensor = _tensor(arguments)
    if in_tensor is not None:
        return in_tensor
    if arguments.shape or arguments.swizzle:
        raise TilecError("--shape and --swizzle say how shared memory holds it: give --descriptor")
    view = _view(arguments)
    as_json = arguments.format == "json"
    if arguments.element is not None:
        holders = view.holders(arguments.element)
        data = {"element": list(arguments.element), "holders": [s.json() for s in holders]}
        return json.dumps(data) if as_json else layout_text.slots(holders, view.holder)
    if arguments.lane is not None:
        held = view.in_registers(arguments.lane, arguments.reg)
        listed = [{**s.json(), "element": p and list(p)} for s, p in held]
        return json.dumps({"held": listed}) if as_json else layout_text.contents(held)
    return _whole(view, arguments)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["smem"]:
        return run(smem_parser(), smem, given[1:])
    return run(parser(), body, given)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
