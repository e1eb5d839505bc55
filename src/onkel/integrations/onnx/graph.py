"""ONNX graphs under construction: nodes and constants by name. The only file that imports onnx."""

from typing import Any

import numpy as np

OPSET, IR_VERSION = 17, 8  # of 2022, so that older runtimes read the files too
LARGEST = 2**31 - 2**20  # bytes: a file of ONNX ends before 2 GiB
F64 = np.dtype(np.float64)


class Graph:
    """A graph over float64 `rows` that computes in one floating type.

    What a call takes is the name of something in the graph, or numbers, which become a constant in their own type.
    """

    def __init__(self, width: int, real: Any) -> None:
        self.onnx = _imported()
        self.width, self.real = width, np.dtype(real).type
        self.nodes, self.constants, self.outputs = list[Any](), list[Any](), list[Any]()

    def __call__(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node; returns the name of what it computes."""
        names = [given if isinstance(given, str) else self._constant(given) for given in inputs]
        return self._node(operator, names, f"{operator.lower()}_{len(self.nodes) + 1}", **attributes)

    def cast(self, name: str, dtype: Any) -> str:
        """The same numbers in another type."""
        return self("Cast", name, to=self._code(dtype))

    def output(self, name: str, found: str, dtype: Any, *more_axes: int) -> None:
        """Give what was found a name that users of the file ask for."""
        self._node("Identity", [found], name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, self._code(dtype), ["n", *more_axes]))

    def packed(self, notes: dict[str, str], version: str) -> bytes:
        """The file."""
        helper = self.onnx.helper
        if sum(constant.ByteSize() for constant in self.constants) > LARGEST:
            raise ValueError("The model is too large for a file of ONNX, which ends at 2 GiB.")
        rows = helper.make_tensor_value_info("rows", self._code(F64), ["n", self.width])
        graph = helper.make_graph(self.nodes, "onkel", [rows], self.outputs, self.constants)
        opset, maker = [helper.make_opsetid("", OPSET)], {"producer_name": "onkel", "producer_version": version}
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, **maker)
        helper.set_model_props(model, notes)
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _node(self, operator: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _constant(self, values: Any) -> str:
        name = f"constant_{len(self.constants) + 1}"
        array = np.array(values, order="C")  # a copy: ONNX knows no strides
        if array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def _code(self, dtype: Any) -> int:
        kind = np.dtype(object if np.dtype(dtype).kind == "U" else dtype)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(kind))


def _imported() -> Any:
    try:
        import onnx
        import onnx.checker  # which `import onnx` alone need not bring along
    except ModuleNotFoundError:
        raise ValueError("Exporting needs the package onnx: `pip install onkel[onnx]`.") from None
    return onnx
