"""MLIR contexts, which compilations use one after the other.

A new one takes as long as a large program takes to parse, and knows none of the types again. No
two compilations share one at a time: MLIR's are not safe for threads unless they lock, and their
handlers of diagnostics would hear each other's.
"""

from __future__ import annotations

import os
import threading
import weakref

from tilec import dialects
from tilec.ir.casts import accept_all
from tilec.ir.mlir import ir
from tilec.ir.state import hold, release
from tilec.passes.mlir_diagnostics import from_mlir_diagnostic
from tilec.report.diagnostics import reported

# Upstream's dialects in which passes create operations, and irdl, which defines the tile dialect.
# The parser and the pass manager load others when they meet them.
_LOADED = (
    "arith",
    "builtin",
    "cf",
    "func",
    "gpu",
    "irdl",
    "llvm",
    "math",
    "memref",
    "nvvm",
    "scf",
    "tensor",
    "ub",
    "vector",
)

_WAITING = 4
"""Contexts that are kept for compilations to come, at most."""
_RETIREMENT = 64
"""Programs after which a context is given up: it keeps all types and places that it has met."""

_free: list[Lease] = []  # `append` and `pop` are atomic

LOADING = threading.RLock()
"""Held while a Python-defined dialect is loaded: two threads that do so at once crash.

A process does not fork meanwhile, whose child would have half a dialect.
"""
os.register_at_fork(
    before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release
)


def new_context() -> ir.Context:
    """A context with upstream's dialects and tilec's."""
    context = ir.Context(load_on_create_dialects=[])
    for name in _LOADED:
        context.get_dialect_descriptor(name)
    context.enable_multithreading(False)  # verifiers in Python would wait for each other
    with LOADING:
        dialects.load(context)
    accept_all(context)
    context.attach_diagnostic_handler(_report)
    return context


def _report(diagnostic: ir.Diagnostic) -> bool:
    """Give a diagnostic of MLIR's to who collects them; else MLIR prints it."""
    found = reported()
    if found is None:
        return False
    found.append(from_mlir_diagnostic(diagnostic))
    return True


class Lease:
    """A context while one program has it; what is known of its types stays from one to the next.

    Attributes:
        context: an `ir.Context` with upstream's dialects and tilec's.
        retire: lets no further program have the context, and forgets what is known of its types;
            so does who loses the lease.
    """

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self._programs = 0
        hold(context)
        self.retire = weakref.finalize(self, release, context)
        self.retire.atexit = False

    def end_with(self, module: ir.Module, *, reuse: bool) -> None:
        """End the lease when nobody has `module`, an `ir.Module`, any more.

        Args:
            module: the program.
            reuse: let the next program have the context, which this one leaves as it met it.
        """
        weakref.finalize(module, self.end if reuse else self.retire).atexit = False

    def end(self) -> None:
        """Let the next program have the context."""
        self._programs += 1
        if self._programs < _RETIREMENT and len(_free) < _WAITING:
            _free.append(self)
        else:
            self.retire()


def lease() -> Lease:
    """A context that no other program is in, for one that is to be compiled."""
    try:
        return _free.pop()
    except IndexError:
        return Lease(new_context())
