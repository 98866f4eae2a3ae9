"""The assembly format that an op's class declares, and text in it to and from MLIR's generic form.

MLIR's bindings have no hook by which an op defined in Python prints or parses itself. So text in
the custom form is rewritten to the generic form before MLIR parses it, and what MLIR prints is
rewritten to the custom form. `assembly_format` on a class is all that either direction reads;
`declaration` says how it is written. Nothing here knows of a dialect.
"""

from .declaration import AssemblyFormat, AssemblyFormatError, format_of
from .reader import AssemblyError, Generic, to_generic
from .short_forms import ShortForm, shortened
from .writer import to_custom

__all__ = [
    "AssemblyError",
    "AssemblyFormat",
    "AssemblyFormatError",
    "Generic",
    "ShortForm",
    "format_of",
    "shortened",
    "to_custom",
    "to_generic",
]
