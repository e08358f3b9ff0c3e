"""The version of the package; no other module is needed to know it."""

__version__ = "0.1.0"
