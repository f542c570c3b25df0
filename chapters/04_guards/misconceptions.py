"""What is often said of guards, and a run that shows what is so."""

from types import SimpleNamespace

import torch
from captured import beside_each

import minicompiler


def training_recompiles():
    """One graph for all steps, in both. The numbers in the parameters change, and no guard speaks
    of numbers in tensors."""

    class Model(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x).square().mean()

    models = []

    def make():
        models.append(Model(3, 3))
        return models[-1]

    def optimize():
        for model in models:
            for p in model.parameters():
                p.data -= 0.1 * torch.ones_like(p)

    beside_each(make, (torch.ones(2, 3),), optimize, optimize, optimize)


def any_change_recompiles():
    """Each of the calls comes after a change to what the frame uses: a new global, a new attribute
    of the module, another `training` of a layer that is not called. What was not read is not
    guarded."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())
    model.aside = torch.nn.Linear(3, 3)

    def make():
        def f(x):
            return model[1](model[0](x))

        return f

    def change_a_global():
        globals()["unheard_of"] = 1

    beside_each(
        make,
        (torch.ones(2, 3),),
        change_a_global,
        lambda: setattr(model, "note", "new"),
        lambda: model.aside.eval(),
    )


def each_instance_is_compiled_anew():
    """Three models, one graph, in both. The guards speak of classes, attributes and metadata, and
    these are the same; which tensors the parameters are is read anew at each call."""

    def make():
        def f(model, x):
            return model(x)

        return f

    models = [torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()) for _ in range(3)]
    beside_each(make, *((model, torch.ones(2, 3)) for model in models))


def fullgraph_means_no_recompile():
    """`fullgraph=True` refuses breaks. How often a graph is compiled is another matter: three
    values of `mode`, three graphs, each of them whole."""

    def f(x, o):
        return x.relu() if o.mode == "relu" else x.tanh() if o.mode == "tanh" else x.sin()

    compiled = minicompiler.compile(f, backend="eager", fullgraph=True)
    for mode in ("relu", "tanh", "sin", "relu"):
        compiled(torch.ones(2), SimpleNamespace(mode=mode))
    counts = minicompiler.stats()
    print(*(f"{counts[key]} {key}" for key in ("graphs", "breaks", "recompiles")))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)
