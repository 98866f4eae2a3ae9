"""`tile-to-fragments`: from tiles of a CTA to fragments of a warp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.ops import CASTS, ELEMENTWISE
from tilec.dialects.tile.ops.mma import dense_form, repetition
from tilec.dialects.tile.stored import stored_places
from tilec.dialects.tile.tiles import TileValue, element_name, frag_type, tile_value
from tilec.isa import Mma, Target, TilecError
from tilec.layout import LinearLayout, fragment
from tilec.mlir import ir

from .base import Pass, walk
from .decomposition import Decomposition, decompose
from .emit import create, linear
from .expansion import Expansion, Handler, Values
from .fragment_memory import FragmentMemory
from .functions import functions, gpu_modules, target_of, threads
from .parts import cut, join
from .thread_index import ThreadIndex


@dataclass(frozen=True)
class ToFragments(Pass):
    """Replace every tensor that has a layout by the fragments of it that a warp holds.

    In: level 2, tensors with `#tile.layout` in `gpu.func`s that say their block size.
    Out: level 3. `tile.dot` becomes a `tile.mma` for each instruction; loads from shared memory
    become `tile.ldmatrix` and stores `tile.stmatrix` where the layouts match and the target has
    them; elementwise `arith` and `math` ops become `tile.elementwise` and `tile.cast`.
    """

    name: ClassVar[str] = "tile-to-fragments"

    def apply(self, module: Any) -> None:
        """Rewrite every kernel of `module`."""
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                if any(_is_tensor(r.type) for op in walk(function) for r in op.results):
                    _Rewrite(function, target_of(gpu_module)).run()


def _is_tensor(type_: Any) -> bool:
    tile = tile_value(type_) if isinstance(type_, ir.RankedTensorType) else None
    return tile is not None


class _Rewrite:
    """The rewriting of one kernel."""

    def __init__(self, function: Any, target: Target | None) -> None:
        self._function = function
        self._thread = ThreadIndex(function)
        self._memory = FragmentMemory(target)
        self._units = _units(function)
        self._types: dict[Any, list[Any]] = {}

    def run(self) -> None:
        handlers: dict[str, Handler] = dict.fromkeys(ELEMENTWISE, self._elementwise)
        handlers |= dict.fromkeys(CASTS, self._cast)
        handlers |= {
            "arith.constant": self._constant,
            "tile.convert_layout": self._convert,
            "tile.dot": self._dot,
            "tile.fill": self._fill,
            "tile.load": self._load,
            "tile.store": self._store,
        }
        Expansion(self._expand, handlers).run(self._function)

    def _tensor(self, type_: Any) -> TileValue | None:
        if not isinstance(type_, ir.RankedTensorType):
            return None
        tile = tile_value(type_)
        if tile is not None and tile.warps * 32 != threads(self._function):
            raise TilecError(
                f"the layout of {type_} is of {tile.warps} warps, but the kernel has "
                f"{threads(self._function) // 32}"
            )
        return tile

    def _parts(self, tile: TileValue) -> Decomposition:
        return decompose(tile.layout, self._units.get(tile.layout))

    def _expand(self, type_: Any) -> list[Any] | None:
        if type_ not in self._types:
            tile = self._tensor(type_)
            if tile is None:
                return None
            parts = self._parts(tile)
            shape = tuple(parts.unit.out_sizes.values())
            self._types[type_] = [frag_type(shape, tile.element, parts.unit)] * parts.count
        return self._types[type_]

    def _one_type(self, type_: Any) -> Any:
        types = self._expand(type_)
        assert types is not None
        return types[0]

    def _fill(self, op: Any, _: Expansion) -> list[Values] | None:
        types = self._expand(op.results[0].type)
        if types is None:
            return None
        filled = create("tile.fill", [op.operands[0]], types[0])
        return [[filled] * len(types)]

    def _constant(self, op: Any, _: Expansion) -> list[Values] | None:
        types = self._expand(op.results[0].type)
        if types is None:
            return None
        value = op.attributes["value"]
        if not value.is_splat:
            raise TilecError("of a tile must be the same number everywhere (a splat)")
        element = op.results[0].type.element_type
        scalar = create("arith.constant", [], element, value=value.get_splat_value())
        return [[create("tile.fill", [scalar], types[0])] * len(types)]

    def _elementwise(self, op: Any, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, "tile.elementwise")

    def _cast(self, op: Any, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, "tile.cast")

    def _apply(self, op: Any, expansion: Expansion, name: str) -> list[Values] | None:
        types = self._expand(op.results[0].type)
        if types is None:
            return None
        operation = op.operation
        attributes = {a: operation.attributes[a] for a in operation.attributes}
        attributes["fn"] = ir.StringAttr.get(operation.name)
        inputs = [expansion.values(v) for v in operation.operands]
        if any(len(values) != len(types) for values in inputs):
            raise TilecError("changes the layout: convert it first")
        return [
            [
                create(name, list(parts), type_, **attributes)
                for *parts, type_ in zip(*inputs, types, strict=True)
            ]
        ]

    def _convert(self, op: Any, expansion: Expansion) -> list[Values] | None:
        source, result = op.operands[0], op.results[0]
        before, after = self._tensor(source.type), self._tensor(result.type)
        if before is None or after is None:
            return None
        values = expansion.values(source)
        if before.layout == after.layout:
            types = self._expand(result.type) or []
            return [
                [
                    v if v.type == t else create("tile.convert_layout", [v], t)
                    for v, t in zip(values, types, strict=True)
                ]
            ]
        # Within a warp: all that it holds as one fragment, converted, and cut again.
        wholes = []
        for tile in (before, after):
            whole = tile.layout.restrict(ins=("register", "lane"))
            wholes.append(frag_type(tile.shape, tile.element, whole))
        if before.layout.restrict(ins=["warp"]) != after.layout.restrict(ins=["warp"]):
            raise TilecError("moves elements between warps: run tile-stage-conversions first")
        whole = create("tile.convert_layout", [join(values, wholes[0])], wholes[1])
        parts = self._parts(after)
        return [cut(whole, parts.count, self._one_type(result.type))]

    def _dot(self, op: Any, expansion: Expansion) -> list[Values]:
        form = dense_form(op.attributes["form"].value)
        tiles = {}
        for name, value in zip("abc", op.operands, strict=True):
            tile = self._tensor(value.type)
            assert tile is not None
            tiles[name] = repetition(form, name, tile)
        held = {
            name: _joined(expansion.values(value), form, name, tiles[name].in_sizes["register"])
            for name, value in zip("abc", op.operands, strict=True)
        }
        a, b = (
            {place(q, p): p for p in range(q.in_sizes["register"])}
            for q in (tiles["a"], tiles["b"])
        )
        accumulators = held["c"]
        attribute = op.attributes["form"]
        # K outermost: neighbouring instructions do not wait for each other's accumulator.
        for k in range(tiles["a"].out_sizes["col"]):
            for part, accumulator in enumerate(accumulators):
                row, col = place(tiles["c"], part)
                operands = [held["a"][a[row, k]], held["b"][b[k, col]], accumulator]
                accumulators[part] = create("tile.mma", operands, accumulator.type, form=attribute)
        types = self._expand(op.results[0].type) or []
        size = len(types) // len(accumulators)
        return [[p for whole in accumulators for p in cut(whole, size, types[0])]]

    def _access(self, tile: TileValue, op: Any, indices: list[Any]) -> list[Any]:
        """The indices of warp w's first fragment: the op's, and the warp's place."""
        transposed = "transposed" in op.attributes
        warps = stored_places(self._parts(tile).warps, tile.element, transposed=transposed)
        places = linear(warps, "warp", self._thread.warp) if tile.warps > 1 else None
        return self._memory.offset(indices, places, transposed=transposed)

    def _load(self, op: Any, _: Expansion) -> list[Values] | None:
        tile = self._tensor(op.results[0].type)
        if tile is None:
            return None
        source, *indices = op.operands
        at = self._access(tile, op, indices)
        return [self._memory.load(op, source, at, tile, self._parts(tile))]

    def _store(self, op: Any, expansion: Expansion) -> list[Values] | None:
        value, target, *indices = op.operands
        tile = self._tensor(value.type)
        if tile is None:
            return None
        at = self._access(tile, op, indices)
        self._memory.store(op, expansion.values(value), target, at, tile, self._parts(tile))
        return []


