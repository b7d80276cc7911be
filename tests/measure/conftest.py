"""What tests of measuring share: simulated drives that are served beside them, and are always taken away."""

from served import serve

__all__ = ["serve"]
