"""Export: translate a traced program into another system's operators, here a model of ONNX."""

import re

import torch
from onnx import TensorProto, checker, helper, numpy_helper, printer
from onnxruntime import InferenceSession
from program import Name
from torch import Tensor
from tracer import trace

SAME = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "matmul": "MatMul"}
SAME |= {"abs": "Abs", "neg": "Neg", "tanh": "Tanh", "gelu": "Gelu", "gt": "Greater"}


def operator(target, args):
    """The name, inputs and attributes that ONNX has for a call."""
    match target, args:
        case "linear", [x, weight, bias]:
            return "Gemm", [x, weight, bias], {"transB": 1}
        case "layer_norm", [x, shape, weight, bias, eps]:
            return "LayerNormalization", [x, weight, bias], {"axis": -len(shape), "epsilon": eps}
        case "sum" | "max", [x]:
            return f"Reduce{target.title()}", [x], {"keepdims": 0}
        case _ if target in SAME:
            return SAME[target], args, {}
    raise NotImplementedError(f"ONNX has no {target}, or we do not know it")


def information(name, x, dynamic):
    shape = [f"{name}_{i}" for i in range(x.ndim)] if dynamic else x.shape
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class Exported:
    def __init__(self, f, *inputs, dynamic=False):
        program, nodes, self.constants = trace(f, *inputs), [], []
        for name, target, args, kwargs in program.lines:
            kind, args, attributes = operator(target.__name__, [*args, *kwargs.values()])
            nodes.append(helper.make_node(kind, [*map(self.given, args)], [name], **attributes))
        result = self.given(program.output)
        values = {**dict(zip(program.inputs, inputs)), result: program(*inputs)}
        infos = [information(*item, dynamic) for item in values.items()]
        graph = helper.make_graph(nodes, "graph", infos[:-1], infos[-1:], self.constants)
        opset = [helper.make_opsetid("", 20)]
        self.model = helper.make_model(graph, opset_imports=opset, ir_version=10)
        checker.check_model(self.model)
        self.session = InferenceSession(self.model.SerializeToString())
        self.inputs = program.inputs

    def given(self, value):
        if not isinstance(value, Name):  # a constant is stored in the model
            tensor = value.detach() if isinstance(value, Tensor) else torch.tensor(float(value))
            name = Name(f"c{len(self.constants)}")
            self.constants.append(numpy_helper.from_array(tensor.numpy(), name))
            value = name
        return value

    def __call__(self, *inputs):
        values = {name: x.numpy() for name, x in zip(self.inputs, inputs)}
        return torch.from_numpy(self.session.run(None, values)[0])

    def __str__(self):
        text = re.sub(r"\{[^{}\n]{12,}\}", "{...}", printer.to_text(self.model.graph))
        return re.sub(r" +$", "", text, flags=re.MULTILINE)


if __name__ == "__main__":
    from running import Block

    block, x = Block(), torch.randn(4, 8)
    exported = Exported(block, x)
    print(exported)
    print("close:", torch.allclose(exported(x), block(x), atol=1e-6))
