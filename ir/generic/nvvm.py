"""`nvvm`, without classes."""
