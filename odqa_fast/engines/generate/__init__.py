"""Text from the graphs of a model folder: tokens, batches and caches.

A request becomes a `Decoding` (`decoding`); `scheduling` says which run together. A decoder whose
cache is one buffer (`shared_cache`) has places that prompts enter and leave one by one
(`continuous_batching`); the others (`dynamic_cache`) run batch after batch (`static_batching`).
"""
