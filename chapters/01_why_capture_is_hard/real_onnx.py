"""Our export and torch.onnx.export against the limits; all models run in ONNX Runtime."""

import contextlib
import io
import logging

import torch
from export import Exported
from limits import table
from onnxruntime import InferenceSession


class Function(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.forward = f


def exported(dynamo, **sizes):
    """`make` for a table."""

    def make(f, x):
        file, quiet = io.BytesIO(), io.StringIO()
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            names = {"input_names": ["x"], "output_names": ["y"]}
            torch.onnx.export(Function(f), (x,), file, dynamo=dynamo, **names, **sizes)
        session = InferenceSession(file.getvalue())
        return lambda x: torch.from_numpy(session.run(None, {"x": x.numpy()})[0])

    return make


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    free = torch.export.Dim.DYNAMIC
    table(
        {
            "ours": lambda f, x: Exported(f, x, dynamic=True),
            "of trace": exported(False, dynamic_axes={"x": [0]}),
            "of export": exported(True, dynamic_shapes=({0: free},)),
        }
    )
    logging.disable(logging.NOTSET)
