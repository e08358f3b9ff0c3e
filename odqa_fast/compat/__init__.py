"""Call signatures that people already use, on our kernels."""
