"""The table of modules says of every instruction which file declares it, and is believed."""

from __future__ import annotations

import subprocess
import sys

from tilec.sim import alu, opcodes
from tilec.sim.instructions import registry


def test_every_module_declares_what_the_table_says() -> None:
    opcodes.load_all()
    declared: dict[str, set[str]] = {}
    for table in (registry._steps, registry._ends):
        for opcode, binder in table.items():
            package, _, module = binder.__module__.rpartition(".")
            assert package == "tilec.sim.instructions"
            declared.setdefault(module, set()).add(opcode)
    assert declared == {module: set(names) for module, names in opcodes.MODULES.items()}


def test_no_module_declares_an_instruction_that_another_computes() -> None:
    both = set(registry.opcodes()) & set(alu.opcodes())
    assert both == {"mov"}  # whose other forms move special registers, addresses and vectors


def test_what_a_kernel_does_not_use_is_not_imported() -> None:
    code = """
import sys
import numpy as np
from tilec.sim import launch
text = '''.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out) {
.reg .b64 %d<2>; .reg .b32 %r<3>;
ld.param.u64 %d1, [out]; mov.u32 %r1, 7; add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2; ret; }
'''
out = np.zeros(1, np.uint32)
launch(text, "k", 1, 1, [out]).require_ok()
assert out[0] == 8
print(*(name for name in sys.modules if name.startswith("tilec.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    used = {"arithmetic", "branches", "memory", "moves", "registry"}
    prefix = "tilec.sim.instructions."
    assert {name.removeprefix(prefix) for name in loaded if name.startswith(prefix)} == used
    never = ("tensor.product", "checks.in_flight", "tensor_map", "float_registers", "stepping")
    assert not loaded & {f"tilec.sim.{name}" for name in (*never, "matrix_forms", "timing")}
