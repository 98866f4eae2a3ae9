"""What people are shown: diagnostics, remarks, printed IR, reproducers, the explorer's page."""
