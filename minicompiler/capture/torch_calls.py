"""Torch functions and tensor attributes: what becomes a node of the graph, and what does not.

Operators and the functions of torch.nn.functional are nodes as they are called; other Python code
of torch (modules, optimizers, distributions) is inlined like the user's own.
"""

# ruff: noqa: I001  (imports fill their lines)

from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType
from typing import Any

import torch
import torch.nn.functional as F
from torch._ops import OpOverload, OpOverloadPacket

from ..symbolic.fake import Fake
from . import attributes, custom_function, data_model as model, frame_hook, polyfills
from . import source as sources
from .calls import PURE, Rule, refused, rule
from .facts import AMBIENT, SDP_FLAGS, SDP_KERNELS
from .frame_hook import MISSING, trust, type_lookup
from .values import ABSENT, E, FALSE, NONE, TRUE, Const, Dict, Function, Method, Sequence, Tensor
from .values import Value, const_bool, python_value, refuse

# Modules whose Python functions are nodes too.
FUNCTIONAL = ("torch.functional", "torch.nn.functional", "torch._lowrank", "torch.nn._VF")
# Tensor methods that depend on data, leave the graph, or change what others see of the tensor.
REASONS = {
    "takes the value of a tensor": "item tolist numpy __array__ __bool__ __int__ __float__ "
    "__index__ __complex__ __contains__",
    "looks at the memory of a tensor": "storage storage_offset untyped_storage data_ptr set_ "
    "resize_ resize_as_ share_memory_ pin_memory __dlpack__ __reduce_ex__ __deepcopy__ "
    "as_subclass is_inference _is_view is_shared",
    "reaches beyond the graph": "backward register_hook register_post_accumulate_grad_hook "
    "retain_grad __format__ __repr__ __str__ __hash__ map_ map2_ apply_ requires_grad_ detach_",
}
REFUSED_METHODS = {name: reason for reason, names in REASONS.items() for name in names.split()}
OPERATOR_KINDS = (BuiltinFunctionType, type(torch.Tensor.add), type(torch.Tensor.__add__))


def is_operator(real: Any) -> bool:
    """Does a call of `real` become a node?"""
    if isinstance(real, OpOverload | OpOverloadPacket):
        return True
    if isinstance(real, FunctionType):
        if real.__module__ == "torch._tensor":
            return real.__name__ in TENSOR_PYTHON
        if real.__module__ not in FUNCTIONAL:
            dispatcher = real.__module__ == "torch._jit_internal"
            return dispatcher and getattr(F, real.__name__, None) is real
        return not real.__name__.startswith(("has_torch", "handle_torch", "_verify"))
    if isinstance(real, OPERATOR_KINDS):
        owner = getattr(real, "__objclass__", None)
        if owner is not None:
            return owner in (torch._C.TensorBase, torch.Tensor)
        of = getattr(real, "__self__", None)
        return of is VARIABLE_FUNCTIONS or getattr(of, "__name__", "") in NATIVE_MODULES
    return False


VARIABLE_FUNCTIONS = torch.add.__self__  # type: ignore[attr-defined]
NATIVE_MODULES = [f"torch._C._{name}" for name in "nn special linalg fft sparse nested".split()]
TENSOR_PYTHON = """norm split unique_consecutive stft istft __rsub__ __rdiv__ __rpow__ __pow__
__ipow__ __rmatmul__ __rfloordiv__ __rmod__ __rtruediv__ __rlshift__ __rrshift__ unflatten
lu dim_order refine_names align_to rename index_put_ __contains__ __abs__ __neg__
__pos__ __invert__ __len__ __itruediv__""".split()


