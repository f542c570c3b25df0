"""What models are written with besides operators: one graph, and eager's values, gradients, state.
PYTEST_DONT_REWRITE: some of the programs assert."""

import contextvars
import copy
import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import minicompiler

torch.set_num_threads(1)
PROGRAMS: dict[str, Callable[[], tuple[Any, ...]]] = {}  # name -> () -> (function, *arguments)


def program(make: Callable[[], tuple[Any, ...]]) -> Callable[[], tuple[Any, ...]]:
    PROGRAMS[make.__name__] = make
    return make


def also(**made: Callable[[], tuple[Any, ...]]) -> None:
    PROGRAMS.update(made)


class Calls(nn.Module):
    """A module called by a function of it."""

    def __init__(self, of: nn.Module, how: Callable[..., Any]) -> None:
        super().__init__()
        self.of, self.how = of, how

    def forward(self, *args: Any) -> Any:
        return self.how(self.of, *args)


x, seq = torch.randn(3, 4), torch.randn(6, 3, 4)

# ---------------------------------------------------------------- recurrent layers
also(
    gru_cell=lambda: (nn.GRUCell(4, 5), x, torch.randn(3, 5)),
    lstm_cell=lambda: (nn.LSTMCell(4, 5), x),
    rnn_cell=lambda: (nn.RNNCell(4, 5), x),
    rnn=lambda: (nn.RNN(4, 5, 2), seq),
    gru=lambda: (nn.GRU(4, 5, 2, batch_first=True, bidirectional=True), seq),
    lstm=lambda: (nn.LSTM(4, 5), seq, (torch.zeros(1, 3, 5), torch.ones(1, 3, 5))),
    lstm_projected=lambda: (nn.LSTM(4, 6, proj_size=3), seq),
    lstm_unbatched=lambda: (nn.LSTM(4, 6), seq[:, 0]),
)


# ---------------------------------------------------------------- layers
def causal(m: Any, x: torch.Tensor) -> Any:
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
    return m(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]


def padded(m: Any, x: torch.Tensor) -> Any:
    mask = torch.zeros(x.shape[:2], dtype=torch.bool)
    mask[0, 3:] = True
    return m(x, x, x, key_padding_mask=mask)


def chosen(x: torch.Tensor) -> torch.Tensor:
    with sdpa_kernel([SDPBackend.MATH]):
        y = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    return y + F.scaled_dot_product_attention(x, x, x)


tokens, image = torch.randint(0, 11, (3, 5)), torch.randn(2, 3, 8, 6)
attended = torch.randn(3, 5, 8)
encoder = functools.partial(nn.TransformerEncoderLayer, 8, 2, 16, dropout=0.0, batch_first=True)
also(
    attention_causal=lambda: (
        Calls(nn.MultiheadAttention(8, 2, batch_first=True), causal),
        attended,
    ),
    attention_padded=lambda: (
        Calls(nn.MultiheadAttention(8, 2, batch_first=True), padded),
        attended,
    ),
    transformer_encoder=lambda: (nn.TransformerEncoder(encoder(), 2), attended),
    attention_chosen=lambda: (chosen, attended[None]),
    embedding_bag=lambda: (nn.EmbeddingBag(11, 4, mode="max"), tokens),
    weight_norm=lambda: (parametrizations.weight_norm(nn.Linear(4, 5)), x),
    spectral_norm=lambda: (parametrizations.spectral_norm(nn.Linear(4, 5)), x),
    orthogonal=lambda: (parametrizations.orthogonal(nn.Linear(4, 4)), x),
    interpolated=lambda: (
        lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear", recompute_scale_factor=True),
        image,
    ),
    padded_sequence=lambda: (lambda a, b: nn.utils.rnn.pad_sequence([a, b]) * 2, x, x[:2]),
)


# ---------------------------------------------------------------- checkpoints
@program
def checkpointed() -> tuple[Any, ...]:
    layers = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 4))
    return Calls(layers, lambda m, x: checkpoint(m, x, use_reentrant=False) * 2), x


@program
def checkpointed_again() -> tuple[Any, ...]:
    layers = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    how = lambda m, x: checkpoint(lambda x: (m(x), x + 1), x, use_reentrant=True)
    return Calls(layers, how), x.clone().requires_grad_()


@program
def checkpointed_in_parts() -> tuple[Any, ...]:
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(4)])
    return Calls(layers, lambda m, x: checkpoint_sequential(m, 2, x, use_reentrant=False)), x


# ---------------------------------------------------------------- numpy
class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale, self.n = np.sqrt(16.0), np.int64(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.scale)[: self.n] + np.float32(1.5) * x[self.n - 1]


