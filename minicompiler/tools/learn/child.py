"""The learner's process: compiles programs with the build at hand and asks the parent for answers.

It is a fork of a server that `grading.Server` starts, which has imported torch and runs nothing of
the learner's. It speaks JSON, a line each, over two pipes, and runs no graph itself: the parent
does, on tensors that this process learns only then. Everything here is at the learner's mercy, and
nothing it says decides.
"""

import _posixsubprocess
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

MEMORY, PRINTED = 8 << 30, 64 << 20  # bytes
OTHERS = ("_dynamo", "_inductor", "fx/_symbolic_trace.py")  # of torch: they do what is to be done


# --------------------------------------------------------------------------------------- the server
def serve(control: socket.socket, own: list[str]) -> None:
    """Asked with three descriptors, it makes a process and says its number; asked with a number,
    it ends that process. When nobody can ask any more, it ends all."""
    import bytecode  # noqa: F401  what the compiler imports, once
    import torch._meta_registrations  # noqa: F401

    hidden = frozenset(inodes([*own, *(f"{torch.__path__[0]}/{name}" for name in OTHERS)]))
    alive: set[int] = set()
    while asked := heard(control):
        text, given = asked
        if not given:
            end(int(text))
            alive.discard(int(text))
            answer(control, "ended")
        elif number := os.fork():
            alive.add(number)
            for descriptor in given:
                os.close(descriptor)
            answer(control, str(number))
        else:
            control.close()
            os.setsid()
            os.dup2(given[2], 1)
            os.dup2(given[2], 2)
            os.chdir(text)
            for what, most in ("CPU", 240), ("AS", MEMORY), ("FSIZE", PRINTED), ("CORE", 0):
                resource.setrlimit(getattr(resource, f"RLIMIT_{what}"), (most, most))
            main(text, hidden, *given[:2])
    for number in alive:
        end(number)


def heard(control: socket.socket) -> tuple[str, list[int]] | None:
    try:
        text, given, _, _ = socket.recv_fds(control, 4096, 3)
    except OSError:  # the other side went in the middle of something
        return None
    return (text.decode(), given) if text else None


def answer(control: socket.socket, text: str) -> None:
    with suppress(OSError):  # the same: `heard` will see it
        control.send(text.encode())


def end(number: int) -> None:
    try:
        os.killpg(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # before its setsid
        os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)


def inodes(places: list[str]) -> Any:
    """Every file at or below, whatever its name may be elsewhere."""
    for place in map(Path, places):
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.is_file():
                yield path.stat().st_dev, path.stat().st_ino


# ------------------------------------------------------------------------------ a learner's process
def main(build: str, hidden: frozenset[Any], asks: int, answers: int) -> None:
    sys.path.insert(0, build)
    sys.dont_write_bytecode = True
    import minicompiler

    assert Path(minicompiler.__file__).is_relative_to(build)
    parent = Parent(os.fdopen(asks, "w"), os.fdopen(answers))
    vars(subprocess)["_fork_exec"] = vars(_posixsubprocess)["fork_exec"] = None
    del torch.fx.Tracer.trace  # another way to a graph
    sys.addaudithook(watcher(hidden))
    for line in parent.answers:
        task = json.loads(line)
        parent.say(**{"done": getattr(parent, task["do"])(**task["with"])})
    os._exit(0)


def watcher(hidden: frozenset[Any]) -> Callable[..., None]:
    """An audit hook, which cannot be taken away (PEP 578): it refuses to read what is hidden, to
    write at all, and to ask other processes. What it uses is out of the learner's reach: defaults
    of a function that nothing refers to."""
    means = (hidden, os.stat, type, (str, bytes), PermissionError, OSError, str.startswith)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    plain = frozenset(f"os.{n}" for n in "listdir scandir walk fwalk chdir putenv unsetenv".split())
    away = ("os.", "subprocess.", "ctypes.", "socket.", "gc.get_objects", "gc.get_referrers")

    def watch(event: str, args: Any, m: Any = means, rules: Any = (writing, plain, away)) -> None:
        hidden, stat, kind, names, error, absent, starts = m
        writing, plain, away = rules
        if event == "open":
            path, _, flags = args
            if kind(path) not in names:
                raise error("a file is opened by its name here")
            if flags & writing and path != "/dev/null":
                raise error(f"{path} cannot be written here: print what you want to see")
            try:
                found = stat(path)
            except absent:
                return
            if (found.st_dev, found.st_ino) in hidden or found.st_mode & 0o170000 == 0o040000:
                raise error(f"{path} is closed to your answer: write the piece yourself")
        elif starts(event, away) and event not in plain:
            raise error(f"{event} is closed to your answer: write the piece yourself")
        elif event == "import" and args[0] == "_posixsubprocess":
            raise error("no other process: write the piece yourself")

    return watch


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
        options = {"verify": True}  # errors of the piece are told, not swallowed
        f = minicompiler.compile(space["f"], backend=self.backend, options=options)
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
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
