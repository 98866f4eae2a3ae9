"""Every order of a CTA's warps, not only the one that ran."""

ORDER_LIMIT = 300_000
"""Events that are recorded, and steps of orders that are made, where no limit is given."""
