"""What an op means, as its class or the table of upstream's ops says it; passes ask here.

`Semantics` is the declaration. An op of the tile dialect, or of another package's, has one as the
class attribute `SEMANTICS`; `upstream` has those of upstream's ops. Of an op without one nothing
is known: it is kept, not moved, and refused under divergent control flow.
"""

from .ask import (
    aliased_operand,
    carried_values,
    control_flow,
    effects_of,
    finds,
    is_free,
    is_function,
    is_loop,
    is_movable,
    is_ordering,
    is_removable,
    layout_rule,
    orders,
    place_of,
    root_memory,
    scope_of,
    semantics_of,
    touches,
    uniform_operands,
    variation_of,
    writes,
)
from .control import ControlFlow
from .declaration import UNKNOWN, Semantics
from .effects import Access, Effect, Resource, Touch, resource_of
from .layouts import LayoutRule
from .place import Place
from .scope import Scope
from .spread import Spread, Variation

__all__ = [
    "UNKNOWN",
    "Access",
    "ControlFlow",
    "Effect",
    "LayoutRule",
    "Place",
    "Resource",
    "Scope",
    "Semantics",
    "Spread",
    "Touch",
    "Variation",
    "aliased_operand",
    "carried_values",
    "control_flow",
    "effects_of",
    "finds",
    "is_free",
    "is_function",
    "is_loop",
    "is_movable",
    "is_ordering",
    "is_removable",
    "layout_rule",
    "orders",
    "place_of",
    "resource_of",
    "root_memory",
    "scope_of",
    "semantics_of",
    "touches",
    "uniform_operands",
    "variation_of",
    "writes",
]
