"""Types of the parts of MLIR's Python bindings that tilec uses, whoever provides the bindings.

Nothing here runs: `tilec.ir.mlir` names these modules to type checkers in place of its own.
"""