def positions(x: torch.Tensor) -> torch.Tensor:
    angles = np.arange(4)[:, None] / np.power(10000, np.arange(4) / 4)
    return x @ torch.from_numpy(angles).float() + torch.tensor(np.float64(2)).to(x.dtype)


also(
    numpy_scalars=lambda: (lambda x: x / np.sqrt(x.shape[-1]) + np.log(2.0) * np.pi, x),
    numpy_sizes=lambda: (lambda x: x.reshape(int(np.prod(x.shape))).view(np.prod(x.shape)), x),
    numpy_attributes=lambda: (Scaled(), x),
    numpy_tables=lambda: (positions, x),
)


# ---------------------------------------------------------------- cached functions, references
@functools.lru_cache
@torch.no_grad()
def mask(n: int) -> torch.Tensor:
    return torch.tril(torch.ones(n, n))


@functools.cache
def table(n: int, of: tuple[int, ...]) -> Any:
    return n, [n + 1, *of], {"scale": 1 / math.sqrt(n)}


def looked_up(x: torch.Tensor) -> Any:
    n, items, named = table(3, (x.shape[0], 7))
    return x * n + items[2] + named["scale"], table(3, (3, 7))[1] is items


class Referred:
    n = 2


referred, context = Referred(), contextvars.ContextVar("context", default=3)
also(
    cached_tensor=lambda: (lambda x: mask(3) @ x, x),
    cached_table=lambda: (looked_up, x),
    weak_reference=lambda: (lambda x, r=weakref.ref(referred): x * r().n, x),
    context_variable=lambda: (lambda x: x * context.get(), x),
)


# ---------------------------------------------------------------- checks of values
def asserted(x: torch.Tensor) -> torch.Tensor:
    assert (x.abs() >= 0).all(), f"{x}"
    if not torch.isfinite(x).all():
        raise ValueError("not finite")
    return x + 1


def distributed(x: torch.Tensor) -> torch.Tensor:
    d = torch.distributions.Normal(x, x.exp())
    to = torch.distributions.kl_divergence(d, torch.distributions.Normal(0.0, 1.0))
    return d.log_prob(x * 2) + to + torch.distributions.Categorical(logits=x).entropy()[:, None]


also(asserted=lambda: (asserted, x), distributions=lambda: (distributed, x))


def observed(function: Any, args: tuple[Any, ...], train: bool) -> list[Any]:
    """Results, gradients and state of two calls."""
    torch.manual_seed(3)
    seen: list[Any] = []
    for _ in range(2):
        given = [a.detach().clone() if isinstance(a, torch.Tensor) else a for a in args]
        for new, old in zip(given, args):
            if isinstance(old, torch.Tensor) and old.requires_grad:
                new.requires_grad_()
        with torch.set_grad_enabled(train):
            leaves = torch.utils._pytree.tree_leaves(function(*given))
        wanted = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
        if wanted:
            sum((t * torch.arange(t.numel()).view(t.shape)).sum() for t in wanted).backward()
        seen += leaves + [a.grad for a in given if isinstance(a, torch.Tensor)]
    state = function.state_dict(keep_vars=True).values() if isinstance(function, nn.Module) else []
    return [*seen, *state, *(s.grad for s in state), torch.rand(())]


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_one_graph(name: str, train: bool) -> None:
    torch.manual_seed(0)
    function, *args = PROGRAMS[name]()
    ours = function
    if isinstance(function, nn.Module):
        ours = copy.deepcopy(function.train(train))
    minicompiler.reset()
    expected = observed(function, tuple(args), train)
    found = observed(minicompiler.compile(ours, backend="eager"), tuple(args), train)
    stats = minicompiler.stats()
    assert (stats["graphs"], stats["breaks"]) == (1, 0), stats["reasons"]
    for a, b in zip(expected, found, strict=True):
        assert type(a) is type(b)
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


# ---------------------------------------------------------------- what holds no longer
def test_a_cached_answer_that_is_another_one_is_not_taken_for_it() -> None:
    made = []

    @functools.lru_cache
    def weights(n: int) -> torch.Tensor:
        return torch.full((n,), float(len(made)))

    def f(x: torch.Tensor) -> torch.Tensor:
        return x * weights(3)

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="eager")
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(3)), torch.zeros(3))
    made.append(1)
    assert torch.equal(compiled(torch.ones(3)), torch.zeros(3))
    weights.cache_clear()
    assert torch.equal(compiled(torch.ones(3)), torch.ones(3))


