"""`score` with the call signature and the numbers of `bert_score.score` 0.3.13.

    from odqa_fast.compat.bert_score import score

    P, R, F = score(candidates, references, model_type="minilm/")

`model_type` is the folder of an encoder: `odqa-fast models export minilm-l6 --out minilm`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from odqa_fast.metrics._bertscore import Idf, Seen, rescaled, shared_matcher

if TYPE_CHECKING:
    from odqa_fast.engines.session import Device

#: One float64 array of n values.
Column = npt.NDArray[np.float64]


def score(
    cands: Sequence[str],
    refs: Sequence[str] | Sequence[Sequence[str]],
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: bool | Mapping[int, float] = False,
    device: Device | None = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
) -> Any:
    """Scores candidates against their references.

    Args:
        cands: n texts.
        refs: n texts, or n lists of texts; of several the best counts, for each number on its own.
        model_type: folder of an exported encoder.
        num_layers: has to be the layer the encoder was exported at, where it is given.
        verbose: has no effect.
        idf: weigh tokens by how rare they are among `refs`, or by these weights (0 where a token
            has none).
        device: `cuda`, `cpu`, or None for a GPU if there is one.
        batch_size: has no effect: no value depends on the other pairs.
        nthreads: has no effect.
        all_layers: not supported.
        lang: has no effect: the folder decides.
        return_hash: also return the signature of the model and the options.
        rescale_with_baseline: rescale by the row of `baseline_path` for the model's layer.
        baseline_path: a file of bert-score's `rescale_baseline` folder, or one like it.
        use_fast_tokenizer: has no effect: `tokenizers` it is.

    Returns:
        Precision, recall and F, one float64 array of n each; with `return_hash` a pair of those
        three and a text.

    Raises:
        ValueError: lengths differ, no model, `all_layers`, a layer or baseline that is not there.
        ModelError, EngineError: the model cannot be opened.
    """
    if len(cands) != len(refs):
        raise ValueError("Different number of candidates and references")
    if model_type is None:
        raise ValueError("model_type has to name the folder of an exported encoder")
    if all_layers:
        raise ValueError("all_layers is not supported: an encoder is exported at one layer")
    matcher = shared_matcher(model_type, device or "auto")
    layer = matcher.encoder.layer
    if num_layers not in (None, layer):
        raise ValueError(f"the encoder was exported at layer {layer}, not {num_layers}")
    groups = [[group] if isinstance(group, str) else list(group) for group in refs]
    if not all(groups):
        raise ValueError("a candidate has no reference")
    flat = [text for group in groups for text in group]
    weights: Idf | None = None
    if isinstance(idf, Mapping):
        weights = Idf(None, idf)
    elif idf:
        weights = matcher.idf(flat)
    hypotheses = [c for c, group in zip(cands, groups, strict=True) for _ in group]
    scores = matcher.scores(hypotheses, flat, weights, Seen())
    if groups:
        starts = np.cumsum([0, *map(len, groups[:-1])])
        scores = np.maximum.reduceat(scores, starts, axis=0)
    if rescale_with_baseline:
        if baseline_path is None:
            raise ValueError("rescale_with_baseline needs a baseline_path")
        scores = rescaled(scores, _baseline(Path(baseline_path), layer))
    columns: tuple[Column, Column, Column] = (scores[:, 0], scores[:, 1], scores[:, 2])
    if not return_hash:
        return columns
    told = "idf" if weights is not None else "no-idf"
    scale = "-rescaled" if rescale_with_baseline else ""
    return columns, f"{matcher.encoder.signature}_{told}{scale}"


def _baseline(path: Path, layer: int) -> list[float]:
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row.get("LAYER") == str(layer):
                return [float(row[part]) for part in "PRF"]
    raise ValueError(f"{path} has no row for layer {layer}")
