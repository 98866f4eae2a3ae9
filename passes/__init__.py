"""The passes, one a file; `registry` finds them by name, `pipeline` runs them."""
