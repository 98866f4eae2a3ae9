"""A tile program around one instruction, to try it on hardware or on a simulator.

Operands come from global memory and results go there, as matrices; what a matrix load reads or a
matrix store writes passes through shared memory. One kernel tries one form; a program may hold
many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, singledispatch

from tilec.ir.mlir import ir
from tilec.isa import (
    Family,
    Form,
    MatrixMemory,
    Mma,
    MovMatrix,
    Operand,
    Product,
    Target,
    TilecError,
    WmmaMemory,
    WmmaMma,
    forms_of,
)
from tilec.isa.kernel import ENTRY, choose
from tilec.isa.wgmma import Wgmma
from tilec.layout import LinearLayout, fragment_of
from tilec.layout.operands import operand_layout

from . import load
from .families import TILE_OPS
from .kernel_text import Argument, KernelText
from .ops.movmatrix import one_matrix
from .stored import stored_elements, stored_tile
from .tiles import TileValue, element_name, element_of
from .wgmma_program import wgmma_program
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
    product: Product | None = None

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
        TilecError: if `target` lacks the form, a selector is unknown or out of range, or no
            program tries such forms.
    """
    form.require(target)
    chosen = choose(form, selectors or {})
    text = KernelText(name, ctas if ctas > 1 else 0)
    shared = space.startswith("shared")
    with _context(), ir.Location.unknown():
        product = _product(form, target)
        arguments = _kernel(form, _Setting(text, chosen, product, shared))
    return FormKernel(name, form, chosen, arguments, text, ctas, product)


def form_program(kernels: Sequence[FormKernel], target: Target) -> str:
    """A program of such kernels: MLIR text that `tilec` compiles."""
    types: dict[str, str] = {}
    bodies = [kernel.comment + kernel.text.function(types) for kernel in kernels]
    aliases = "".join(f"{alias} = {type_}\n" for type_, alias in types.items())
    inside = "\n".join(f"  {line}".rstrip() for line in "\n".join(bodies).splitlines())
    return f'{aliases}\ngpu.module @forms [#nvvm.target<chip = "{target}">] {{\n{inside}\n}}\n'


@singledispatch
def program_of(
    form: Form, target: Target, *, selectors: Mapping[str, int] | None = None, space: str = ""
) -> str:
    """The program of one form's kernel; arguments and errors as `form_kernel`'s."""
    return form_program([form_kernel(form, target, selectors=selectors, space=space)], target)


@program_of.register
def _program_of_a_warpgroup(
    form: Wgmma, target: Target, *, selectors: Mapping[str, int] | None = None, space: str = ""
) -> str:
    del space  # where its operands lie is part of the form
    with _context(), ir.Location.unknown():
        return wgmma_program(form, target, selectors or {})


@cache
def _context() -> ir.Context:
    """For the types of all kernels: a context takes longer to make than a kernel."""
    made = ir.Context()
    made.enable_multithreading(False)
    load(made)
    return made


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a kernel is written into and with.

    Attributes:
        text: the kernel.
        selectors: the value of each of the form's selectors.
        product: what it multiplies by, if by anything.
        shared: whether the matrices of `wmma` lie in shared memory.
    """

    text: KernelText
    selectors: Mapping[str, int]
    product: Product | None
    shared: bool


@singledispatch
def _kernel(form: Form, setting: _Setting) -> tuple[Argument, ...]:
    """Write the kernel, by the form's class; its parameters in order.

    Raises:
        TilecError: for a class that has none.
    """
    del setting
    raise TilecError(
        f"no single-op tile program exercises {form.ptx}; with --format ptx a kernel does"
    )


# Fragments with a layout


@_kernel.register(Mma)
@_kernel.register(MovMatrix)
def _registers(form: Mma | MovMatrix, setting: _Setting) -> tuple[Argument, ...]:
    """`mma` in all its families, and `movmatrix`."""
    text = setting.text
    (result,) = form.results
    tiles = {o.name: _tile(form, o) for o in form.all_operands}
    arguments = {o.name: _argument(text, o, tiles[o.name]) for o in form.all_operands}
    for operand in form.operands:
        text.load(operand.name, tiles[operand.name], arguments[operand.name])
    text.op(
        TILE_OPS[form.family],
        [operand.name for operand in form.operands],
        (result.name, text.fragment(result.name, tiles[result.name])),
        form=form.ptx,
        **setting.selectors,
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


@_kernel.register
def _matrices(form: MatrixMemory, setting: _Setting) -> tuple[Argument, ...]:
    """`ldmatrix` and `stmatrix` of matrices that lie one below the other."""
    text = setting.text
    layout = fragment_of(form, "r")
    sizes = layout.out_sizes
    operand = form.fragment
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


@_kernel.register(WmmaMemory)
@_kernel.register(WmmaMma)
def _wmma(form: WmmaMemory | WmmaMma, setting: _Setting) -> tuple[Argument, ...]:
    """`wmma`: loads of all operands, the product if there is one, a store."""
    text, product, shared = setting.text, setting.product, setting.shared
    if product is None:
        moves = {name: _move(form, name, form.all_operands[0]) for name in "dc"}
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


@singledispatch
def _product(form: Form, target: Target) -> Product | None:
    """The product that the kernel forms, if it forms one: of a load of `a` or `b` the first."""
    del target
    return form if isinstance(form, Product) else None


@_product.register
def _product_of(form: WmmaMemory, target: Target) -> WmmaMma | None:
    fragment = form.fragment
    if fragment.name not in ("a", "b"):
        return None
    wanted = wmma_text(form, fragment)
    return next(
        other
        for other in forms_of(WmmaMma)
        if other.min_ptx(target) and wmma_text(other, other.operand(fragment.name)) == wanted
    )


def _move(form: WmmaMemory | WmmaMma, name: str, operand: Operand) -> WmmaMemory:
    """The load or store of an operand: `form` itself, or one as it would have; rows by default."""
    if isinstance(form, WmmaMemory) and form.fragment.name == name:
        return form
    found = {
        other.fragment.major: other
        for other in forms_of(WmmaMemory)
        if other.shape == form.shape
        and (other.fragment.name, other.fragment.type) == (name, operand.type)
    }
    return found[operand.major] if operand.major in found else next(iter(found.values()))


def _wmma_argument(text: KernelText, name: str, move: WmmaMemory) -> Argument:
    """The memory of a matrix: its rows, or its columns if `.col`, far enough apart."""
    inside = move.fragment
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
