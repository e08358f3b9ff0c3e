"""JSON of models: whatever stands in it, reading it ends in a value or in an error of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from odqa_fast.errors import ModelError


def parse_json(text: str | bytes, where: Path | str, otherwise: str = "cannot be read") -> Any:
    """The value of a JSON text.

    Args:
        text: as text or as UTF-8.
        where: names it in errors.
        otherwise: what is said of it where it has no value.

    Raises:
        ModelError: it is no JSON, nested too deeply, or holds text that is not Unicode.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = json.loads(text)
        if "\\u" in text:
            # An escape may stand for half a surrogate pair, which no text of ours can hold.
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ModelError(f"{otherwise}: it is nested too deeply.", where=str(where)) from None
    except ValueError as error:
        raise ModelError(f"{otherwise}: {error}.", where=str(where)) from None
    return value