def call_operator(ev: E, real: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    name = getattr(real, "__name__", str(real))
    method = getattr(real, "__objclass__", None) is not None
    if method or getattr(real, "__module__", None) == "torch._tensor":
        if name in REFUSED_METHODS:
            refuse(f"Tensor.{name} {REFUSED_METHODS[name]}", "keep a tensor, or do it outside")
        if args and not isinstance(args[0], Tensor):
            refuse(f"Tensor.{name} on something that is no tensor")
        real = real if name.startswith("__") else name
    elif isinstance(real, FunctionType) and any(isinstance(a, Function | Method) for a in args):
        return ev.inline(ev.wrap(real, None), args, kwargs)  # type: ignore[arg-type]
    return ev.graph.call(ev, real, args, kwargs)


# ---------------------------------------------------------------- attributes of tensors
# What the fake knows: constants, and views or copies, each of which is a node.
PROPERTIES = """shape dtype device ndim layout is_cuda is_cpu is_sparse is_quantized is_meta is_mps
requires_grad is_leaf itemsize nbytes names is_nested is_mkldnn is_xpu is_xla T mT H mH real
imag data""".split()


def tensor_attribute(ev: E, v: Tensor, name: str) -> Value:
    outside = v.real is not ABSENT and v.cls is not torch.nn.Parameter
    if name in ("is_leaf", "grad_fn") and outside and v.fake.requires_grad:
        refuse("asks how an input was computed")  # its fake is a leaf; it may not be
    if name in PROPERTIES:
        made = ev.graph.call(ev, getattr, [v, Const(name)])
        if name == "data" and isinstance(made, Tensor):
            made.born = ev.at
            ev.graph.uncounted.append(made)
        return made
    if name == "grad_fn":
        return NONE if v.fake.grad_fn is None else refuse("looks at grad_fn")
    if name == "grad":
        return tensor_grad(ev, v)
    if name == "__class__":
        return ev.wrap(v.cls, None)
    raw = type_lookup(v.cls, name)
    trust(v.cls, name, raw)
    if isinstance(raw, GetSetDescriptorType | property):
        refuse(f"Tensor.{name}")
    if raw is not MISSING:
        return attributes.bind(ev, raw, None, v, ev.class_of(v), name)
    space = attributes.namespace(ev, v) if v.real is not ABSENT else None
    own = None if space is None else space.get(ev, Const(name))
    return own or attributes.no_attribute(ev, v, name)


def tensor_grad(ev: E, v: Tensor) -> Value:
    if v.source is None and v.fake.requires_grad:
        refuse("the .grad of a computed tensor")
    if v.grad is None and v.source is not None:
        v.grad = ev.wrap(v.real.grad, sources.Field(v.source, "grad"))
    return v.grad or NONE


# ---------------------------------------------------------------- ambient modes
def reads_state(getter: Any, name: str = "") -> None:
    """A question about a switch, guarded unless the program has set it or every frame asks."""

    @rule(getter)
    def get(ev: E, *args: Value) -> Value:
        real = tuple(map(python_value, args))
        answer = getter(*real)
        if (name, *real) not in ev.ambient and all(a.read is not getter for a in AMBIENT.values()):
            ev.guards.add("STATE", None, (getter, real, answer), ev.where())
        return ev.wrap(answer, None)


def ambient(name: str, setter: Any, getter: Any) -> None:
    """A C-level switch: a node that sets it, and the real switch set while evaluating."""
    reads_state(getter, name)

    @rule(setter)
    def set_(ev: E, *args: Value) -> None:
        key = (name, *map(python_value, args[:-1]))
        ev.ambient.setdefault(key, (setter, getter(*key[1:])))
        ev.ambient_now[key] = python_value(args[-1])
        ev.graph.call(ev, setter, args, keep=True)


ambient("grad mode", torch._C._set_grad_enabled, torch.is_grad_enabled)
ambient("autocast", torch.set_autocast_enabled, torch.is_autocast_enabled)
ambient("autocast dtype", torch.set_autocast_dtype, torch.get_autocast_dtype)
ambient("autocast cache", torch.set_autocast_cache_enabled, torch.is_autocast_cache_enabled)
for _kind, _enabled in zip(SDP_KERNELS, SDP_FLAGS):
    ambient(f"attention {_kind}", getattr(torch._C, f"_set_sdp_use_{_kind}"), _enabled)


# It counts regions for the cast cache; the graph's regions need none: nothing is cached.
rule(torch.autocast_increment_nesting, torch.autocast_decrement_nesting)(lambda ev: Const(1))


rule(torch.from_file, torch.frombuffer)(refused("makes a tensor of memory unknown to the graph"))
rule(torch._C._InferenceMode)(refused("enters inference mode", "use torch.no_grad()"))
STATE = """_are_functorch_transforms_active _is_torch_function_mode_enabled _get_cudnn_enabled
_is_torch_function_enabled _len_torch_function_stack _len_torch_dispatch_stack _get_tracing_state
_get_privateuse1_backend_name is_autocast_cpu_enabled is_anomaly_enabled get_autocast_cpu_dtype
get_autocast_gpu_dtype is_inference_mode_enabled get_default_dtype""".split()
for _getter in (*(getattr(torch._C, name) for name in STATE), torch._C._autograd._profiler_enabled):
    reads_state(_getter)
PURE.add(torch.amp.autocast_mode.is_autocast_available)


# ---------------------------------------------------------------- questions about compilation
rule(torch.compiler.is_compiling, torch.compiler.is_dynamo_compiling)(lambda ev: TRUE)


@rule(frame_hook.run)
def _run(ev: E, callback: Value, token: Value, fn: Value, /, *args: Value, **kwargs: Value) -> Any:
    """What was compiled on its own is part of what calls it, with the outer one's back end."""
    return model.call(ev, fn, [*args], kwargs)


_NEVER: list[Any] = [torch._jit_internal.is_scripting, torch.jit._trace.is_tracing]
_NEVER += [torch.compiler.is_exporting, torch._C._has_torch_function]
_NEVER += [torch._C._has_torch_function_unary, torch._C._has_torch_function_variadic]
rule(*_NEVER)(lambda ev, *args: FALSE)
rule(torch._C._log_api_usage_once, torch.clear_autocast_cache)(lambda ev, *args: None)
rule(torch.is_tensor)(lambda ev, v: const_bool(isinstance(v, Tensor)))


for _name in (n for n in dir(torch.Tensor) if n.startswith("__")):
    trust(torch.Tensor, _name, type_lookup(torch.Tensor, _name))  # operators never look them up


_unbound: Rule = lambda ev, v: model.iter_(ev, ev.graph.call(ev, "unbind", [v, Const(0)]))
rule(torch.Tensor.__iter__)(_unbound)
rule(torch.Tensor.__hash__)(lambda ev, v: refuse("the hash of a tensor"))


rule(torch.manual_seed, torch.seed)(refused("seeds torch's random generator", "seed outside"))


def one_hot(x: torch.Tensor, num_classes: int) -> torch.Tensor:
    """F.one_hot, which looks at the values of x: where there are none their check is left to what
    writes the ones; when that fails the captured graph runs, and raises what F.one_hot raises."""
    if not isinstance(x, Fake):
        return F.one_hot(x, num_classes)
    return x.new_zeros(*x.shape, num_classes).scatter(-1, x.unsqueeze(-1), 1)


@rule(F.one_hot)
def _one_hot(ev: E, x: Value, num_classes: Value = FALSE) -> Value:
    if not isinstance(x, Tensor) or x.fake.dtype != torch.int64 or python_value(num_classes) <= 0:
        refuse("F.one_hot without a number of classes", "give it num_classes")
    return ev.graph.call(ev, one_hot, [x, num_classes])


@rule(vars(torch.autograd.Function)["apply"].__func__)
def _function_apply(ev: E, cls: Value, *args: Value, **kwargs: Value) -> Value:
    if kwargs or any(isinstance(a, Sequence | Dict) for a in args):
        refuse(f"these arguments of {cls.real.__name__}.apply")
    needs = any(isinstance(a, Tensor) and a.fake.requires_grad for a in args)
    if torch.is_grad_enabled() and needs:
        return custom_function.with_gradients(ev, cls, args)
    return model.call_real(ev, polyfills.apply_without_grad, cls, *args)


def refuse_disabled(real: Any) -> None:
    """Raises Unsupported where a Python function is not to be inlined."""
    if getattr(real, "_torchdynamo_disable", False):
        frame_hook.skip(real.__code__, calls=True)
        refuse(f"{real.__qualname__} is marked to run eagerly")
    if real.__module__ in NEVER_INLINED or real is torch.Tensor.backward:
        refuse(f"{real.__module__}.{real.__qualname__} runs eagerly")


NEVER_INLINED = {"torch.utils.data", "torch.autograd", "torch.serialization"}
NEVER_INLINED |= {"torch._dynamo", "torch._dynamo.decorators"}
