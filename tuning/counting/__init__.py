"""What a launch does, read off the PTX: instructions, wavefronts, sectors and bytes, without data.

Of the kernel only what decides where threads go and which addresses they use is computed, for a
few CTAs that stand for all; nothing is loaded, multiplied or stored.
"""

from .launches import PlainLaunch, plain_launch
from .tally import Counts
from .walk import count

__all__ = ["Counts", "PlainLaunch", "count", "plain_launch"]
