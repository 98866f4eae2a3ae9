"""What checkers know of launches of kernels in Python: a report may be used as it is.

Checked by `.ci/typecheck`, not run.
"""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def double(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.load(x, 0, 32) * 2)


print(double[1](np.ones(32, np.float32)).to_text())
