"""Parts of `sim_mutants.py`."""
