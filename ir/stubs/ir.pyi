"""`mlir.ir`."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import Enum

from .affine import *
from .attributes import *
from .base import *
from .base import Attribute as Attribute
from .base import Location as Location
from .base import TypeID as TypeID
from .operations import *
from .operations import _OperationBase as _OperationBase
from .types import *

class OnExplicitAction(Enum):
    USE_EXPLICIT = ...
    USE_TRACEBACK = ...

class CurrentLocAction(Enum):
    FALLBACK = ...
    NAMELOC_WRAP = ...

class _Globals:
    dialect_search_modules: Sequence[str]
    def register_traceback_file_exclusion(self, filename: str) -> None: ...

_globals: _Globals

def loc_tracebacks(
    *,
    max_depth: int | None = ...,
    on_explicit_actn: OnExplicitAction = ...,
    current_loc_actn: CurrentLocAction = ...,
) -> AbstractContextManager[None]: ...
def register_type_caster(
    typeid: TypeID, *, replace: bool = ...
) -> Callable[
    [Callable[[Attribute], Attribute] | Callable[[Location | Attribute], Location | Attribute]],
    object,
]: ...
def get_load_on_create_dialects() -> Sequence[str]: ...
