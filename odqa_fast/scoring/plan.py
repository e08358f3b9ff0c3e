"""What to compute once: the metrics asked for, as the fewest kernel calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odqa_fast.diagnosis import DiagnoseOptions
from odqa_fast.errors import MetricError
from odqa_fast.metrics import all_specs
from odqa_fast.metrics.request import Request, parse_request
from odqa_fast.metrics.resources import Resources
from odqa_fast.metrics.spec import Tagged, Work
from odqa_fast.profiles import Profile, get_profile
from odqa_fast.schema import ERRORS
from odqa_fast.scoring.diagnose import step_works
from odqa_fast.scoring.failed import Failed

if TYPE_CHECKING:
    from odqa_fast.metrics.spec import RowFunction


@dataclass(frozen=True)
class Task:
    """One kernel call a row range: its outputs by name, each with the metrics that show it."""

    rows: RowFunction
    columns: tuple[str, ...]
    settings: Any
    outputs: dict[str, list[str]]


@dataclass(frozen=True)
class Plan:
    """The metrics asked for, in order, and the tasks that make them.

    `steps` are the outputs a diagnosis looks at beside them; `tags` what opened models add to the
    signatures, by metric as asked for; `failed` is what rows count in which a model failed.
    """

    requests: tuple[Request, ...]
    tasks: tuple[Task, ...]
    diagnosis: DiagnoseOptions | None = None
    steps: tuple[str, ...] = ()
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failed: Failed = "zero"

    @property
    def columns(self) -> frozenset[str]:
        """The canonical columns the tasks read, and those that say why one of them is null."""
        read = frozenset(column.partition(".")[0] for column in self.parts)
        return read | {ERRORS[column] for column in read if column in ERRORS}

    @property
    def needed(self) -> dict[str, str]:
        """The columns that must be there, each with who asks for it."""
        asked = {c: request.asked for request in self.requests for c in request.spec.inputs}
        if self.diagnosis is not None:
            asked |= {column: "the diagnosis" for column in ("documents", "answers", "prediction")}
        return asked

    @property
    def parts(self) -> frozenset[str]:
        """The same as the kernels take them: `documents.id` is a field of its items."""
        return frozenset(column for task in self.tasks for column in task.columns)


def make_plan(
    metrics: Sequence[str] | str,
    profile: str | Profile,
    diagnosis: DiagnoseOptions | None = None,
    resources: Resources | None = None,
    failed: Failed = "zero",
) -> Plan:
    """The plan for `metrics` under a default profile, and for a diagnosis if one is asked for.

    Raises:
        MetricError: none asked for, an unknown one, or one asked for twice.
        ProfileError: an unknown profile.
        ModelError, EngineError: a model that a metric needs cannot be opened.
    """
    resources = resources or Resources()
    default = get_profile(profile)
    if isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",") if name.strip()]
    if not metrics:
        raise MetricError("no metric asked for.", hint="List all: odqa-fast metrics")
    requests: list[Request] = []
    for asked in metrics:
        if any(asked == other.asked for other in requests):
            raise MetricError(f"{asked!r} is asked for twice.")
        requests.append(parse_request(asked, all_specs(), default))
    tasks: dict[tuple[object, ...], Task] = {}
    tags = {}
    for request in requests:
        work = request.spec.work(request.option, request.profile)
        task = _task_of(work, tasks, resources)
        task.outputs.setdefault(work.output, []).append(request.asked)
        if isinstance(task.settings, Tagged):
            tags[request.asked] = task.settings.tags(work.output)
    steps = {} if diagnosis is None else step_works(diagnosis, default)
    for step, work in steps.items():
        _task_of(work, tasks, resources).outputs.setdefault(work.output, []).append(step)
    return Plan(tuple(requests), tuple(tasks.values()), diagnosis, tuple(steps), tags, failed)


def _task_of(work: Work, tasks: dict[tuple[object, ...], Task], resources: Resources) -> Task:
    key = (work.rows, work.columns, work.settings)
    if key not in tasks:
        tasks[key] = Task(work.rows, work.columns, work.opened(resources).settings, {})
    return tasks[key]
