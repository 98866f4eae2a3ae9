"""What the tests of other packages import."""

from . import lit_config

__all__ = ["lit_config"]
