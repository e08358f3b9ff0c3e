"""Building an ONNX graph node by node, with its weights streamed to a file beside it.

Weights go to `<graph>.data` as they are added, so that the memory needed is one tensor's, whatever
the size of the model, and protobuf's limit of 2 GB is never met.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from odqa_fast.engines.card import DType
from odqa_fast.errors import ModelError

#: Operators of onnxruntime's own, in the domain com.microsoft.
_CONTRIB = frozenset(
    {
        "Attention",
        "BiasGelu",
        "DynamicQuantizeMatMul",
        "FastGelu",
        "GroupQueryAttention",
        "MultiHeadAttention",
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    }
)
#: Smaller tensors stay in the graph: shapes and axes must, onnxruntime reads them while it loads.
INLINE_BYTES = 1024
#: onnxruntime maps external data into memory where it lies on a page.
PAGE_BYTES = 4096

FLOAT, FLOAT16, INT32, INT64 = (
    TensorProto.FLOAT,
    TensorProto.FLOAT16,
    TensorProto.INT32,
    TensorProto.INT64,
)

Array = npt.NDArray[Any]


class GraphBuilder:
    """One graph. Methods return the names of what they add, to be the inputs of what follows.

    Args:
        path: the .onnx file.
        dtype: of the weights, and of what is computed between fp32 inputs and outputs.
    """

    def __init__(self, path: Path, dtype: DType = "fp32") -> None:
        self.dtype = dtype
        #: The element type of weights and of what flows between nodes.
        self.float = FLOAT16 if dtype == "fp16" else FLOAT
        self._path = path
        self._data = path.with_name(path.name + ".data").open("wb")
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def __enter__(self) -> GraphBuilder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._data.close()
        if error is None:
            self._save()

    def input(self, name: str, kind: int, *shape: int | str) -> str:
        """Declare an input; a dimension that is a text may have any size."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, kind: int, *shape: int | str) -> None:
        """Declare that the value of this name is an output."""
        self._outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add a node with one output."""
        return self.ops(kind, inputs, [out or f"{kind}.{len(self._nodes)}"], **attributes)[0]

    def ops(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> Sequence[str]:
        """Add a node; an output named "" is not wanted."""
        domain = "com.microsoft" if kind in _CONTRIB else ""
        name = f"{kind}.{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes)
        )
        return outputs

    def ints(self, *values: int) -> str:
        """A constant vector of int64."""
        return self._constant(f"ints{list(values)}", np.array(values, np.int64))

    def scalar(self, value: float, kind: npt.DTypeLike) -> str:
        """A constant without dimensions."""
        return self._constant(f"{np.dtype(kind)}({value})", np.array(value, kind))

    def weight(self, name: str, values: Array, *, fp32: bool = False) -> str:
        """A constant tensor of floats, in the graph's own element type unless fp32 is asked for.

        Raises:
            ModelError: a value is not finite, or is too large for fp16.
        """
        half = self.float == FLOAT16 and not fp32
        with np.errstate(over="ignore"):
            stored = values.astype(np.float16 if half else np.float32, copy=False)
        if not np.isfinite(stored).all():
            fits = bool(np.isfinite(values).all())
            raise ModelError(
                f"the weight {name} "
                + ("has values too large for fp16." if fits else "is not finite."),
                hint="Export with --dtype fp32." if fits else "Fetch the model again.",
            )
        return self._constant(name + (".fp32" if fp32 else ""), stored)

    def linear(self, x: str, name: str, weight: Array, bias: Array | None = None) -> str:
        """Multiply x [..., in] by the transpose of a weight [out, in]; add a bias [out]."""
        if self.dtype == "int8":
            return self._int8_linear(x, name, weight, bias)
        y = self.op("MatMul", x, self.weight(name, weight.T))
        return y if bias is None else self.op("Add", y, self.weight(f"{name}.bias", bias))

    def fp32_linear(self, x: str, name: str, weight: Array) -> str:
        """Multiply in fp32: x is in the graph's type, the result in fp32."""
        wide = self.op("Cast", x, to=FLOAT) if self.float != FLOAT else x
        return self.op("MatMul", wide, self.weight(name, weight.T, fp32=True))

    def _int8_linear(self, x: str, name: str, weight: Array, bias: Array | None) -> str:
        scale = np.abs(weight).max(axis=1) / np.float32(127)
        scale[scale == 0] = 1
        codes = np.rint(weight / scale[:, None]).astype(np.int8)
        inputs = [
            x,
            self._constant(f"{name}.int8", codes.T),
            self._constant(f"{name}.scale", scale.astype(np.float32)),
            "",
            *([] if bias is None else [self.weight(f"{name}.bias", bias)]),
        ]
        return self.op("DynamicQuantizeMatMul", *inputs)

    def _constant(self, name: str, values: Array) -> str:
        if name not in self._tensors:
            self._tensors[name] = self._stored(name, np.asarray(values, order="C"))
        return name

    def _stored(self, name: str, values: Array) -> TensorProto:
        if values.nbytes < INLINE_BYTES:
            return onnx.numpy_helper.from_array(values, name)
        tensor = TensorProto(
            name=name,
            dims=values.shape,
            data_type=helper.np_dtype_to_tensor_dtype(values.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        self._data.write(b"\0" * (-self._data.tell() % PAGE_BYTES))
        place = {
            "location": Path(self._data.name).name,
            "offset": self._data.tell(),
            "length": values.nbytes,
        }
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._data.write(cast("memoryview[Any]", values.data))
        return tensor

    def _save(self) -> None:
        graph = helper.make_graph(
            self._nodes, self._path.stem, self._inputs, self._outputs, list(self._tensors.values())
        )
        # IR 10 and opset 21 are what onnxruntime reads since 1.20.
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=10, producer_name="odqa_fast"
        )
        self._path.write_bytes(model.SerializeToString(deterministic=True))
