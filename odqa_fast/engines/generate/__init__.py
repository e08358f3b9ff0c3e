"""Text from a model folder: tokens, batches, caches and the engine around them.

A request becomes a `Job` (`job`); `order` says which run together. A decoder whose cache is one
buffer (`shared_cache`) has places that prompts enter and leave one by one (`slots`); the others
(`growing`) run batch after batch (`batches`).
"""

from odqa_fast.engines.generate.onnx import OnnxEngine
from odqa_fast.engines.generate.sampling import Sampling

__all__ = ["OnnxEngine", "Sampling"]
