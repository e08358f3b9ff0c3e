"""Models as ONNX graphs, built from their weights with numpy and onnx alone."""
