"""Every order of a CTA's warps, not only the one that ran."""
