"""What every test shares: where real data lie, and how hard Hypothesis tries."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from reference.store import SHARED

# Tests import onnxruntime beside the product, and before it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# A value outside the range that its metric declares is an error, also in processes of tests.
os.environ["ODQA_FAST_CHECK_RANGES"] = "1"

settings.register_profile(
    "odqa",
    deadline=None,  # the first call loads the kernels
    max_examples=int(os.environ.get("ODQA_FAST_EXAMPLES", "150")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
settings.load_profile("odqa")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: gigabytes of text; only with ODQA_FAST_SLOW=1")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("slow") and not os.environ.get("ODQA_FAST_SLOW"):
        pytest.skip("slow: set ODQA_FAST_SLOW=1")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data, fault reports and all reference records: not in the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared folder: {SHARED} is missing (name it in ODQA_FAST_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny decoder as a model folder."""
    import tiny_models

    return tiny_models.llama(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder-decoder as a model folder."""
    import tiny_models

    return tiny_models.t5(tmp_path_factory.mktemp("models"))


# They need torch and transformers, which the product does not: `make parity` installs them.
collect_ignore = [] if find_spec("transformers") else ["parity"]
