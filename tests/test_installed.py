"""Covers: that the tests look at the installed package, where CI asks for it.

The folder odqa_fast/ of the source tree would shadow a wheel that lacks a file.
Run: ODQA_FAST_EXPECT_INSTALLED=1 pytest tests/test_installed.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import odqa_fast


@pytest.mark.skipif(
    "ODQA_FAST_EXPECT_INSTALLED" not in os.environ,
    reason="set ODQA_FAST_EXPECT_INSTALLED=1 where a wheel is installed; CI does",
)
def test_the_package_under_test_is_the_installed_one() -> None:
    assert "site-packages" in Path(odqa_fast.__file__).parts


def test_every_public_name_loads() -> None:
    assert set(odqa_fast.__all__) == {"__version__", *odqa_fast._HOME}
    for name in odqa_fast.__all__:
        assert getattr(odqa_fast, name) is not None
