"""The metrics: every module here that holds `SPECS` is one family.

To add a metric, add a file with its `MetricSpec`s; nothing else needs to know.
"""

from __future__ import annotations

import copyreg
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from odqa_fast.metrics.request import find_spec
from odqa_fast.metrics.spec import MetricSpec


@cache
def all_specs() -> dict[str, MetricSpec]:
    """Every metric by its id, in the order of the families' file names."""
    specs: dict[str, MetricSpec] = {}
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            found = import_module(f"{__name__}.{module.name}")
            specs.update((spec.id, spec) for spec in getattr(found, "SPECS", ()))
    return specs


def _known(metric: str) -> MetricSpec | None:
    return all_specs().get(metric) or find_spec(metric, all_specs())


def _reduce(spec: MetricSpec) -> str | tuple[Any, ...]:
    # The functions of a metric are closures, which do not pickle: its id stands for it.
    return (_known, (spec.id,)) if _known(spec.id) is spec else spec.__reduce_ex__(2)


copyreg.pickle(MetricSpec, _reduce)
