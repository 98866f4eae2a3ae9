"""`setmaxnreg`. PTX ISA, "setmaxnreg"."""

from __future__ import annotations

from tilec.isa import WARPGROUP_WARPS
from tilec.isa.limits import REGISTER_COUNTS
from tilec.isa.wording import counted

from ..alu import Array
from ..binding import Binding
from ..machine import Step
from ..ptx.module import Integer
from ..sync import Gate, Members
from ..taint.flows import harm
from ..traits import Sync, Traits, Unit
from .registry import instruction


@instruction("setmaxnreg", traits=Traits(sync=Sync.WARPGROUP), unit=Unit.SYNC, undefined=harm)
def _set(binding: Binding) -> Step:
    (operand,) = binding.expect(1)
    more = "inc" in binding.modifiers
    if not isinstance(operand, Integer) or operand.value not in REGISTER_COUNTS:
        raise binding.error(
            f"'setmaxnreg' takes a multiple of {REGISTER_COUNTS.step} from {REGISTER_COUNTS[0]} to "
            f"{REGISTER_COUNTS[-1]}"
        )
    machine, count, where = binding.machine, operand.value, binding.instruction
    pool, observer = machine.pool, machine.observer
    if more:

        def ready(threads: Array) -> Array:
            return pool.ready(threads, count)

        binding.sync = Gate(where, ready, f"{counted(count, 'register')} per thread", cause=True)
    else:
        binding.sync = Members(warps=WARPGROUP_WARPS)

    def step() -> None:
        if pool.entry is None:
            return
        active = machine.active()
        if observer is not None:
            wrong = pool.wrong(active, count, more=more)
            has = pool.counts
            if wrong.any():
                observer.findings.add(
                    "registers",
                    where,
                    wrong,
                    lambda at: (
                        f"{'requests' if more else 'keeps'} {counted(count, 'register')} per "
                        f"thread "
                        "and has "
                        f"{int(has[at[0], at[1] // WARPGROUP_WARPS])}: "
                        f"{'.inc takes more' if more else '.dec takes fewer'}"
                    ),
                )
        (pool.take if more else pool.release)(active, count)

    return step
