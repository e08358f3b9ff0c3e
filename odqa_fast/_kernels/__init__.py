"""The compiled kernels; their sources are in src/kernels and src/core."""