def place(layout: LinearLayout, part: int) -> tuple[int, int]:
    """Row and column, in fragments, of part number `part`."""
    row, col = layout(register=part)
    return row, col


def _joined(values: Values, form: Mma, name: str, count: int) -> Values:
    """The `count` fragments of operand `name` from their parts (see `_units`)."""
    size = len(values) // count
    if size == 1:
        return list(values)
    layout = fragment(form, name)
    element = ir.Type.parse(element_name(form.operand(name)))
    whole = frag_type(tuple(layout.out_sizes.values()), element, layout)
    return [join(values[at : at + size], whole) for at in range(0, len(values), size)]


def _units(function: Any) -> dict[LinearLayout, LinearLayout]:
    """The fragment that each layout repeats, learnt from the function's dots.

    Where operands of different shapes have one layout, it is the smallest of their fragments,
    of which the others are made.
    """
    units: dict[LinearLayout, LinearLayout] = {}
    for op in walk(function):
        if op.operation.name == "tile.dot":
            form = dense_form(op.attributes["form"].value)
            for name, value in zip("abcd", (*op.operands, op.results[0]), strict=True):
                tile = tile_value(value.type)
                if tile is not None:
                    unit = fragment(form, name)
                    known = units.setdefault(tile.layout, unit)
                    units[tile.layout] = min(known, unit, key=lambda u: u.in_sizes["register"])
    return units
