from typing import Any

def best_spans(
    start_logits: Any,
    end_logits: Any,
    lo: Any,
    hi: Any,
    longest: int,
    starts: Any,
    ends: Any,
    scores: Any,
) -> None: ...
