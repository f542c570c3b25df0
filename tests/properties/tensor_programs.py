"""Random tensor programs, as source text: what hypothesis shrinks and a person can run.

A program is made a statement at a time and run as it grows, so that each statement is one that
eager accepts, and every variable's shape and dtype is known.
"""

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import strategies as st

FLOATS = (torch.float32, torch.float64, torch.bfloat16)
DTYPES = (torch.float32,) * 6 + (torch.float64, torch.bfloat16, torch.int64, torch.bool)
SIZES = st.sampled_from([1, 2, 3, 3, 4, 5, 0])

UNARY = (
    "torch.sin({x}) torch.tanh({x}) torch.sigmoid({x}) torch.relu({x}) F.gelu({x}) F.silu({x}) "
    "torch.exp(-{x}.abs()) {x}.abs() -{x} ({x}.abs()+1).sqrt() ({x}.abs()+1).log() {x}.square() "
    "({x}.abs()+0.5).rsqrt() torch.erf({x}) {x}.clamp(-0.5,0.7) F.leaky_relu({x}) F.softplus({x}) "
    "{x}.floor() {x}.round() {x}.sign() F.elu({x}) F.hardtanh({x}) torch.cos({x}) {x}.pow(3) "
    "F.gelu({x},approximate='tanh') {x}.reciprocal() {x}*2.5 {x}+1 1-{x} {x}/3 "
    "F.hardswish({x}) F.logsigmoid({x}) {x}.trunc() {x}.frac() torch.atan({x}) "
    "{x}.clamp(max=3).expm1() {x}.clamp(-3,3).sinh()"
).split()
BINARY = (
    "{x}+{y} {x}-{y} {x}*{y} {x}/({y}.abs()+1) torch.maximum({x},{y}) torch.minimum({x},{y}) "
    "torch.where({x}>{y},{x},{y}) torch.add({x},{y},alpha=2) {x}.masked_fill({y}>0,-1.0) "
    "torch.lerp({x},{y},0.3) torch.hypot({x},{y}) torch.atan2({x},{y}) F.mse_loss({x},{y}) "
    "torch.addcmul({x},{y},{y},value=0.5) F.smooth_l1_loss({x},{y})"
).split()
REDUCTIONS = (
    "{x}.sum({d}) {x}.mean({d}) {x}.sum({d},keepdim=True) {x}.amax({d}) {x}.amin({d},keepdim=True) "
    "{x}.var({d}) torch.softmax({x},{d}) torch.log_softmax({x},{d}) torch.logsumexp({x},{d}) "
    "{x}.sum() {x}.mean() {x}.norm() {x}.std({d},correction=0) {x}.prod({d}) "
    "F.layer_norm({x},{x}.shape[-1:]) F.normalize({x},dim={d}) {x}.cumsum({d}) {x}.argmax({d}) "
    "{x}.max({d}).values torch.var_mean({x},{d})[1] F.rms_norm({x},{x}.shape[-1:])"
).split()
VIEWS = (
    "{x}.transpose(0,{d}) {x}.unsqueeze({d}) {x}.flip({d}) {x}.reshape(-1) {x}.squeeze() "
    "{x}[...,0] {x}[1:] {x}[...,::2] {x}[None] {x}.flatten() {x}.unbind({d})[0] "
    "{x}.chunk(2,{d})[0] {x}.mT {x}.expand(2,*{x}.shape) {x}.contiguous() "
    "{x}.movedim(0,{d}) {x}.narrow({d},0,1) {x}.T "
    "{x}.roll(1,{d}) {x}.repeat_interleave(2,{d}) {x}.detach() {x}.clone() {x}.diagonal() "
    "torch.stack([{x},{x}],{d}) torch.cat([{x},{x}*2],{d}) F.pad({x},(1,2)) {x}.tril() {x}[:,None]"
).split()
PAIRED = (
    "{x}@{y} {x}@{y}.mT F.linear({x},{y}) torch.cat([{x},{y}],-1) torch.cat([{x},{y}]) "
    "torch.stack([{x},{y}]) torch.einsum('...i,...i->...',{x},{y})"
).split()
INDEXED = (
    "{x}[{i}] {x}.index_select(0,{i}.reshape(-1)) F.embedding({i},{x}) {x}[{i}.reshape(-1)%2] "
    "{x}.gather(0,{i}) {x}.index_add(0,{i}.reshape(-1),{x}[{i}.reshape(-1)]) F.one_hot({i},4)"
).split()
CASTS = (
    "{x}.float() {x}.double() {x}.to(torch.bfloat16) {x}.long() {x}>0 {x}.bool() ({x}>0).float() "
    "{x}.int() ({x}*10).to(torch.int32) {x}.half() {x}.to(torch.uint8)"
).split()
IN_PLACE = (
    "{x}.add_(1) {x}.mul_({y}) {x}.relu_() {x}[0]=2 {x}[...,0].mul_(3) {x}.copy_({y}) {x}.t_() "
    "{x}.sub_({y},alpha=0.5) {x}.fill_(0.5) {x}[1:].add_({x}[:1]) {x}.clamp_(-1,1) {x}.zero_() "
    "{x}.transpose(0,-1).add_(1) {x}.unsqueeze_(0) {x}+={y} {x}.masked_fill_({x}>1,0) "
    "{x}.clamp_(-9,3).exp_()"
).split()
KINDS: list[tuple[int, tuple[str, ...] | list[str]]] = [
    (5, UNARY), (5, BINARY), (4, REDUCTIONS), (4, VIEWS), (2, PAIRED), (1, INDEXED), (1, CASTS),
    (3, IN_PLACE),
]  # fmt: skip
KIND = st.sampled_from([templates for weight, templates in KINDS for _ in range(weight)])


