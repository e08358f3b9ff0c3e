"""Models: their cards, their export to ONNX, and running them."""
