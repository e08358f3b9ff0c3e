"""The metrics: every module here that holds `SPECS` is one family.

To add a metric, add a file with its `MetricSpec`s; nothing else needs to know.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from odqa_fast.spec import MetricSpec


@cache
def all_specs() -> dict[str, MetricSpec]:
    """Every metric by its id, in the order of the families' file names."""
    specs: dict[str, MetricSpec] = {}
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            for spec in import_module(f"{__name__}.{module.name}").SPECS:
                specs[spec.id] = spec
    return specs
