"""What two scorers cut from a prediction before they look at it."""

from __future__ import annotations


def none(prediction: str) -> str:
    """Every other scorer: nothing."""
    return prediction


def recomp(prediction: str) -> str:
    """Keep what follows the last `answer is `; without one, strip."""
    marker = "answer is "
    if marker in prediction:
        return prediction[prediction.rindex(marker) + len(marker) :]
    return prediction.strip()


def acorn(prediction: str) -> str:
    """Cut at the earliest of three stop texts and strip; with none of them, leave it alone."""
    stops = [prediction.find(stop) for stop in ("Question:", "\n\n", "</s>")]
    found = [at for at in stops if at >= 0]
    if not found:
        return prediction
    return prediction[: min(found)].strip()
