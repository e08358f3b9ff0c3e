"""The metrics: every module here that holds `SPECS` is one family.

To add a metric, add a file with its `MetricSpec`s; nothing else needs to know. CONTRIBUTING.md has
one, `spec` says what each field is.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from odqa_fast.errors import MetricError, OdqaError
from odqa_fast.metrics.request import find_spec
from odqa_fast.metrics.spec import MetricSpec
from odqa_fast.plugins import Plugins

_METRICS = Plugins(
    "metric",
    "odqa_fast.metrics",
    "odqa_fast.metrics",
    listing="List all: odqa-fast metrics",
    error=MetricError,
)


@cache
def all_specs() -> dict[str, MetricSpec]:
    """Every metric by its id, in the order of the families' file names."""
    return _METRICS.collect(_specs_of)


def _specs_of(module: ModuleType) -> Iterator[tuple[str, MetricSpec]]:
    """The metrics of a module, by id.

    Raises:
        OdqaError: it is an entry point's and has none.
        MetricError: see `MetricSpec.check`.
    """
    specs = getattr(module, "SPECS", None)
    # Modules of ours without any are what metrics share; an entry point without any is a slip.
    if specs is None and not getattr(module, "__name__", "").startswith(f"{__name__}."):
        raise OdqaError("it has no SPECS")
    for spec in specs or ():
        spec.check(str(module.__file__))
        yield spec.id, spec


def _known(metric: str) -> MetricSpec | None:
    return all_specs().get(metric) or find_spec(metric, all_specs())


def _reduce(spec: MetricSpec) -> str | tuple[Any, ...]:
    # The functions of a metric are closures, which do not pickle: its id stands for it.
    return (_known, (spec.id,)) if _known(spec.id) is spec else spec.__reduce_ex__(2)


copyreg.pickle(MetricSpec, _reduce)
