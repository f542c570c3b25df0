"""`make tour`: a small GPT learns to add two numbers, eagerly and compiled, side by side.

Both models start from the same weights and see the same sums, so their losses must stay together.
At the end: what each stage of the compiler made, the two loss curves, the accuracy on sums that
were never trained on, and the time of a step.
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import torch
import torch.nn.functional as F
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from torch import Tensor

from .gpt import GPT, Shape

ALPHABET = "0123456789+="
DIGITS = 3  # of each number; the sum has one more
QUESTION, ANSWER = 2 * DIGITS + 2, DIGITS + 1  # "123+456=" and "9750": the last digit first
CLOSE = 1e-3  # how far apart, relatively, the losses of the first steps may be
TOLD = 50  # steps between two lines where there is no terminal to draw in
FIRST_STEPS = 50  # later, rounding in another order has grown into another, equally good, path
WANTED = 0.98  # accuracy on held-out sums

Loss = Callable[[GPT, Tensor], Tensor]


# ----------------------------------------------------------------------------------------- the task


def write_sums(pairs: Tensor) -> Tensor:
    """Pair number a * 1000 + b to the characters of "a+b=" and the sum, its last digit first."""
    a, b = pairs // 10**DIGITS, pairs % 10**DIGITS
    sign = torch.full_like(pairs[:, None], ALPHABET.index("+"))
    columns = [digits(a, DIGITS), sign, digits(b, DIGITS), sign + 1, digits(a + b, ANSWER).flip(1)]
    return torch.cat(columns, 1)


def digits(numbers: Tensor, width: int) -> Tensor:
    return torch.stack([numbers // 10**i % 10 for i in reversed(range(width))], 1)


class Sums:
    """All sums in one random order: training takes from the front, the test from the end."""

    def __init__(self, seed: int, held_out: int) -> None:
        order = torch.Generator().manual_seed(seed)
        pairs = torch.randperm(10 ** (2 * DIGITS), generator=order)
        self.train, self.held_out = pairs[:-held_out], write_sums(pairs[-held_out:])

    def batch(self, step: int, size: int) -> Tensor:
        where = torch.arange(step * size, (step + 1) * size) % len(self.train)
        return write_sums(self.train[where])


def loss_of(model: GPT, text: Tensor) -> Tensor:
    """How surprised the model is by the characters of the answers."""
    return surprise(model(text[:, :-1]), text)


def surprise(scores: Tensor, text: Tensor) -> Tensor:
    wanted = text[:, -ANSWER:].reshape(-1)
    return F.cross_entropy(scores[:, -ANSWER:].reshape(-1, len(ALPHABET)), wanted)


def watched_loss(model: GPT, text: Tensor) -> Tensor:
    """The same, observed: it keeps count, a side effect, and looks at the scores, which breaks the
    graph in two, for forward and backward."""
    model.seen.append(len(text))
    scores = model(text[:, :-1])
    if scores.abs().max() > 1e3:
        print("the scores explode")
    return surprise(scores, text)


@torch.no_grad()
def answers(model: GPT, sums: Tensor) -> Tensor:
    """The sums as the model ends them, one most likely character at a time."""
    text = sums[:, :QUESTION]
    for _ in range(ANSWER):
        text = torch.cat([text, model(text)[:, -1:].argmax(-1)], 1)
    return text


def accuracy(model: GPT, sums: Tensor) -> float:
    return (answers(model, sums) == sums).all(1).float().mean().item()


def readable(text: Tensor) -> str:
    """Sums in the order in which people write them."""
    lines = ["".join(ALPHABET[c] for c in row) for row in text.tolist()]
    return "   ".join(line[:QUESTION] + line[QUESTION:][::-1] for line in lines)


# ------------------------------------------------------------------------------------- the training


@dataclass
class Runner:
    """One of the two models on its way."""

    name: str
    loss_of: Loss
    steps: int
    seed: int
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        torch.manual_seed(self.seed)
        self.model = GPT(Shape(vocabulary=len(ALPHABET), context=QUESTION + ANSWER - 1))
        self.model.seen = []  # how many sums at a time, where the loss is watched
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0, betas=(0.9, 0.95))

    def step(self, text: Tensor) -> None:
        start = time.perf_counter()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(len(self.losses), self.steps)
        self.optimizer.zero_grad()
        loss = self.loss_of(self.model, text)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.losses.append(loss.item())
        self.seconds.append(time.perf_counter() - start)

    @property
    def step_seconds(self) -> float:
        """The median: the first steps, which compile, do not count."""
        return statistics.median(self.seconds)


def learning_rate(step: int, steps: int, peak: float = 2e-3, warm_up: int = 50) -> float:
    """Up in a line, down in half a cosine."""
    down = 0.5 + 0.5 * math.cos(math.pi * step / steps)
    return peak * min(1.0, (step + 1) / warm_up) * max(down, 0.05)


def train_side_by_side(runners: list[Runner], sums: Sums, batch: int, console: Console) -> None:
    columns = [
        TextColumn("{task.description:>9}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  {task.fields[ms]:5.0f} ms a step"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bars = [progress.add_task(r.name, total=r.steps, loss=0.0, ms=0.0) for r in runners]
        for step in range(runners[0].steps):
            text = sums.batch(step, batch)
            for runner, bar in zip(runners, bars):
                runner.step(text)
                loss, ms = runner.losses[-1], runner.seconds[-1] * 1e3
                progress.update(bar, advance=1, loss=loss, ms=ms)
            if not console.is_terminal and (step + 1) % TOLD == 0:
                told = ", ".join(f"{r.name} loss {r.losses[-1]:.4f}" for r in runners)
                console.print(f"step {step + 1} of {runners[0].steps}: {told}", highlight=False)


# -------------------------------------------------------------------------------------- the report

MADE = [  # stage, what it made: the key in stats(), what to call it
    ("capture", [("frames", "frames"), ("graphs", "graphs"), ("breaks", "breaks")]),
    ("", [("guards", "guards"), ("recompiles", "recompiles")]),
    ("aot", [("joint_nodes", "joint nodes"), ("saved_bytes", "bytes saved for backward")]),
    ("lower", [("loops", "loops"), ("native_ops", "operators lowered")]),
    ("", [("fallback_ops", "operators left to torch")]),
    ("schedule", [("fusions", "fusions")]),
    ("codegen", [("kernels", "kernels")]),
    ("build", [("cache_hits", "kernels found in the cache")]),
]


def stages(stats: dict[str, Any]) -> Table:
    """What each stage made and how long it took; "-" where the compiler does not say."""
    table = Table(title="what the compiler made")
    table.add_column("stage")
    table.add_column("made")
    table.add_column("seconds", justify="right")
    seconds = stats.get("seconds", {})
    for stage, counts in MADE:
        made = ", ".join(f"{number(stats.get(key))} {name}" for key, name in counts)
        table.add_row(stage, made, f"{seconds[stage]:.2f}" if stage in seconds else "")
    table.add_row("all", "", f"{sum(seconds.values()):.2f}" if seconds else "-")
    return table


def number(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def relative_difference(a: list[float], b: list[float]) -> float:
    return max((abs(x - y) / max(abs(x), 1e-12) for x, y in zip(a, b)), default=0.0)


def difference(a: list[float], b: list[float]) -> float:
    return max((abs(x - y) for x, y in zip(a, b)), default=0.0)


def curves_in_terminal(runners: list[Runner], width: int) -> str:
    import plotext

    steps = runners[0].steps
    plotext.clear_figure()
    plotext.plot_size(min(width, 100), 18)
    plotext.xticks(range(0, steps + 1, max(1, steps // 4)))
    for runner, marker in zip(runners, ["braille", "dot"]):
        drawn = [(i, loss) for i, loss in enumerate(runner.losses) if math.isfinite(loss)]
        if drawn:
            plotext.plot(*zip(*drawn), label=runner.name, marker=marker)
    plotext.yscale("log")
    plotext.title("loss by step")
    return str(plotext.uncolorize(plotext.build()))


def curves_as_picture(runners: list[Runner], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(8, 6), sharex=True, height_ratios=[2, 1]
    )
    for runner, line in zip(runners, ["-", "--"]):
        above.plot(runner.losses, line, label=f"{runner.name}, {runner.step_seconds * 1e3:.0f} ms")
    above.set(yscale="log", ylabel="loss", title="A GPT learns to add: eager and compiled")
    above.legend()
    one, two = (runner.losses for runner in runners)
    below.plot([abs(x - y) / max(abs(x), 1e-12) + 1e-12 for x, y in zip(one, two)])
    below.set(yscale="log", xlabel="step", ylabel="relative difference")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


# -------------------------------------------------------------------------------------- the command


def compiler_named(name: str) -> tuple[Callable[[Loss], Loss], Callable[[], dict[str, Any]]]:
    """What compiles the loss, and what tells about it afterwards."""
    if name == "identity":  # eager twice, for the test of the tour itself
        return (lambda loss: loss), dict
    if name == "inductor":
        return torch.compile, dict
    import minicompiler

    return minicompiler.compile, minicompiler.stats


def tour(
    steps: Annotated[int, typer.Option(min=1, help="training steps of each model")] = 800,
    batch: Annotated[int, typer.Option(help="sums in a step")] = 128,
    seed: Annotated[int, typer.Option(help="of weights and sums")] = 0,
    out: Annotated[Path, typer.Option(help="where the loss curves go")] = Path("tour.png"),
    wanted: Annotated[float, typer.Option(help="accuracy below which the tour fails")] = WANTED,
    watched: Annotated[bool, typer.Option(help="a loss with a side effect and a break")] = False,
    compiler: Annotated[str, typer.Option(hidden=True)] = "minicompiler",
) -> None:
    """A small GPT learns to add two numbers, eagerly and compiled, side by side."""
    console = Console()
    if missing := [name for name in ("matplotlib", "plotext") if not find_spec(name)]:
        console.print(
            f"the tour draws with {missing[0]}: pip install 'minicompiler[tour]'", markup=False
        )
        raise typer.Exit(2)
    if not out.absolute().parent.is_dir():
        console.print(f"there is no folder {out.absolute().parent}: make it, or give another --out")
        raise typer.Exit(2)
    compiled, stats = compiler_named(compiler)
    sums = Sums(seed, held_out=1000)
    loss = watched_loss if watched else loss_of
    runners = [
        Runner("eager", loss, steps, seed),
        Runner("compiled", compiled(loss), steps, seed),
    ]
    parameters = sum(p.numel() for p in runners[0].model.parameters())
    console.print(
        f"A GPT of {parameters:,} parameters learns {readable(sums.held_out[:1])} and such"
    )
    train_side_by_side(runners, sums, batch, console)

    made = stats()
    console.print(stages(made))
    for reason in made.get("reasons", []):
        console.print(f"graph break: {reason}", markup=False)
    console.out(curves_in_terminal(runners, console.width), highlight=False)
    curves_as_picture(runners, out)

    eager, fast = runners
    apart = relative_difference(eager.losses[:FIRST_STEPS], fast.losses[:FIRST_STEPS])
    scores = [accuracy(runner.model, sums.held_out) for runner in runners]
    table = Table("", "eager", "compiled", title=f"after {steps} steps")
    table.add_row("last loss", *(f"{r.losses[-1]:.6f}" for r in runners))
    table.add_row("accuracy on 1,000 held-out sums", *(f"{score:.1%}" for score in scores))
    table.add_row("median step", *(f"{r.step_seconds * 1e3:.1f} ms" for r in runners))
    table.add_row("first step", *(f"{r.seconds[0]:.2f} s" for r in runners))
    console.print(table)
    console.print(f"the compiled model says: {readable(answers(fast.model, sums.held_out[:4]))}")
    console.print(
        f"a compiled step takes {fast.step_seconds / eager.step_seconds:.2f} of an eager one; "
        f"the losses differ by at most {apart:.1e} (relative) in the first {FIRST_STEPS} steps, "
        f"by at most {difference(eager.losses, fast.losses):.1e} (absolute) in all; curves in {out}"
    )
    faults = [f"{r.name}: {s:.1%} right" for r, s in zip(runners, scores) if s < wanted]
    if (counted := fast.model.seen) != eager.model.seen:
        faults.append(f"compiled, {counted} sums were counted, eagerly {eager.model.seen}")
    if made.get("kernels") == 0:
        faults.append("nothing was compiled: both models ran eagerly")
    if not apart <= CLOSE:  # also where a loss is NaN
        faults.append(f"the losses of the first {FIRST_STEPS} steps differ by more than {CLOSE}")
    for fault in faults:
        console.print(f"the tour failed: {fault}", style="bold red")
    raise typer.Exit(1 if faults else 0)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(tour)
    app()