def test_a_cached_function_sees_what_was_written_before() -> None:
    @functools.lru_cache
    def noted(n: int) -> int:
        return n * len(notes)

    def f(x: torch.Tensor, other: list[int]) -> torch.Tensor:
        other.append(1)
        notes.append(1)
        return x * noted(2)

    notes: list[int] = []
    minicompiler.reset()
    assert torch.equal(
        minicompiler.compile(f, backend="eager")(torch.ones(3), []), 2 * torch.ones(3)
    )


def test_the_same_cached_tensor_by_another_way() -> None:
    @functools.lru_cache
    def made(n: int) -> torch.Tensor:
        return torch.ones(n)

    def f(x: torch.Tensor, own: torch.Tensor) -> tuple[torch.Tensor, bool]:
        return x * made(3), made(3) is own

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="eager")
    for own, same in ((made(3), True), (torch.ones(3), False), (made(3), True)):
        assert compiled(torch.ones(3), own)[1] is same


@pytest.mark.parametrize("backend", ["eager", "auto"])
def test_a_check_that_fails_raises_where_it_stands(backend: str) -> None:
    def f(x: torch.Tensor, log: list[str], state: torch.Tensor) -> torch.Tensor:
        log.append("in")
        state.add_(1)
        try:
            if (x < 0).any():
                raise ValueError(f"negative {x.tolist()}")
        except ValueError as error:
            log.append(str(error))
            x = -x
        assert x.sum() < 10, "too much"
        return x * 2 + state

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend=backend)
    for given in ([1.0, 2.0], [-1.0, -2.0], [20.0, 1.0], [3.0, 1.0]):
        outcomes = []
        for function in (f, compiled):
            log: list[str] = []
            state = torch.zeros(2)
            try:
                out: Any = function(torch.tensor(given), log, state).tolist()
            except AssertionError as error:
                out = str(error)
            outcomes.append((out, log, state.tolist()))
        assert outcomes[0] == outcomes[1]
    assert minicompiler.stats()["breaks"] == 0


def test_arrays_of_numpy_that_change_or_leave() -> None:
    def f(x: torch.Tensor) -> Any:
        a = np.arange(3.0)
        shared = torch.from_numpy(a)
        a[0] = 5.0
        return x + shared, a

    def g(x: torch.Tensor) -> Any:
        a = np.zeros(3)
        b = a
        a += 2
        return x + torch.from_numpy(b)

    minicompiler.reset()
    for function in (f, g):
        compiled = minicompiler.compile(function, backend="eager")
        first, second = compiled(torch.ones(3)), compiled(torch.ones(3))
        expected = function(torch.ones(3))
        for found in (first, second):
            for a, b in zip(expected, found, strict=True):
                assert type(a) is type(b) and np.array_equal(a, b)
        assert not isinstance(first, tuple) or first[1] is not second[1]


def test_numbers_of_numpy_are_told_apart() -> None:
    def f(x: torch.Tensor, n: Any) -> Any:
        return x * n, n * 2

    minicompiler.reset()
    compiled = minicompiler.compile(f, backend="eager")
    for n in (
        np.float64(0.0),
        np.float64(-0.0),
        np.float32(2),
        2.0,
        np.int64(2),
        2,
        np.bool_(True),
    ):
        (a, b), (c, d) = f(torch.ones(2), n), compiled(torch.ones(2), n)
        assert a.dtype == c.dtype and a.tolist() == c.tolist() and repr(b) == repr(d)


def test_registering_a_hook_makes_nothing_else_recompile() -> None:
    layer = nn.Linear(4, 4)

    def f(x: torch.Tensor) -> torch.Tensor:
        handle = layer.register_forward_hook(lambda m, args, out: out * 2)
        y = layer(x)
        handle.remove()
        return y

    def g(x: torch.Tensor) -> torch.Tensor:
        return layer(x) + 1

    minicompiler.reset()
    with torch.no_grad():
        for _ in range(3):
            assert torch.equal(minicompiler.compile(f, backend="eager")(x), layer(x) * 2)
            assert torch.equal(minicompiler.compile(g, backend="eager")(x), layer(x) + 1)
    assert minicompiler.stats()["recompiles"] == 0


def test_what_torch_disables_stays_eager_with_all_that_it_calls() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        assert not torch.compiler.is_compiling()
        return x * 2

    @torch.compiler.disable
    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x) + 1

    minicompiler.reset()
    compiled = minicompiler.compile(lambda x: outer(x + 1) * 3, backend="eager")
    assert torch.equal(compiled(x), ((x + 1) * 2 + 1) * 3)
    assert minicompiler.stats()["graphs"] == 2
