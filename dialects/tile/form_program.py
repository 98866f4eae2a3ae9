"""A tile program around one instruction, to try it on hardware or on a simulator.

Operands come from global memory and results go there, as matrices; what a matrix load reads or a
matrix store writes passes through shared memory. One kernel tries one form; a program may hold
many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tilec.ir.mlir import ir
from tilec.isa import (
    Family,
    Form,
    MatrixMemory,
    Mma,
    MovMatrix,
    Operand,
    Target,
    TilecError,
    WmmaMemory,
    WmmaMma,
    forms,
)
from tilec.isa.kernel import ENTRY, choose
from tilec.layout import LinearLayout, fragment_of
from tilec.layout.operands import operand_layout

from . import load
from .families import TILE_OPS
from .kernel_text import Argument, KernelText
from .ops.movmatrix import one_matrix
from .stored import stored_elements, stored_tile
from .tiles import TileValue, element_name, element_of
from .wmma import wmma_text


@dataclass(frozen=True, slots=True)
class FormKernel:
    """A kernel that executes one form once a CTA; to be launched with CTAs of one warp.

    Attributes:
        name: of the kernel.
        form: what it executes.
        selectors: the value of each of the form's selectors.
        arguments: its parameters in order: results, then operands.
        text: its MLIR.
        ctas: CTAs to launch.
        product: what it multiplies by: the form, or the `wmma.mma` around a load; None if nothing.
    """

    name: str
    form: Form
    selectors: Mapping[str, int]
    arguments: tuple[Argument, ...]
    text: KernelText
    ctas: int = 1
    product: Mma | WmmaMma | None = None

    @property
    def comment(self) -> str:
        """What the kernel is and takes, as MLIR comments."""
        launch = "one warp" if self.ctas == 1 else f"{self.ctas} CTAs of one warp"
        lines = [self.form.ptx, f"Launch {launch}. Each parameter points to global memory:"]
        lines += [f"  {argument}" for argument in self.arguments]
        lines += [f"  {name} = {value}" for name, value in self.selectors.items()]
        return "".join(f"// {line}\n" for line in lines)


def form_kernel(
    form: Form,
    target: Target,
    *,
    selectors: Mapping[str, int] | None = None,
    space: str = "",
    name: str = ENTRY,
    ctas: int = 1,
) -> FormKernel:
    """The kernel that executes `form` once.

    A fragment of `wmma.load.a` or `wmma.load.b` can be stored by no instruction, so that kernel
    multiplies it: by a `wmma.mma` that takes it.

    Args:
        form: the form.
        target: where it is to run.
        selectors: values of the form's selectors by name; the first legal one by default.
        space: state space of the memory of a wmma load or store: `global`, which is the default,
            `shared` or `shared::cta`; what `ldmatrix` and `stmatrix` take is always shared.
        name: of the kernel.
        ctas: CTAs to launch. If more than one, each has its own part of every argument, at
            [CTA, ...].

    Raises:
        TilecError: if `target` lacks the form, or a selector is unknown or out of range.
    """
    form.require(target)
    chosen = choose(form, selectors or {})
    text = KernelText(name, ctas if ctas > 1 else 0)
    shared = space.startswith("shared")
    with _context(), ir.Location.unknown():
        match form:
            case Mma() | MovMatrix():
                arguments = _registers(text, form, chosen)
            case MatrixMemory():
                arguments = _matrices(text, form)
            case WmmaMemory() | WmmaMma():
                arguments = _wmma(text, form, target, shared=shared)
            case _:
                raise AssertionError(form.family)
        product: Mma | WmmaMma | None = form if isinstance(form, Mma) else None
        if isinstance(form, WmmaMemory | WmmaMma):
            product = _product(form, target)
    return FormKernel(name, form, chosen, arguments, text, ctas, product)


def form_program(kernels: Sequence[FormKernel], target: Target) -> str:
    """A program of such kernels: MLIR text that `tilec` compiles."""
    types: dict[str, str] = {}
    bodies = [kernel.comment + kernel.text.function(types) for kernel in kernels]
    aliases = "".join(f"{alias} = {type_}\n" for type_, alias in types.items())
    inside = "\n".join(f"  {line}".rstrip() for line in "\n".join(bodies).splitlines())
    return f'{aliases}\ngpu.module @forms [#nvvm.target<chip = "{target}">] {{\n{inside}\n}}\n'


@cache
def _context() -> ir.Context:
    """For the types of all kernels: a context takes longer to make than a kernel."""
    made = ir.Context()
    made.enable_multithreading(False)
    load(made)
    return made


# Fragments with a layout


def _registers(text: KernelText, form: Form, chosen: Mapping[str, int]) -> tuple[Argument, ...]:
    """`mma` in all its families, and `movmatrix`."""
    (result,) = form.results
    tiles = {o.name: _tile(form, o) for o in (*form.results, *form.operands)}
    arguments = {o.name: _argument(text, o, tiles[o.name]) for o in (*form.results, *form.operands)}
    for operand in form.operands:
        text.load(operand.name, tiles[operand.name], arguments[operand.name])
    text.op(
        TILE_OPS[form.family],
        [operand.name for operand in form.operands],
        (result.name, text.fragment(result.name, tiles[result.name])),
        form=form.ptx,
        **chosen,
    )
    text.store(result.name, arguments[result.name])
    return tuple(arguments.values())


def _tile(form: Form, operand: Operand) -> TileValue:
    layout = operand_layout(form, operand.name)
    if form.family is Family.MOVMATRIX:
        layout = one_matrix(layout)
    element = element_of(ir.Type.parse(element_name(operand)))
    return TileValue(tuple(layout.out_sizes.values()), element, layout, is_fragment=True)


def _argument(text: KernelText, operand: Operand, tile: TileValue) -> Argument:
    """The memory of a tile: its transpose where elements would else share bytes across rows."""
    contents = f"{'x'.join(map(str, tile.shape))} {operand.type}"
    transposed = False
    try:
        shape = stored_tile(tile, transposed=False).shape
    except TilecError:
        *outer, cols, rows = stored_tile(tile, transposed=True).shape
        shape, transposed = (*outer, rows, cols), True
    element = stored_elements(tile.element)[0]
    written = operand.name == "d"
    return text.argument(
        operand.name, contents, shape, element, written=written, transposed=transposed
    )


# Matrix loads and stores


def _matrices(text: KernelText, form: MatrixMemory) -> tuple[Argument, ...]:
    """`ldmatrix` and `stmatrix` of matrices that lie one below the other."""
    layout = fragment_of(form, "r")
    sizes = layout.out_sizes
    (operand,) = (*form.results, *form.operands)
    rows, cols = sizes["matrix"] * sizes["row"], sizes["element"]
    joined = LinearLayout.of(
        {
            dim: [(matrix * sizes["row"] + row, at) for matrix, row, at in images]
            for dim, images in layout.bases.items()
        },
        {"row": rows, "col": cols},
    )
    element = element_of(ir.Type.parse(element_name(operand)))
    tile = TileValue((rows, cols), element, joined, is_fragment=True)
    is_load = bool(form.results)
    held, memory = (
        text.argument(name, contents, (rows, cols), str(element), written=written)
        for name, contents, written in (
            ("r", f"{rows}x{cols} {operand.type}", is_load),
            ("memory", f"{rows} rows of {cols} {form.source or operand.type}", not is_load),
        )
    )
    buffer = text.alloc_shared(memory)
    if is_load:
        text.copy(memory, buffer)
        text.barrier()
        text.access(TILE_OPS[form.family], buffer, ("r", text.fragment("r", tile)), form=form.ptx)
        text.store("r", held)
    else:
        text.load("r", tile, held)
        text.access(TILE_OPS[form.family], buffer, value="r", form=form.ptx)
        text.barrier()
        text.copy(buffer, memory)
    return held, memory


# wmma


def _wmma(
    text: KernelText, form: WmmaMemory | WmmaMma, target: Target, *, shared: bool
) -> tuple[Argument, ...]:
    product = _product(form, target)
    if product is None:
        assert isinstance(form, WmmaMemory)
        (inside,) = (*form.results, *form.operands)
        moves = {name: _move(form, name, inside) for name in "dc"}
    else:
        moves = {name: _move(form, name, product.operand(name)) for name in "dabc"}
    arguments = {n: _wmma_argument(text, n, move) for n, move in moves.items()}
    places = {
        name: text.alloc_shared(argument) if shared else argument
        for name, argument in arguments.items()
    }
    if shared:
        for name in list(moves)[1:]:
            text.copy(arguments[name], places[name])
        text.barrier()
    for name, move in list(moves.items())[1:]:
        type_ = text.wmma(name, wmma_text(move, move.results[0]))
        text.access(TILE_OPS[move.family], places[name], (name, type_), form=move.ptx)
    stored = "c"
    if product is not None:
        stored = "d"
        type_ = text.wmma("d", wmma_text(product, product.operand("d")))
        text.op(TILE_OPS[product.family], list("abc"), ("d", type_), form=product.ptx)
    text.access(TILE_OPS[Family.WMMA_STORE], places["d"], value=stored, form=moves["d"].ptx)
    if shared:
        text.barrier()
        text.copy(places["d"], arguments["d"])
    return tuple(arguments.values())


def _product(form: WmmaMemory | WmmaMma, target: Target) -> WmmaMma | None:
    """The product that the kernel forms, if it forms one: of a load of `a` or `b` the first."""
    if isinstance(form, WmmaMma):
        return form
    (inside,) = (*form.results, *form.operands)
    if inside.name not in ("a", "b"):
        return None
    wanted = wmma_text(form, inside)
    return next(
        other
        for other in forms().values()
        if isinstance(other, WmmaMma)
        and other.min_ptx(target)
        and wmma_text(other, other.operand(inside.name)) == wanted
    )


def _move(form: WmmaMemory | WmmaMma, name: str, operand: Operand) -> WmmaMemory:
    """The load or store of an operand: `form` itself, or one as it would have; rows by default."""
    if isinstance(form, WmmaMemory) and (*form.results, *form.operands)[0].name == name:
        return form
    found = {
        inside.major: other
        for other in forms().values()
        if isinstance(other, WmmaMemory) and other.shape == form.shape
        for inside in (*other.results, *other.operands)
        if (inside.name, inside.type) == (name, operand.type)
    }
    return found[operand.major] if operand.major in found else next(iter(found.values()))


def _wmma_argument(text: KernelText, name: str, move: WmmaMemory) -> Argument:
    """The memory of a matrix: its rows, or its columns if `.col`, far enough apart."""
    (inside,) = (*move.results, *move.operands)
    element = stored_elements(ir.Type.parse(element_name(inside)))[0]
    stride, bits = move.default_stride, inside.type.bits
    lines = inside.rows * inside.cols // stride
    across = max(stride, move.alignment * 8 // bits) * bits // max(8, bits)
    return text.argument(
        name,
        f"{inside.rows}x{inside.cols} {inside.type}",
        (lines, across),
        element,
        written=name == "d",
        transposed=inside.major == "col",
    )
