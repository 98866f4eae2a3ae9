"""Stop a launch on the simulator, look at its threads, and let it go on."""

from .breakpoints import Breakpoint
from .debugger import Debugger
from .stop import QuitDebugging, Stop

__all__ = ["Breakpoint", "Debugger", "QuitDebugging", "Stop"]
