"""Compressors: every module here without an underscore is one, under its own name.

It holds `open_compressor(argument, options)`; see `components`.
"""

from __future__ import annotations

from dataclasses import dataclass

from odqa_fast.engines.base import Compressor
from odqa_fast.engines.opening import open_engine
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.plugins import Plugins
from odqa_fast.profiles import DEFAULT_PROFILE, PROFILES, Profile
from odqa_fast.steps.components import ComponentOptions, open_component
from odqa_fast.steps.prompted import PromptedCompressor, PromptedLevelCompressor

#: Those that are no model; every engine is a compressor as well.
COMPRESSORS = Plugins("compressor", __name__, "odqa_fast.compressors")


@dataclass(frozen=True, kw_only=True)
class CompressorOptions(ComponentOptions):
    """What a compressor may be told beside its tasks.

    Attributes:
        to_level: whether tasks have a level; else a model summarizes, in a length of the prompt's.
        seed: for those that draw.
        profile: whose rules say what an answer is.
    """

    to_level: bool = True
    seed: int = 0
    profile: Profile = PROFILES[DEFAULT_PROFILE]


def open_compressor(asked: str, options: CompressorOptions | None = None) -> Compressor:
    """The compressor of a name, e.g. `bm25` or `onnx:FOLDER`.

    Raises:
        OdqaError, ModelError, EngineError: see `components.open_component`.
    """
    given = options or CompressorOptions()

    def open_model() -> Compressor:
        if not given.to_level:
            prompt = load_prompt(given.prompt or "compress", "compress")
            return PromptedCompressor(open_engine(asked, given.engine), prompt)
        prompt = load_prompt(given.prompt or "compress-level", "compress-level")
        blind = load_prompt(given.prompt or "compress-level-blind", "compress-level")
        return PromptedLevelCompressor(open_engine(asked, given.engine), prompt, blind)

    return open_component(COMPRESSORS, asked, given, open_model)
