"""`mlir.dialects.gpu`."""

from collections.abc import Sequence

from .attributes import ArrayAttr, DenseI32ArrayAttr, StringAttr, TypeAttr
from .base import Location
from .operations import (
    Block,
    BlockArgumentList,
    InsertionPoint,
    OpOperandList,
    OpView,
    Region,
    Value,
)
from .types import FunctionType

class GPUModuleOp(OpView):
    def __init__(
        self,
        sym_name: str | StringAttr,
        *,
        targets: ArrayAttr | None = ...,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def sym_name(self) -> StringAttr: ...
    @property
    def targets(self) -> ArrayAttr | None: ...
    @property
    def bodyRegion(self) -> Region: ...

class GPUFuncOp(OpView):
    def __init__(
        self,
        function_type: FunctionType | TypeAttr,
        sym_name: str | StringAttr | None = ...,
        *,
        kernel: bool | None = ...,
        known_block_size: Sequence[int] | DenseI32ArrayAttr | None = ...,
        known_grid_size: Sequence[int] | DenseI32ArrayAttr | None = ...,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def function_type(self) -> TypeAttr: ...
    @property
    def known_block_size(self) -> DenseI32ArrayAttr | None: ...
    @property
    def known_grid_size(self) -> DenseI32ArrayAttr | None: ...
    @property
    def is_kernel(self) -> bool: ...
    @property
    def body(self) -> Region: ...
    @property
    def arguments(self) -> BlockArgumentList: ...
    @property
    def entry_block(self) -> Block: ...
    def add_entry_block(self) -> Block: ...

class BlockIdOp(OpView): ...
class GridDimOp(OpView): ...

class ReturnOp(OpView):
    def __init__(
        self,
        operands_: Sequence[Value],
        *,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def operands_(self) -> OpOperandList: ...
