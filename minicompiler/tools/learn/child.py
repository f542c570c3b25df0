"""The learner's process: compiles programs with the build at hand and asks the parent for answers.

Started by `grading.Child` with the build first on the path; speaks JSON, a line each, over two
pipes. It runs no graph itself: the parent does, on tensors that this process learns only then.
Everything here is at the learner's mercy, and nothing it says decides.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch

HIDDEN = "torch._dynamo torch._inductor torch._functorch torch.export torch.fx.experimental".split()


def main(build: str, forbidden: str, asks: str, answers: str) -> None:
    sys.path.insert(0, build)
    import minicompiler

    assert Path(minicompiler.__file__).is_relative_to(build)
    parent = Parent(os.fdopen(int(asks), "w"), os.fdopen(int(answers)))
    mine = str(Path(build) / "minicompiler" / "mine")
    sys.addaudithook(lambda event, args: watch(event, args, forbidden, mine))
    for line in parent.answers:
        task = json.loads(line)
        parent.say(**{"done": getattr(parent, task["do"])(**task["with"])})


def watch(event: str, args: tuple[Any, ...], forbidden: str, mine: str) -> None:
    """Refuses, for this process, to open the reference, and for the learner's files to import what
    does the work elsewhere. An audit hook cannot be taken away (PEP 578)."""
    if event == "open" and isinstance(args[0], str) and args[0].startswith(forbidden):
        raise PermissionError(f"{args[0]} holds the reference; write the piece yourself")
    if event == "import" and any(args[0] == h or args[0].startswith(f"{h}.") for h in HIDDEN):
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename.startswith(mine):
            raise PermissionError(f"{args[0]} does what this exercise is about")


class Parent:
    """What can be asked of the other side, and what it asks of this one."""

    def __init__(self, asks: Any, answers: Any) -> None:
        self.asks, self.answers = asks, answers

    def say(self, **what: Any) -> None:
        self.asks.write(json.dumps(what) + "\n")
        self.asks.flush()

    def ask(self, **what: Any) -> Any:
        self.say(**what)
        return json.loads(self.answers.readline())

    # ------------------------------------------------------------------ what the parent wants done
    def program(self, source: str, calls: int) -> Any:
        """Each call's result, or exception, and what the module's `seen` holds at the end."""
        import minicompiler

        minicompiler.reset()
        space = module(source)
        f = minicompiler.compile(space["f"], backend=self.backend)
        return observe(space, f, calls)

    def check(self, seed: int) -> Any:
        """Does the learner's property find something? Whatever it raises counts, and is told."""
        import random

        import minicompiler

        mine = Path(minicompiler.__file__).parent / "mine"
        (file,) = mine.glob("exercise_*.py")
        prop = module(file.read_text(), str(file))["check"]  # imported, it would count as ours
        try:
            prop(lambda f: minicompiler.compile(f, backend="eager"), random.Random(seed))
        except AssertionError as error:
            return str(error) or "it differs"
        return None

    def backend(self, gm: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """The parent runs the graph."""
        number = self.ask(graph=nodes(gm))

        def run(*args: Any) -> Any:
            reply = self.ask(run=number, args=[encode(a) for a in args])
            if "raised" in reply:
                raise RuntimeError(reply["raised"])
            for arg, now in zip(args, reply["args"]):
                if isinstance(arg, torch.Tensor):
                    with torch.no_grad():
                        arg.copy_(decode(now))
            return decode(reply["result"])

        return run


def module(source: str, file: str = "<program>") -> dict[str, Any]:
    """The namespace of a program. Named, as a nameless one's classes count as Python's own."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, file, "exec"), space)
    return space


def observe(space: dict[str, Any], f: Callable[..., Any], calls: int) -> list[Any]:
    """What `calls` calls of a program show: `inputs(k)` makes the arguments of each."""
    shown: list[Any] = []
    for k in range(calls):
        try:
            shown.append(encode(f(*space["inputs"](k))))
        except Exception as error:
            shown.append({"raised": f"{type(error).__name__}: {error}"})
    return [*shown, encode(space.get("seen"))]


def nodes(gm: torch.fx.GraphModule) -> list[Any]:
    """A graph as lists: (name, kind, target, arguments)."""

    def plain(a: Any) -> Any:
        return encode(torch.fx.map_arg(a, lambda n: Reference(n.name)))

    rows = []
    for n in gm.graph.nodes:
        target = n.target if isinstance(n.target, str) else qualified(n.target)
        rows.append([n.name, n.op, target, plain(list(n.args)), plain(dict(n.kwargs))])
    return rows


class Reference(str):
    """The name of a node among the arguments of another."""


def qualified(target: Any) -> str:
    name: str = target.__name__
    homes: list[Any] = [torch, torch.nn.functional, torch.Tensor]
    for home in homes:
        if getattr(home, name, None) is target:
            return f"{home.__name__}.{name}"
    return f"{target.__module__.lstrip('_')}.{name}"


def encode(value: Any) -> Any:
    """Anything a program may return, as JSON."""
    if isinstance(value, Reference):
        return {"node": str(value)}
    if isinstance(value, torch.Tensor):
        flat = value.detach()
        return {"tensor": flat.tolist(), "dtype": str(value.dtype)[6:], "grad": value.requires_grad}
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            items = sorted(value, key=repr) if kind in (set, frozenset) else value
            return {kind.__name__: [encode(v) for v in items]}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"slice": [encode(p) for p in (value.start, value.stop, value.step)]}
    if isinstance(value, torch.dtype):
        return {"torch": str(value)[6:]}
    if isinstance(value, float):
        return {"float": value.hex()}
    return value if isinstance(value, int | str | bool | None) else {"other": type(value).__name__}


def decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return torch.tensor(value["tensor"], dtype=getattr(torch, value["dtype"]))
    ((kind, held),) = value.items()
    if kind in ("list", "tuple", "set"):
        return {"list": list, "tuple": tuple, "set": set}[kind](map(decode, held))
    if kind == "dict":
        return {decode(k): decode(v) for k, v in held}
    if kind == "slice":
        return slice(*map(decode, held))
    if kind == "torch":
        return getattr(torch, held)
    if kind == "float":
        return float.fromhex(held)
    raise TypeError(f"a {held} does not travel")


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
