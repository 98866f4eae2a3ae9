"""A plugin of pytest: the driver of `test/unit/runtime_cuda`, whose GPU is the simulator.

With `SIMULATED_ARITHMETIC` it computes as another architecture does.
"""

import os
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

from tilec import sim

_CONFTEST = Path(__file__).parents[1] / "runtime_cuda" / "conftest.py"


def pytest_configure():
    names = runpy.run_path(str(_CONFTEST))
    fake = names["FakeDriver"]
    other = os.environ.get("SIMULATED_ARITHMETIC")
    if other:

        def launch(*arguments, arch, **options):
            return sim.launch(*arguments, arch=other, **options)

        # What the driver's methods look up.
        fake.cuLaunchKernelEx.__globals__["sim"] = SimpleNamespace(
            **{**vars(sim), "launch": launch}
        )
    sys.modules["cuda.bindings.driver"] = fake()
    names["_forget"]()
