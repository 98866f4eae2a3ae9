"""tilec: an MLIR/LLVM toolkit for NVIDIA's matrix instructions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from tilec.isa import Target, TilecError

    from .compiled import Compiled
    from .dialect_plugins import DialectPlugin
    from .driver import compile  # noqa: A004
    from .lang import function, kernel
    from .lang.trials import Config
    from .lang.tuning import autotune
    from .pipelines import Pipeline
    from .transformation import transform
    from .tuning.declared import tunable
    from .tuning.studies import tune

__all__ = [
    "Compiled",
    "Config",
    "DialectPlugin",
    "Pipeline",
    "Target",
    "TilecError",
    "__version__",
    "autotune",
    "compile",
    "function",
    "kernel",
    "transform",
    "tunable",
    "tune",
]

_HOMES = {
    "Compiled": ".compiled",
    "Config": ".lang.trials",
    "DialectPlugin": ".dialect_plugins",
    "Pipeline": ".pipelines",
    "Target": ".isa",
    "TilecError": ".isa",
    "autotune": ".lang.tuning",
    "compile": ".driver",
    "function": ".lang",
    "kernel": ".lang",
    "transform": ".transformation",
    "tunable": ".tuning.declared",
    "tune": ".tuning.studies",
}


def _hint(name: str) -> str:
    """What to write for a name that is not exported."""
    from .lang.hints import of_package  # noqa: PLC0415 (for errors only)

    return "" if name.startswith("_") else of_package(name, __all__)


if not TYPE_CHECKING:  # or any name would be one to a type checker

    def __getattr__(name: str) -> Any:
        """What is exported, imported when first used: MLIR takes its time."""
        if name == "codegen":  # for code out of tree
            return import_module(".backend.codegen", __name__)
        if name not in _HOMES:
            from .isa.errors import MissingNameError  # noqa: PLC0415 (for errors only)

            message = f"module 'tilec' has no attribute '{name}'"
            raise MissingNameError(message, lambda: _hint(name))
        return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted(__all__)
