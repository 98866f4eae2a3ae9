"""Parts of the passes for datacenter Blackwell."""
