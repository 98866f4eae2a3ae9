"""Probes of what is not known of the hardware: small inputs on which the hypotheses differ.

Each runs single instructions on registers that it sets itself, and says which hypotheses agree with
every result; the results are kept, so that other hypotheses can be tried on them later.
"""
