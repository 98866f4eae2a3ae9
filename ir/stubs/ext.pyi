"""`mlir.dialects.ext`: dialects defined in Python."""

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar, Generic, TypeVar

from .attributes import DynamicAttr
from .base import Attribute as _Attribute
from .base import Dialect as _Dialect
from .base import Type as _Type
from .ir import _Globals
from .operations import Module, OpAdaptor, OpResult, OpView, Value
from .operations import Region as Region
from .types import DynamicType

_T = TypeVar("_T")

# Operands and results are values; what an op's declaration gives as parameter is the constraint
# that MLIR verifies.
class Operand(Value, Generic[_T]): ...
class Result(OpResult, Generic[_T]): ...

class Variadicity(Enum):
    single = ...
    optional = ...
    variadic = ...

class FieldDef:
    name: str
    variadicity: Variadicity
    constraint: type

class OperandDef(FieldDef): ...
class ResultDef(FieldDef): ...
class AttributeDef(FieldDef): ...
class RegionDef(FieldDef): ...

def partition_fields(
    fields: Sequence[FieldDef],
) -> tuple[list[OperandDef], list[AttributeDef], list[ResultDef], list[RegionDef]]: ...

class Operation(OpView):
    _fields: ClassVar[list[FieldDef]]
    Adaptor: ClassVar[type[OpAdaptor]]
    def __init_subclass__(cls, *, name: str | None = ..., dialect: type | None = ...) -> None: ...

class Type(DynamicType):
    def __init_subclass__(cls, *, name: str | None = ..., dialect: type | None = ...) -> None: ...

class Attribute(DynamicAttr):
    def __init_subclass__(cls, *, name: str | None = ..., dialect: type | None = ...) -> None: ...

_OperationBase = Operation
_TypeBase = Type
_AttributeBase = Attribute

class Dialect(_Dialect):
    DIALECT_NAMESPACE: ClassVar[str]
    operations: ClassVar[list[type[Operation]]]
    types: ClassVar[list[type[_Type]]]
    attributes: ClassVar[list[type[_Attribute]]]
    def __init_subclass__(cls, *, name: str) -> None: ...
    @classmethod
    def load(cls) -> None: ...
    @classmethod
    def _emit_module(cls) -> Module: ...

    class Operation(_OperationBase): ...
    class Type(_TypeBase): ...
    class Attribute(_AttributeBase): ...

class _Extension:
    globals: _Globals

_cext: _Extension
