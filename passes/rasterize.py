"""`tile-rasterize`: CTAs that run at the same time share what they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.attributes import RASTERIZE
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .base import Diagnostic, Pass, PassError, remark, walk
from .emit import create, index_constant
from .functions import functions, gpu_modules


@dataclass(frozen=True)
class Rasterize(Pass):
    """Renumber a kernel's CTAs along x and y, so that those launched together lie in a block.

    In and out: any level above NVVM. CTAs are launched row by row of the grid; those of one time
    read one strip of A and all of B. In a kernel with the attribute `tile.rasterize = G : i64` the
    numbers `gpu.block_id x` and `y` become those of an order that goes down G rows before it goes
    to the next column: they read less of both, which stays in L2. Every CTA of the grid still
    has one place, whatever the grid's extents. The attribute goes.
    """

    name: ClassVar[str] = "tile-rasterize"

    def apply(self, module: Any) -> None:
        """Renumber the CTAs of every kernel of `module` that asks for it."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                attributes = function.operation.attributes
                if RASTERIZE not in attributes:
                    continue
                try:
                    rows = _rows(attributes[RASTERIZE])
                except TilecError as error:
                    errors.append(Diagnostic(function.location, f"'gpu.func' op {error}"))
                    continue
                del attributes[RASTERIZE]
                _renumber(function, rows)
        if errors:
            raise PassError(errors)


def _rows(attribute: Any) -> int:
    rows = int(attribute.value) if isinstance(attribute, ir.IntegerAttr) else 0
    if rows < 1:
        raise TilecError(f"{RASTERIZE} must be a positive integer, not {attribute}")
    return rows


def _renumber(function: Any, rows: int) -> None:
    old: dict[str, list[Any]] = {"x": [], "y": []}
    for op in walk(function):
        if op.operation.name == "gpu.block_id":
            dimension = str(op.operation.attributes["dimension"])
            for axis, found in old.items():
                if f" {axis}>" in dimension:
                    found.append(op.operation)
    if not old["x"] and not old["y"]:
        return
    top = function.regions[0].blocks[0].operations[0]
    with ir.InsertionPoint(top), function.location:
        new = _places(rows)
    for axis, ops in old.items():
        for op in ops:
            op.results[0].replace_all_uses_with(new[axis])
            op.erase()
    remark(function.location, f"'gpu.func' op goes down {rows} rows of CTAs before a next column")


def _places(rows: int) -> dict[str, Any]:
    """This CTA's place along x and y in the order that goes down `rows` rows at a time."""
    across, down = _gpu("grid_dim", "x"), _gpu("grid_dim", "y")
    number = _index("addi", _index("muli", _gpu("block_id", "y"), across), _gpu("block_id", "x"))
    of_group = _index("muli", across, index_constant(rows))
    group, within = _index("divui", number, of_group), _index("remui", number, of_group)
    first = _index("muli", group, index_constant(rows))
    # The last group may have fewer rows.
    height = _index("minui", _index("subi", down, first), index_constant(rows))
    y = _index("addi", first, _index("remui", within, height))
    return {"x": _index("divui", within, height), "y": y}


def _gpu(name: str, axis: str) -> Any:
    dimension = ir.Attribute.parse(f"#gpu<dim {axis}>")
    return create(f"gpu.{name}", [], ir.IndexType.get(), dimension=dimension)


def _index(name: str, a: Any, b: Any) -> Any:
    return create(f"arith.{name}", [a, b], ir.IndexType.get())
