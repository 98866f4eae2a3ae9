"""Mathematical functions of f64, of which none is an instruction.

Errors stay within three units of the last place, over all arguments. Few kernels have any, so this
is imported when one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.ir.aliases import Value

from . import double_exponentials, double_trigonometry
from .double_erf import erf

DOUBLES: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "math.cos": double_trigonometry.cos,
        "math.erf": erf,
        "math.exp": double_exponentials.exp,
        "math.exp2": double_exponentials.exp2,
        "math.expm1": double_exponentials.expm1,
        "math.log": double_exponentials.log,
        "math.log10": double_exponentials.log10,
        "math.log1p": double_exponentials.log1p,
        "math.log2": double_exponentials.log2,
        "math.powf": double_exponentials.powf,
        "math.sin": double_trigonometry.sin,
        "math.tanh": double_exponentials.tanh,
    }
)
"""What emits each op, given its operands, of f64."""
