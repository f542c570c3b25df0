"""Guards: what is read from outside is noted with the way to it, and checked at the next call."""

from types import SimpleNamespace

import torch
from torch import fx


class Outside:
    """An object that evaluation looks into."""

    def __init__(self, real, source, rows):
        vars(self).update(real=real, source=source, rows=rows)

    def __getattr__(self, name):
        return read(getattr(self.real, name), f"{self.source}.{name}", self.rows)


def read(real, source, rows):
    """What evaluation goes on with; what it thereby relies on becomes rows."""
    rows[f"type({source}) is {type(real).__name__}"] = None
    if isinstance(real, (int, float, str)):
        rows[f"{source} == {real!r}"] = None
        return real
    return Outside(real, source, rows)


def compile(f):
    entries = []

    def run(x, options):
        for check, gm in entries:
            if check(x, options):
                return gm(x)
        graph, rows = fx.Graph(), {}
        proxy = fx.Proxy(graph.placeholder("x"), fx.proxy.GraphAppendingTracer(graph))
        rows["type(x) is Tensor"] = rows[f"(x.dtype, x.shape) == {x.dtype, tuple(x.shape)}"] = None
        graph.output(f(proxy, read(options, "options", rows)).node)
        print("compiled", len(graph.nodes) - 2, "operations, which hold while")
        print(*[f"    {row}" for row in rows], sep="\n")
        names = {"torch": torch, "Tensor": torch.Tensor, "SimpleNamespace": SimpleNamespace}
        check = eval(f"lambda x, options: {' and '.join(rows)}", names)
        entries.insert(0, (check, fx.GraphModule({}, graph)))
        return entries[0][1](x)

    return run


def f(x, options):
    return x * options.scale + 1 if options.mode == "scaled" else x


if __name__ == "__main__":
    compiled, options = compile(f), SimpleNamespace(mode="scaled", scale=2.0, unread=0)
    print(compiled(torch.ones(2), options))
    options.unread = 1  # nobody asked
    print(compiled(torch.zeros(2), options))
    options.mode = "plain"
    print(compiled(torch.ones(2), options))
