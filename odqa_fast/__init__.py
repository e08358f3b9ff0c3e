"""Exact, fast, accountable scores for open-domain question answering, RAG and compression.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from odqa_fast.version import __version__

_HOME = {
    "par": "scoring.single",
    "cr": "scoring.single",
    "normalize": "scoring.single",
    "tokenize": "scoring.single",
    "score": "scoring.job",
    "score_file": "scoring.job",
    "diagnose": "scoring.job",
    "compress_file": "steps.job",
    "answer_file": "steps.job",
    "noise_file": "noise.job",
    "levels_file": "levels.job",
    "judge_file": "judge.job",
    "RunSummary": "runs.summary",
    "EngineOptions": "engines.options",
    "Diagnosis": "diagnosis",
    "DiagnoseOptions": "diagnosis",
    "ScoreTable": "scores",
    "Signature": "signature",
    "MetricSpec": "metrics.spec",
    "Resources": "metrics.resources",
    "Profile": "profiles",
    "PROFILES": "profiles",
    "SAMPLES": "schema",
    "OdqaError": "errors",
    "OdqaWarning": "errors",
    "MetricError": "errors",
    "ProfileError": "errors",
    "SchemaError": "errors",
    "DataError": "errors",
    "ModelError": "errors",
    "EngineError": "errors",
    "OutputError": "errors",
}

__all__ = [
    "PROFILES",
    "SAMPLES",
    "DataError",
    "DiagnoseOptions",
    "Diagnosis",
    "EngineError",
    "EngineOptions",
    "MetricError",
    "MetricSpec",
    "ModelError",
    "OdqaError",
    "OdqaWarning",
    "OutputError",
    "Profile",
    "ProfileError",
    "Resources",
    "RunSummary",
    "SchemaError",
    "ScoreTable",
    "Signature",
    "__version__",
    "answer_file",
    "compress_file",
    "contains",
    "cr",
    "diagnose",
    "em",
    "f1",
    "judge_file",
    "levels_file",
    "noise_file",
    "normalize",
    "par",
    "precision",
    "recall",
    "score",
    "score_file",
    "tokenize",
]

if TYPE_CHECKING:
    from odqa_fast.diagnosis import DiagnoseOptions, Diagnosis
    from odqa_fast.engines.options import EngineOptions
    from odqa_fast.errors import (
        DataError,
        EngineError,
        MetricError,
        ModelError,
        OdqaError,
        OdqaWarning,
        OutputError,
        ProfileError,
        SchemaError,
    )
    from odqa_fast.judge.job import judge_file
    from odqa_fast.levels.job import levels_file
    from odqa_fast.metrics.resources import Resources
    from odqa_fast.metrics.spec import MetricSpec
    from odqa_fast.noise.job import noise_file
    from odqa_fast.profiles import PROFILES, Profile
    from odqa_fast.runs.summary import RunSummary
    from odqa_fast.schema import SAMPLES
    from odqa_fast.scores import ScoreTable
    from odqa_fast.scoring.job import diagnose, score, score_file
    from odqa_fast.scoring.single import MetricFunction, cr, normalize, par, tokenize
    from odqa_fast.signature import Signature
    from odqa_fast.steps.job import answer_file, compress_file

    em: MetricFunction
    f1: MetricFunction
    precision: MetricFunction
    recall: MetricFunction
    contains: MetricFunction


def __getattr__(name: str) -> object:
    value = None
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif not name.startswith("_"):
        # Every metric of a prediction and its answers is a function of its own name.
        value = import_module(f"{__name__}.scoring.single").metric_function(name)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
