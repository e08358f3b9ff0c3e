"""Covers: that the tests look at the package that they are meant to look at, where the caller says.

The folder odqa_fast/ of the source tree would shadow a wheel that lacks a file, and kernels without
sanitizers find no fault.
Run: ODQA_FAST_EXPECT_FOLDER=site-packages pytest tests/test_installed.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import odqa_fast
import odqa_fast._kernels.match


@pytest.mark.skipif(
    "ODQA_FAST_EXPECT_FOLDER" not in os.environ,
    reason="set ODQA_FAST_EXPECT_FOLDER=site-packages where a wheel is installed; CI does",
)
def test_the_package_under_test_lies_where_it_should() -> None:
    folder = os.environ["ODQA_FAST_EXPECT_FOLDER"]
    assert folder in Path(odqa_fast.__file__).parts
    assert folder in Path(str(odqa_fast._kernels.match.__file__)).parts


def test_every_public_name_loads() -> None:
    # Metrics of a prediction and answers have no home: their names are found among the metrics.
    metrics = {"em", "f1", "precision", "recall", "contains"}
    assert set(odqa_fast.__all__) == {"__version__", *odqa_fast._HOME, *metrics}
    for name in odqa_fast.__all__:
        assert getattr(odqa_fast, name) is not None
