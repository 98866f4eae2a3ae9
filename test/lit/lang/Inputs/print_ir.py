"""Prints the tile IR of a kernel in Python: `print_ir.py FILE KERNEL`."""

import runpy
import sys

file, name = sys.argv[1:]
print(runpy.run_path(file)[name].build())