@dataclass
class Program:
    """`source` defines f; `inputs()` makes fresh arguments."""

    source: str = ""
    inputs_source: str = ""
    tags: set[str] = field(default_factory=set)

    def function(self) -> Callable[..., Any]:
        return execute(self.source)["f"]

    def inputs(self) -> tuple[Any, ...]:
        return execute(self.inputs_source)["inputs"]()

    def __repr__(self) -> str:
        return f"{HEADER}\n{self.inputs_source}\n{self.source}"


HEADER = "import torch\nimport torch.nn.functional as F\n"
_count = 0


def execute(source: str) -> dict[str, Any]:
    """Run a module's text under a file name of its own, so that tracebacks show it."""
    global _count
    _count += 1
    name = f"<program {_count}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module: dict[str, Any] = {"torch": torch, "F": F, "__name__": name}
    exec(compile(source, name, "exec"), module)
    return module


@st.composite
def input_lines(draw: Any, count: int) -> list[str]:
    """Lines that make x0, x1...: strides, offsets, expansion, sizes 0 and 1, aliases."""
    rank = draw(st.integers(0, 3))
    shape = [draw(SIZES) for _ in range(rank)]
    lines = []
    for k in range(count):
        own = list(shape)
        for d in range(rank):
            if draw(st.integers(0, 7)) == 0:
                own[d] = draw(SIZES)
        if draw(st.integers(0, 9)) == 0:
            own = own[1:]
        dtype = draw(st.sampled_from(DTYPES))
        lines.append(f"x{k} = {_tensor(draw, own, dtype, k)}")
        grad = dtype.is_floating_point and draw(st.booleans())
        if grad:
            lines.append(f"x{k} = x{k}.requires_grad_()")
        elif k and draw(st.integers(0, 11)) == 0:
            lines[-1] = f"x{k} = x0.detach()"
    return lines


def _tensor(draw: Any, shape: list[int], dtype: torch.dtype, k: int) -> str:
    form = draw(st.sampled_from(["plain"] * 5 + ["transposed", "strided", "expanded", "offset"]))

    def make(size: list[int]) -> str:
        numbers = f"torch.randn({size}, generator=torch.Generator().manual_seed({k}))"
        if dtype == torch.bool:
            return f"({numbers} > 0)"
        if dtype == torch.int64:
            return f"({numbers} * 4).long()"
        return numbers if dtype == torch.float32 else f"{numbers}.to({dtype})"

    if form == "transposed" and len(shape) > 1:
        return f"{make([*shape[:-2], shape[-1], shape[-2]])}.mT"
    if form == "strided" and shape:
        return f"{make([*shape[:-1], 2 * shape[-1]])}[..., ::2]"
    if form == "expanded" and shape and shape[0]:
        return f"{make([1, *shape[1:]])}.expand({shape})"
    if form == "offset" and shape:
        return f"{make([shape[0] + 1, *shape[1:]])}[1:]"
    return make(shape)


@st.composite
def tensor_programs(draw: Any, statements: int = 8, inplace: bool = True) -> Program:
    """A function of up to three tensors, of at most `statements` statements."""
    count = draw(st.integers(1, 3))
    lines = draw(input_lines(count))
    names = [f"x{k}" for k in range(count)]
    body = "".join(f"    {line}\n" for line in lines)
    inputs_source = f"def inputs():\n{body}    return {', '.join(names)},\n"
    program = Program(inputs_source=inputs_source)
    scope = dict(zip(names, program.inputs()))
    module = {"torch": torch, "F": F}
    text, made = [], list(names)
    for _ in range(draw(st.integers(1, statements))):
        templates = draw(KIND)
        if templates is IN_PLACE and not inplace:
            continue
        template = draw(st.sampled_from(templates))
        statement = _statement(draw, template, scope, made)
        if statement is None:
            continue
        name = f"v{len(text)}"
        line = statement if templates is IN_PLACE else f"{name} = {statement}"
        if not _accepted(line, module, scope):
            continue
        if templates is IN_PLACE:
            program.tags.add("in place")
        else:
            made.append(name)
        text.append(line)
    kept = [n for n in made if n.startswith("v")] or made
    outputs = draw(st.lists(st.sampled_from(kept), min_size=1, max_size=3))
    if kept[-1] not in outputs:
        outputs.append(kept[-1])
    body = "".join(f"    {line}\n" for line in text)
    program.source = f"def f({', '.join(names)}):\n{body}    return {', '.join(outputs)},\n"
    return program


def _statement(
    draw: Any, template: str, scope: dict[str, torch.Tensor], names: list[str]
) -> str | None:
    x = draw(st.sampled_from(names[-4:]))
    rank = scope[x].ndim
    choice = {"x": x, "y": draw(st.sampled_from(names)), "d": 0}
    if "{d}" in template:
        choice["d"] = draw(st.integers(-rank, max(rank - 1, 0)))
    if "{i}" in template:
        integers = [n for n in names if scope[n].dtype == torch.int64]
        if not integers:
            return None
        choice["i"] = draw(st.sampled_from(integers))
    return template.format(**choice)


def _accepted(line: str, module: dict[str, Any], scope: dict[str, torch.Tensor]) -> bool:
    """Run one more statement; whatever eager refuses, or makes too large, is left out."""
    # an in-place statement that fails half way must not count: try it on copies
    trial = {k: v.detach().clone().requires_grad_(v.requires_grad) for k, v in scope.items()}
    for names in (trial, scope):
        try:
            exec(line, module, names)
        except Exception:
            return False
        made = [v for v in names.values() if isinstance(v, torch.Tensor)]
        if len(made) != len(names) or any(v.numel() > 4096 for v in made):
            return False
    return True
