from __future__ import annotations

from pathlib import Path

import pytest
import tiny_models


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.llama(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.t5(tmp_path_factory.mktemp("models"))
