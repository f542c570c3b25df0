"""The grammar of random Python programs: templates by kind (see python_programs for the holes).

Kinds: T tensor of shape (3,) or (), int, float, bool, str, LI list of ints, LT list of tensors,
LL list of lists, D dict str -> int, DT dict str -> tensor, S set of ints, Q deque of ints, O Box,
P Pair, DC dataclass, F tensor -> tensor, FI int -> int, It iterator of ints, result anything.
"""

# ruff: noqa: E501
# fmt: off

HEADER = """import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import operator
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from types import SimpleNamespace

import torch

LIMITS = {"low": 1, "high": 9}
GN = 2
GT = torch.tensor([0.5, -1.0, 2.0])
GL = [1, 2]
GD = {"u": 1}
LOG = []

"""
GLOBALS = {"GN": "int", "GT": "T", "GL": "LI", "GD": "D"}

# name -> (kind, how inputs() makes it)
ARGUMENTS = {
    "x": ("T", "torch.tensor([1.0, -2.0, 0.5])"),
    "y": ("T", "torch.tensor([0.3, 0.1, -0.7], requires_grad=True)"),
    "n": ("int", "2"),
    "s": ("float", "0.5"),
    "flag": ("bool", "True"),
    "name": ("str", "'u'"),
    "items": ("LI", "[3, 1, 2]"),
    "tens": ("LT", "[a.x, torch.ones(3)]"),
    "table": ("D", "{'u': 1, 'w': 5}"),
    "tabt": ("DT", "{'u': torch.full((3,), 2.0), 'z': a.y}"),
    "box": ("O", "Box(1, torch.tensor([1.0, 1.0, 3.0]))"),
}

LITERALS = {
    "int": "0 1 2 3 -1 5 7".split(),
    "float": "0.5 -0.0 0.0 2.0 1.5 -1.25".split(),
    "bool": ["True", "False"],
    "str": ["'u'", "'w'", "'z'", "'ab'", "''"],
    "LI": ["[]", "[1, 2]", "[4]"],
    "LT": ["[]"],
    "D": ["{}", "{'u': 3}"],
    "DT": ["{}"],
    "S": ["set()", "{1, 2}"],
}

EXPRESSIONS = {
    "T": [
        "<T> + <T>",
        "<T> * <T>",
        "<T> - <float>",
        "<T> * <int>",
        "torch.sin(<T>)",
        "torch.relu(<T>)",
        "-<T>",
        "<T>.sum()",
        "<T>.mean(0)",
        "<T>.clone()",
        "<T>.detach()",
        "torch.where(<T> > 0, <T>, <T>)",
        "torch.stack([<T>, <T>]).sum(0)",
        "<@LT>[<int>]",
        "<@LT>[-1]",
        "<@DT>[<str>]",
        "<@DT>.get(<str>, <T>)",
        "<F>(<T>)",
        "<@F>(<T>)",
        "<O>.t",
        "<O>.scaled(<T>)",
        "<O>(<T>)",
        "<@P>.a",
        "<@DC>.a",
        "sum(<LT>, <T>)",
        "(<T> if <bool> else <T>)",
        "helper(<T>)",
        "helper(<T>, <float>)",
        "helper(<T>, k=<int>)",
        "chain(<T>, <T>, <T>)",
        "chain(*<LT>)",
        "collect(<T>, a=<T>, b=<int>)",
        "functools.reduce(lambda p, q: p + q, <LT>, <T>)",
        "functools.reduce(operator.add, <LT>, <T>)",
        "next(iter(<LT>), <T>)",
        "max(<LT>, key=len, default=<T>)",
        "<T>.view(-1)",
        "<T>[<int>:]",
        "<T>[..., None].squeeze(-1)",
        "<T>.to(<T>.dtype)",
        "<T>.add_(<int>)",
        "<T>.expand_as(GT)",
        "torch.cat([<T>, <T>])[:3]",
        "torch.zeros(3) + <T>",
        "<T>.reshape(<T>.shape)",
        "torch.full((3,), <float>)",
        "torch.tensor(<LI>[:3] + [1, 2, 3])[:3] * 1.0",
        "<T>.new_zeros(3)",
        "<T> * <T>.shape[-1]",
        "(<w:+T> := <T> * 2)",
        "getattr(<O>, 't')",
        "getattr(<O>, <str>, <T>)",
        "sorted(<LT>, key=lambda e: e.dim())[0]",
        "recursive(<T>, <int> % 4)",
        "torch.maximum(<T>, <T>)",
        "<O>.child.scaled(<T>)",
        "Child(<int>, <T>).scaled(<T>)",
        "Counted.make(<T>).t",
        "decorated(<T>, <int>)",
        "Lazy(<T>).missing",
        "Lazy(<T>).other + <T>",
        "Slots(<T>, <int>).t",
        "Pair(<T>, <int>)._replace(b=<int>).a",
        "guarded(<T>, <int>)",
        "dict(a=<T>, b=<T>)['a']",
        "sum([<T|e=T> for e in <LT>], <T>)",
        "sum((<T|e=T> for e in <LT>), <T>)",
        "<T>.item() * <T>",
        "<T>.float()",
        "torch.add(<T>, other=<T>, alpha=<int>)",
        "Descr(<T>).value",
        "Color.RED.scale * <T>",
        "functools.partial(helper, k=<int>)(<T>)",
        "operator.itemgetter(0)(<LT> or [<T>])",
        "operator.attrgetter('t')(<O>)",
        "memo(<int>) * <T>",
        "(lambda a, *r, k=<int>, **o: a * k + len(r) + len(o))(<T>, *<LT>, z=1)",
    ],
    "int": [
        "<int> + <int>",
        "<int> - <int>",
        "<int> * <int> % 11",
        "<int> // 2",
        "-<int>",
        "<int> % 5",
        "len(<LI>)",
        "len(<LT>)",
        "len(<D>)",
        "len(<S>)",
        "len(<str>)",
        "sum(<LI>)",
        "max(<LI>, default=<int>)",
        "min(<int>, <int>)",
        "abs(<int>)",
        "<@D>.get(<str>, <int>)",
        "<@D>[<str>]",
        "<@LI>[<int>]",
        "<@LI>[-1]",
        "<@LI>.pop()",
        "<@LI>.index(<int>)",
        "<@LI>.count(<int>)",
        "<O>.value",
        "len(<O>)",
        "<O>.double",
        "<@P>.b",
        "<@DC>.n",
        "int(<bool>)",
        "(<int> if <bool> else <int>)",
        "int(<float>)",
        "<T>.shape[-1]",
        "<T>.dim()",
        "<T>.numel()",
        "len(<T>)",
        "<FI>(<int>)",
        "<@FI>(<int>)",
        "next(<@It>)",
        "next(<@It>, <int>)",
        "(<w:+int> := <int> + 1)",
        "<int> ^ <int>",
        "<int> & 3",
        "<int> << 1",
        "~<int>",
        "(<int> or <int>)",
        "(<int> and <int>)",
        "sum(<int|e=int> for e in <LI>)",
        "sum(1 for e in <LI> if <bool|e=int>)",
        "<@Q>.popleft()",
        "<@Q>[0]",
        "ord(<str>[0])",
        "fib(<int> % 6)",
        "divmod(<int>, 3)[1]",
        "int(str(<int>))",
        "round(<float>)",
        "hash(<int>)",
        "<O>[<int>]",
        "Color.RED.value",
        "Counted.total",
        "<int> ** 2 % 13",
        "<@D>.setdefault(<str>, <int>)",
        "<@D>.pop(<str>, <int>)",
        "memo(<int>)",
        "GD['u']",
        "LIMITS['low']",
        "int(<T>.sum().item() > 0)",
        "<LI>.__len__()",
        "functools.reduce(operator.mul, <LI>, 1) % 17",
        "(<int>).bit_length()",
        "getattr(<O>, 'extra', <int>)",
        "len(vars(<O>))",
        "bool(<LI>) + <int>",
        "vars(<O>)['value']",
        "[<int>, <int>][<bool>]",
    ],
    "float": [
        "<float> * 2",
        "<float> + <int>",
        "<int> / 2",
        "float(<int>)",
        "max(<float>, <float>)",
        "-<float>",
        "<float> // 0.4",
        "round(<float>, 1)",
        "abs(<float>)",
        "(<float> if <bool> else <float>)",
        "<float> % 0.7",
        "float(<T>.sum())",
    ],
    "bool": [
        "<int> > <int>",
        "<int> == <int>",
        "<int> < <int> <= <int>",
        "<bool> and <bool>",
        "<bool> or <bool>",
        "not <bool>",
        "<int> in <LI>",
        "<str> in <D>",
        "<int> not in <S>",
        "<str> in <DT>",
        "<float> > <int>",
        "<str> == <str>",
        "<LI> == <LI>",
        "<@LI> is <@LI>",
        "<@T> is <@T>",
        "<@T> is not None",
        "<@O> is <@O>",
        "<O> == <O>",
        "isinstance(<O>, Child)",
        "<D> == <D>",
        "<S> <= <S>",
        "hasattr(<O>, 'extra')",
        "hasattr(<O>, <str>)",
        "any(<LI>)",
        "all(e > 0 for e in <LI>)",
        "<T>.requires_grad",
        "<T>.dtype == torch.float32",
        "<T>.shape == <T>.shape",
        "<T>.is_contiguous()",
        "torch.is_grad_enabled()",
        "<LI> < <LI>",
        "bool(<O>)",
        "callable(<O>)",
        "<int> in <O>",
        "<str>.startswith('u')",
        "<str> < <str>",
        "<str> is <str>",
        "<@LT>[0] is <@T>",
        "any(e is <@T> for e in <LT>)",
        "<@T> is <O>.t",
        "(<T>.sum() > 0).item()",
        "bool(<T>.mean() > 0)",
        "isinstance(<T>, torch.Tensor)",
        "type(<O>) is Box",
        "<int> is <int>",
        "<float> == <int>",
        "(<int>, <str>) < (<int>, <str>)",
        "any(<bool|e=int> for e in <LI>)",
        "len({*<LI>}) == len(<LI>)",
        "Color(1) is Color.RED",
        "issubclass(type(<O>), Box)",
        "<LI> is not None and <bool>",
        "torch.is_tensor(<O>.t)",
    ],
    "str": [
        "f'{<int>}'",
        "f'{<int>:>3}|{<str>!r}'",
        "f'{<float>:.2f}'",
        "<str> + <str>",
        "<str>.upper()",
        "<str> * 2",
        "str(<int>)",
        "'-'.join(str(e) for e in <LI>)",
        "','.join(sorted(<D>))",
        "repr(<LI>)",
        "<str>[::-1]",
        "'%s=%d' % (<str>, <int>)",
        "'{} {b}'.format(<int>, b=<str>)",
        "str(<T>.dtype)",
        "type(<O>).__name__",
        "f'{<D>}'",
        "str(<T>.shape)",
        "f'{<bool>!s:>6}'",
        "f'{<int>=}'",
        "repr(<O>)",
        "f'{<O>}'",
        "str(<S> and 1)",
        "' '.join([<str>, <str>])",
        "<str>.replace('u', 'v')",
        "Color.RED.name",
        "f'{<float>:{<int>}}'",
        "(<str> if <bool> else <str>)",
        "helper.__name__",
        "(<str> or <str>)",
    ],
    "LI": [
        "[<int>, <int>]",
        "<LI> + <LI>",
        "[<int|e=int> for e in <LI>]",
        "[e for e in <LI> if <bool|e=int>]",
        "list(range(<int>))",
        "sorted(<LI>)",
        "sorted(<LI>, key=lambda e: -e)",
        "sorted(<LI>, reverse=<bool>)",
        "<LI>[1:]",
        "<LI>[::-1]",
        "<LI>[:<int>]",
        "list(<LI>)",
        "[*<LI>, <int>]",
        "list(reversed(<LI>))",
        "list(map(<FI>, <LI>))",
        "[i * e for i, e in enumerate(<LI>)]",
        "sorted(<S>)",
        "list(<D>.values())",
        "list(filter(None, <LI>))",
        "[p + q for p, q in zip(<LI>, <LI>)]",
        "list(<It>)",
        "<LI> * 2",
        "<LI>.copy()",
        "(<LI> if <bool> else <LI>)",
        "[p * q for p in <LI> for q in <LI> if p != q][:4]",
        "list(itertools.chain(<LI>, <LI>))",
        "list(itertools.islice(<It>, 2))",
        "list(<Q>)",
        "list(dict.fromkeys(<LI>))",
        "list(itertools.accumulate(<LI>))",
        "<O>.items",
        "list(<O>)",
        "[*map(len, [<str>, <str>])]",
        "list(<T>.shape)",
        "[*gen(<int>)]",
        "[len(k) + v for k, v in <D>.items()]",
        "[v for v, _ in sorted(zip(<LI>, <LI>))]",
        "list(delegating(<LI>))",
        "[[<int|e=int>] for e in <LI>][0]",
        "(<LI> or <LI>)",
        "list(itertools.product(<LI>, <LI>))[0:0]",
        "<@LI>",
    ],
    "LT": [
        "[<T>, <T>]",
        "[<T|e=T> for e in <LT>]",
        "<LT> + <LT>",
        "[<T>] * 2",
        "<LT>[:1]",
        "list(<DT>.values())",
        "[*<LT>, <T>]",
        "<LT>[::-1]",
        "[<T> * e for e in <LI>]",
        "[t for t in <LT> if t.dim() > 0]",
        "list(map(<F>, <LT>))",
        "[p + q for p, q in zip(<LT>, <LT>)]",
        "list(reversed(<LT>))",
        "[t for t in <T>]",
        "list(<T>.unbind(0))",
        "[*<T>.chunk(3)]",
        "list(torch.split(<T>, 1))",
        "<@LT>",
    ],
    "LL": [
        "[<LI>, <LI>]",
        "[[<int>] for _ in range(2)]",
        "[<LI>] * 2",
        "[list(range(e % 4)) for e in <LI>]",
        "[<@LI>, <@LI>]",
    ],
    "D": [
        "{<str>: <int>, <str>: <int>}",
        "dict(<D>)",
        "{**<D>, <str>: <int>}",
        "{k: v + 1 for k, v in <D>.items()}",
        "<D> | <D>",
        "dict(a=<int>)",
        "dict(zip('uwz', <LI>))",
        "{k: v for k, v in <D>.items() if <bool|v=int>}",
        "<D>.copy()",
        "dict(sorted(<D>.items()))",
        "counted(<LI>)",
        "dict(<O>.__dict__, t=0, items=0, child=0, log=0)",
        "OrderedDict(<D>)",
        "{str(e): e for e in <LI>}",
        "<@D>",
    ],
    "DT": [
        "{<str>: <T>, 'u': <T>}",
        "{k: v * 2 for k, v in <DT>.items()}",
        "dict(<DT>, u=<T>)",
        "{**<DT>}",
        "{str(i): t for i, t in enumerate(<LT>)}",
        "<@DT>",
    ],
    "S": [
        "{<int>, <int>}",
        "set(<LI>)",
        "<S> | <S>",
        "<S> & <S>",
        "<S> - {<int>}",
        "{<int|e=int> for e in <LI>}",
        "frozenset(<LI>)",
        "<S>.union(<LI>)",
        "<S> ^ <S>",
    ],
    "Q": ["deque(<LI>)", "deque(<LI>, maxlen=2)", "deque()", "deque([<int>, <int>])"],
    "O": [
        "<@O>",
        "<@O>",
        "<@O>",
        "<@O>",
        "Box(<int>, <T>)",
        "Child(<int>, <T>)",
        "<O> + <int>",
        "box.child or box",
    ],
    "P": ["Pair(<T>, <int>)", "Pair(b=<int>, a=<T>)", "Pair(<T>, <int>)._replace(b=3)"],
    "DC": [
        "Point(<T>)",
        "Point(<T>, <int>)",
        "Point(<T>, n=<int>, tags=<LI>)",
        "dataclasses.replace(Point(<T>), n=<int>)",
    ],
    "F": [
        "(lambda t: <T|t=T>)",
        "helper",
        "torch.sin",
        "functools.partial(helper, k=<int>)",
        "<O>.scaled",
        "make(<int>)",
        "(lambda t, k=<int>: t * k)",
        "<@F>",
        "twice(<F>)",
        "operator.neg",
        "torch.nn.functional.relu",
    ],
    "FI": [
        "(lambda i: <int|i=int>)",
        "abs",
        "(lambda i, *r, k=<int>: i + k)",
        "functools.partial(max, <int>)",
        "fib3",
        "<@FI>",
        "operator.neg",
        "counter()",
        "int",
    ],
    "It": [
        "iter(<LI>)",
        "gen(<int>)",
        "(<int|e=int> for e in <LI>)",
        "iter(range(<int>))",
        "map(<FI>, <LI>)",
        "itertools.islice(itertools.count(<int>), 4)",
        "reversed(<LI>)",
        "(e for e in <LI> if <bool|e=int>)",
        "zip_sums(<LI>, <LI>)",
        "itertools.islice(itertools.cycle([<int>, 1]), 4)",
        "itertools.chain(<LI>, <It>)",
        "itertools.repeat(<int>, 2)",
    ],
    "result": [
        "<T>",
        "<T>",
        "<T>, <int>",
        "(<T>, <LI>)",
        "[<T>, <D>]",
        "{'r': <T>, 'i': <int>}",
        "None",
        "<T>, <T>, <str>",
        "<O>",
        "<LT>",
    ],
}

_MANY = [
    "<+T> = <T>",
    "<+T> = <T>",
    "<+T> = <T>",
    "<+T> = <T>",
    "<~T> = <T>",
    "<~T> = <T>",
    "<~T> += <T>",
    "<~T> *= <float>",
    "<+int> = <int>",
    "<~int> = <int>",
    "<~int> += <int>",
    "<~int> -= 1",
    "<+LI> = <LI>",
    "<+LT> = <LT>",
    "<+D> = <D>",
    "<+DT> = <DT>",
    "<+S> = <S>",
    "<+bool> = <bool>",
    "<+str> = <str>",
    "<+float> = <float>",
    "<+O> = <O>",
    "<+F> = <F>",
    "<+FI> = <FI>",
    "<+It> = <It>",
    "<+Q> = <Q>",
    "<+P> = <P>",
    "<+DC> = <DC>",
    "<+LL> = <LL>",
]

STATEMENTS = _MANY + [
    # names
    "<a:+LI> = <+LI> = <LI>", "<a:@LI> = <a>", "<+LI> = <@LI>", "<+O> = <@O>", "<+T>, <+T> = <T>, <T>", "<a:~T>, <b:~T> = <b>, <a>",
    "<+int>, *<+LI> = <LI>", "*<+LI>, <+int> = <LI>", "<+int>, (<+int>, <+str>) = <int>, (<int>, <str>)", "[<+T>, <+T>] = <LT>", "<+T>, <+int> = <@P>",
    "del <@LI>[0]", "del <@D>[<str>]", "del <@LI>[:1]", "<a:+T> = <T>\ndel <a>", "del <O>.extra", "<+int>: int = <int>", "global LOG\nLOG = LOG + [<int>]",
    # globals
    "GN = <int>", "GN += 1", "GT = <T>", "GL = <LI>", "GL.append(<int>)", "GD[<str>] = <int>", "LOG.append(<int>)", "LOG.append(<str>)", "LOG.append(<T>)", "GT.mul_(<float>)",
    # containers written
    "<@LI>.append(<int>)", "<@LI>.extend(<LI>)", "<@LI>.insert(<int>, <int>)", "<@LI>[<int>] = <int>", "<@LI>[1:] = <LI>", "<@LI>.sort()", "<@LI>.reverse()",
    "<@LI>.pop(0)", "<@LI>.clear()", "<@LI>.remove(<int>)", "<~LI> += <LI>", "<a:~LI> *= 2 - (len(<a>) > 3)", "<@LI>.sort(key=lambda e: (e % 2, e), reverse=<bool>)", "<@LI>[::2] = <LI>",
    "<@LI>[<int>] += <int>", "<@LT>.append(<T>)", "<@LT>[0] = <T>", "<@LT>[<int>] += <T>", "<@LT>[0].add_(<int>)", "<@LT>.extend(<LT>)", "<@LT>.insert(0, <T>)", "<@LT>.pop()",
    "<@D>[<str>] = <int>", "<@D>[<str>] += <int>", "<@D>.update(<D>)", "<@D>.pop(<str>)", "<@D>.setdefault(<str>, <int>)", "<@D>.clear()", "<@D> |= <D>", "<@D>.popitem()",
    "<@D>.update(k=<int>)", "<@DT>[<str>] = <T>", "<@DT>[<str>].mul_(<int>)", "<@DT>[<str>] += <T>", "<@DT>.pop(<str>, None)", "<@DT>.update(u=<T>)",
    "<@S>.add(<int>)", "<@S>.discard(<int>)", "<@S>.update(<LI>)", "<@S> |= {<int>}", "<@Q>.append(<int>)", "<@Q>.appendleft(<int>)", "<@Q>.extend(<LI>)", "<@Q>.rotate(1)",
    "<@LL>[0].append(<int>)", "<@LL>[-1] = <LI>", "<@LL>.append(<@LI>)", "<@LL>[0] += [<int>]", "<@D>.move_to_end(<str>)",
    # objects written
    "<O>.value = <int>", "<O>.value += <int>", "<O>.t = <T>", "<O>.t += <T>", "<O>.extra = <int>", "<O>.items.append(<int>)", "<O>.items = <LI>", "<O>.bump(<int>)", "<O>.child = <O>",
    "<@O>[<int>] = <int>", "<~O> += 1", "<O>.double = <int>", "setattr(<O>, <str> or 'q', <T>)", "<O>.t.mul_(2)", "<@DC>.n = <int>", "<@DC>.tags.append(<int>)", "<@DC>.a = <T>",
    "Box.limit = <int>", "<O>.__dict__['extra'] = <int>", "<O>.t = <O>.t.detach()", "<O>.log = []\n<O>.log.append(<T>)", "delattr(<O>, 'extra')", "Counted.total += <int>",
    # tensors written
    "<@T>.add_(<T>)", "<@T>.mul_(<float>)", "<@T>[0] = <float>", "<@T>[<int>:] += 1", "<@T>[<T> > 0] = <float>", "<@T>.zero_()", "x.add_(1)", "<@T>.copy_(<T>)", "<@T>.detach().mul_(2)",
    # calls for effect
    "print(<int>, <str>)", "print(f'{<int>} {<str>!r}', end=';')", "print(<LI>, sep='')", "print(<D>)", "print(<T>.shape, <bool>)", "print('at', <float>)", "print(<T>.sum().item() > 0)",
    "assert <bool>, <str>", "assert <int> >= 0", "torch.set_grad_enabled(<bool>)", "torch._dynamo.graph_break()", "helper(<T>)", "noisy(<int>)", "<+T> = noisy(<int>) * <T>",
    # branches
    "if <bool>:\n    <block>", "if <bool>:\n    <block>\nelse:\n    <block>", "if <int> > <int>:\n    <block>\nelif <bool>:\n    <block>\nelse:\n    <block>",
    "if <T>.sum() > 0:\n    <block>", "if <T>.mean() > <float>:\n    <block>\nelse:\n    <block>", "if <bool> and <T>.sum() > 0:\n    <block>",
    "if <bool>:\n    <+T> = <T>\nelse:\n    <+T> = <T>", "if <bool>:\n    <a:+T> = <T>\nelse:\n    <a> = <T>", "if <T>.sum() > 0:\n    <a:+T> = <T>\nelse:\n    <a> = <T>",
    "if (<a:.int> := <int>) > 1:\n    <block>", "if <O>:\n    <block>", "if not <LI>:\n    <block>", "if <@T> is <@T>:\n    <block>",
    "match <int>:\n    case 0 | 1:\n        <block>\n    case <.int> if <bool>:\n        <block>\n    case _:\n        <block>",
    "match <LI>:\n    case []:\n        <block>\n    case [<.int>, *<.LI>]:\n        <block>",
    "match <D>:\n    case {'u': <.int>, **<.D>}:\n        <block>\n    case _:\n        <block>",
    "match <O>:\n    case Child(value=<.int>):\n        <block>\n    case Box(value=<.int>, t=<.T>):\n        <block>",
    "match (<int>, <str>):\n    case (1, _):\n        <block>\n    case (<.int>, 'u' | 'w'):\n        <block>",
    "match <P>:\n    case Pair(<.T>, <.int>):\n        <block>", "match <str>:\n    case 'u':\n        <block>\n    case str():\n        <block>",
    # loops
    "for <.int> in range(<int> % 4):\n    <loop>", "for <.int> in range(3):\n    <loop>", "for <.int> in <LI>[:4]:\n    <loop>", "for <.T> in <LT>[:3]:\n    <loop>", "for <.int> in <@LI>:\n    <loop>",
    "for <.int>, <.T> in enumerate(<LT>[:3]):\n    <loop>", "for <.int>, <.int> in zip(<LI>, <LI>):\n    <loop>", "for <.str>, <.int> in <D>.items():\n    <loop>", "for <.str> in <@D>:\n    <loop>",
    "for <.int> in reversed(<LI>):\n    <loop>", "for <.int> in sorted(<S>):\n    <loop>", "for <.str>, <.T> in <DT>.items():\n    <loop>", "for <.int> in <O>:\n    <loop>",
    "for <.int> in <It>:\n    <loop>\n    break", "for <.int> in itertools.islice(<It>, 3):\n    <loop>", "for <.T> in <T>:\n    <loop>", "for <.str> in list(<D>):\n    <loop>",
    "for <.int> in range(3):\n    <loop>\nelse:\n    <block>", "for <.int> in <LI>:\n    if <bool>:\n        break\nelse:\n    <block>", "for <.int>, (<.str>, <.int>) in enumerate(<D>.items()):\n    <loop>",
    "for <a:.int> in range(3):\n    <~T> = <T> + <a>", "for <a:.int> in range(4):\n    if <a> == 2:\n        continue\n    <loop>", "for <.int> in <LI>:\n    for <.int> in <LI>:\n        <loop>",
    "<a:+int> = <int> % 4\nwhile <a> > 0:\n    <a> -= 1\n    <loop>", "<a:+int> = 0\nwhile True:\n    <a> += 1\n    if <a> > 3 or <bool>:\n        break\n    <loop>",
    "<a:+int> = 3\nwhile <a> and <T>.sum() > -100:\n    <a> -= 1\n    <loop>\nelse:\n    <block>", "<a:+LI> = <LI>[:3]\nwhile <a>:\n    <~T> = <T> * <a>.pop()", "for <.int> in range(2):\n    <a:+T> = <T>",
    "for <a:.T> in <LT>:\n    <a>.add_(1)", "for <.LI> in <LL>:\n    <loop>", "<a:+LT> = []\nfor <b:.int> in range(3):\n    <a>.append(<T> + <b>)", "for <a:.int> in range(2):\n    <+FI> = lambda q: q + <a>",
    # exceptions
    "try:\n    <block>\nexcept ValueError:\n    <block>", "try:\n    <block>\nfinally:\n    <block>", "try:\n    <block>\n    raise MyError(<int>)\nexcept ValueError as err:\n    LOG.append(err.args)\n    <block>",
    "try:\n    <a:+int> = <@D>[<str>]\nexcept KeyError as err:\n    <a> = len(str(err))", "try:\n    <a:+int> = <LI>[<int>]\nexcept (IndexError, TypeError):\n    <a> = <int>", "try:\n    <block>\nexcept Exception as err:\n    print(type(err).__name__, err)\nelse:\n    <block>",
    "try:\n    <block>\n    if <bool>:\n        raise ValueError(<str>)\n    <block>\nexcept ValueError as err:\n    <a:+str> = str(err)\nelse:\n    <a> = 'no'\nfinally:\n    <block>", "try:\n    <+T> = <T> @ torch.ones(7)\nexcept RuntimeError:\n    <block>",
    "try:\n    1 // (<int> - <int>)\nexcept ZeroDivisionError as err:\n    LOG.append(str(err))", "try:\n    try:\n        raise KeyError(<str>)\n    except KeyError as err:\n        raise MyError(<int>) from err\nexcept MyError as err:\n    LOG.append((type(err.__cause__).__name__, err.code))",
    "try:\n    try:\n        <block>\n    finally:\n        LOG.append('inner')\nexcept KeyError:\n    <block>", "try:\n    picky(<int>)\nexcept MyError as err:\n    <~T> = <T> * err.code", "try:\n    <O>.nothing\nexcept AttributeError as err:\n    LOG.append(str(err))",
    "try:\n    next(<@It>)\nexcept StopIteration:\n    <block>", "try:\n    <+int> = int(<str>)\nexcept ValueError:\n    pass", "for <.int> in range(2):\n    try:\n        <loop>\n    finally:\n        <block>", "try:\n    assert <bool>, 'no'\nexcept AssertionError as err:\n    LOG.append(str(err))",
    "try:\n    <a:+int>, <b:+int> = <LI>\nexcept ValueError as err:\n    <a> = <b> = 1\n    LOG.append(str(err))", "try:\n    <block>\n    return <result>\nfinally:\n    LOG.append('out')",
    # with
    "with torch.no_grad():\n    <block>", "with torch.no_grad():\n    <+T> = <T>", "with torch.enable_grad():\n    <block>", "with Ctx(<str>) as <.int>:\n    <block>", "with Ctx('k', swallow=True):\n    <block>\n    raise MyError(<int>)", "with Ctx('p'), torch.no_grad():\n    <block>",
    "with managed(<int>) as <.int>:\n    <block>", "with contextlib.suppress(KeyError, ValueError):\n    <block>\n    <+int> = <D>[<str>]", "with contextlib.nullcontext(<T>) as <.T>:\n    <block>", "with torch.set_grad_enabled(<bool>):\n    <block>", "for <.int> in range(2):\n    with Ctx('l'):\n        <loop>",
    "with Ctx('r'):\n    if <bool>:\n        return <result>", "with contextlib.ExitStack() as stack:\n    stack.enter_context(Ctx('e'))\n    <block>", "with torch.no_grad():\n    if <T>.sum() > 0:\n        <block>",
    # functions
    "def <+F>(<.T>):\n    <function:T>", "def <+F>(<.T>, <.int>=<int>):\n    <function:T>", "def <+FI>(<.int>, *rest, <.int>=<int>, **more):\n    <function:int>", "def <a:+F>(<.T>):\n    <function:T>\n<+T> = <a>(<T>)", "@twice\ndef <+F>(<.T>):\n    <function:T>",
    "def <a:+FI>(<.int>):\n    <generator>\n<+LI> = list(<a>(<int>))", "def <a:+FI>(<.int>):\n    <generator>\nfor <.int> in <a>(2):\n    <loop>", "def <a:+FI>(<.int>):\n    <generator>\n<+It> = <a>(<int>)", "@functools.wraps(helper)\ndef <+F>(<.T>, *args, **kwargs):\n    <function:T>",
    "<a:+int> = <int>\ndef <b:+FI>(<c:.int>):\n    nonlocal <a>\n    <a> += <c>\n    return <a>\n<+int> = <b>(<int>)", "<a:+LI> = []\ndef <b:+FI>(<c:.int>, into=<a>):\n    into.append(<c>)\n    return len(into)\n<b>(<int>)\n<b>(<int>)", "<a:+FI> = lambda q: q if q < 1 else <a>(q - 1) + 1\n<+int> = <a>(3)",
    "<+int> = sum(map(<FI>, <LI>))", "<a:+It> = <It>\n<+int> = next(<a>, 0)\n<+LI> = list(itertools.islice(<a>, 3))", "<a:+It> = echo(<int>)\nnext(<a>)\n<+int> = <a>.send(<int>)", "<a:+It> = echo(<int>)\nnext(<a>)\n<a>.close()",
    "<a:+D> = defaultdict(int)\nfor <b:.int> in <LI>:\n    <a>[str(<b> % 2)] += 1", "<a:+LI> = <LI>\n<b:+LI> = <a>\n<b> += [<int>]\n<+bool> = <a> is <b>", "<+T> = yield_sum(<LT>) + <T>", "<+LI> = [*<LI>, *(<S> and [1])]",
    # classes
    "<a:+O> = Box(<int>, <T>)\n<a>.child = <a>", "<a:+O> = Child(<int>, <T>)\n<a>.items = <a>.items + <LI>", "<+str> = super(Child, Child(<int>, <T>)).describe()",
]  # fmt: skip

ENDINGS = [
    "return <T>", "return <T>, <T>", "return <T>, <int>, <LI>", "return [<T>, <LT>]", "return {'a': <T>, 'b': <D>, 'c': <@LI>}", "return <T>, <O>, box", "return <T>, <F>", "return <T>, <It>", "return <@LI>, <T>, <@LI>",
    "return <@T>, <@T>, <@T>", "return <P>, <DC>", "return <T>, <str>, <S>, <bool>", "return <LT>, <DT>, <@LT>", "return <LL>, <@LI>, <T>", "return <O>, <T>, <Q>", "return <T>, [<@T>], (<@T>, <@O>)", "return <float>, <int>, <T>",
    "raise MyError(<int>)", "raise ValueError(<str>)", "return <T> / <LI>[<int>]", "raise KeyError(<int>) from MyError(<int>)", "assert <bool>, <str>\n    return <T>", "return <T>[<int>], <@D>[<str>]", "return locals() and <T>", "return (<T> + torch.ones(5), <int>)",
    "return <result>", "return <T>.sum() if <bool> else (<int>, <T>)", "return tuple(<LT>) + (<T>,)", "return <T>, tens, tabt", "return <T>, <FI>", "return <T>, items, table, box",
]  # fmt: skip

# What the caller does between two calls.
CHANGES = [
    "a.n += 1", "a.n = 0", "a.n = True", "a.n = 2.0", "a.s = -a.s", "a.s = 0.0", "a.s = -0.0", "a.s = 1", "a.flag = not a.flag", "a.flag = 1", "a.flag = None", "a.name = 'w'", "a.name = 'z'", "a.name = ''", "a.items.append(4)", "a.items.clear()",
    "a.items = [3, 1, 2]", "a.items[0:1] = [9]", "a.items = [True, 1.0]", "a.items = (1, 2)", "a.items.reverse()", "a.tens.append(torch.zeros(3))", "a.tens[0] = a.tens[-1]", "a.tens.clear()", "a.tens = [a.y, a.x]", "a.tens.reverse()", "a.tens = (a.x, a.x)",
    "a.table['u'] = 7", "a.table['k'] = 1", "a.table.pop('u', None)", "a.table = {'w': 5, 'u': 1}", "a.table = OrderedDict(w=1, u=2)", "a.table = defaultdict(int, u=4)", "a.table.clear()", "a.tabt['u'] = a.x", "a.tabt = {'z': a.x, 'u': a.y}", "a.tabt['u'] = a.tabt['u'].double()", "a.tabt.pop('z', None)",
    "a.box.value += 1", "a.box.value = 1.0", "a.box.t = a.x", "a.box.t = a.box.t.clone()", "a.box.extra = 3", "a.box.items.append(2)", "a.box.child = a.box", "a.box = Child(2, a.x)", "a.box.__class__ = Child", "a.box.items = a.items", "a.box.__dict__['scaled'] = lambda t: t * 9", "a.box.u = a.y",
    "a.box.child = Box(5, a.y)", "Box.limit = 4", "Box.scale = 3", "Box.scaled = lambda self, t: t - 1", "Child.scaled = lambda self, t: t - 5", "Box.double = property(lambda self: 77)", "a.x = a.x.double()", "a.x = a.x.clone()", "a.x = torch.ones(4)", "a.x = torch.ones(())", "a.x = a.y", "a.y = a.x", "a.x = a.x.detach().requires_grad_()",
    "a.y = a.y.detach()", "a.x = torch.ones(3, dtype=torch.int64)", "a.x = torch.ones(6)[::2]", "a.x = a.tens[0] if a.tens else a.x", "a.x = a.x.detach() + 1", "a.y = a.x.detach()[:3]", "a.x = torch.nn.Parameter(a.x.detach().clone())",
    "GN += 1", "GN = 2.0", "GN = 0", "GL = [5]", "GL.append(6)", "GL = a.items", "GT = GT.double()", "GT = a.x", "GT = torch.ones(3)", "GD['u'] = 4", "GD['w'] = 2", "GD.clear()", "a.table = GD", "LOG.clear()", "helper = lambda t, k=1: t + 100", "helper.__defaults__ = (4,)", "helper.__kwdefaults__ = {'k': 5}",
    "helper.__code__ = (lambda t, k=1: t * 0).__code__", "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)", "torch.set_default_dtype(torch.float64)", "Counted.total = 5", "LIMITS['low'] = 3", "a.items = a.box.items", "a.tens = a.tens * 2",
]  # fmt: skip

# Module-level definitions, put into a program that names them. Holes are filled once a program.
DEFINITIONS = {
    "Box": """class Box:
    limit = <int>
    scale = <int>
    def __init__(self, value, t):
        self.value, self.t = value, t
        self.items = [value, <int>]
        self.child = None
    @property
    def double(self):
        return self.value * 2
    @double.setter
    def double(self, to):
        LOG.append('set')
        self.value = to // 2
    def scaled(self, t):
        return <T|self.value=int, t=T, self.t=T, self.limit=int> * self.scale
    def bump(self, by=1):
        self.value += by
        return self
    def describe(self):
        return f'{type(self).__name__} {self.value} {self.items}'
    def __call__(self, t):
        return self.scaled(t) + <int|self.value=int>
    def __len__(self):
        return len(self.items)
    def __bool__(self):
        return <bool|self.value=int, self.items=LI>
    def __iter__(self):
        for item in self.items:
            yield item
    def __contains__(self, item):
        return item in self.items or item == self.value
    def __eq__(self, other):
        return isinstance(other, Box) and self.value == other.value
    def __hash__(self):
        return 7
    def __getitem__(self, i):
        return self.items[i]
    def __setitem__(self, i, to):
        self.items[i] = to
    def __add__(self, n):
        return type(self)(self.value + n, self.t)
    def __iadd__(self, n):
        self.value += n
        return self
    def __repr__(self):
        return f'<{self.describe()}>'
""",
    "Child": """class Child(Box):
    def __init__(self, value, t):
        super().__init__(value + 1, t)
        self.extra = <int>
    def scaled(self, t):
        return super().scaled(t) + <T|t=T, self.t=T>
    @property
    def double(self):
        return super().double + 1
    @double.setter
    def double(self, to):
        self.value = to
""",
    "Counted": """class Counted:
    total = 0
    def __init__(self, t):
        self.t = t
        Counted.total += 1
    @classmethod
    def make(cls, t):
        return cls(cls.adjust(t))
    @staticmethod
    def adjust(t):
        return <T|t=T>
""",
    "Lazy": """class Lazy:
    def __init__(self, t):
        self.t = t
    def __getattr__(self, name):
        if name == 'other':
            self.other = <T|self.t=T>
            return self.other
        if name.startswith('__'):
            raise AttributeError(name)
        return self.t * len(name)
""",
    "Slots": """class Slots:
    __slots__ = ('t', 'n')
    def __init__(self, t, n):
        self.n = n
        self.t = <T|t=T> + self.n
""",
    "Doubled": """class Doubled:
    def __set_name__(self, owner, name):
        self.name = '_' + name
    def __get__(self, of, cls=None):
        return getattr(of, self.name) * 2
    def __set__(self, of, to):
        setattr(of, self.name, <T|to=T>)
""",
    "Descr": """class Descr:
    value = Doubled()
    def __init__(self, value):
        self.value = value
""",
    "Color": """class Color(enum.Enum):
    RED = 1
    BLUE = 2
    @property
    def scale(self):
        return self.value + <int>
""",
    "Pair": "Pair = namedtuple('Pair', 'a b')\n",
    "Point": """@dataclasses.dataclass
class Point:
    a: torch.Tensor
    n: int = <int>
    tags: list = dataclasses.field(default_factory=list)
    def __post_init__(self):
        self.n += 1
""",
    "MyError": """class MyError(ValueError):
    def __init__(self, code):
        super().__init__('my', code)
        self.code = code
""",
    "Ctx": """class Ctx:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow
    def __enter__(self):
        LOG.append('enter ' + self.name)
        return <int>
    def __exit__(self, kind, error, trace):
        LOG.append(('exit', self.name, kind and kind.__name__))
        return self.swallow
""",
    "managed": """@contextlib.contextmanager
def managed(n):
    LOG.append('in')
    try:
        yield n + <int>
    except MyError:
        LOG.append('seen')
        raise
    finally:
        LOG.append('out')
""",
    "helper": """def helper(t, k=<int>):
    return <T|t=T> * k
""",
    "chain": """def chain(first=GT, *rest):
    for item in rest:
        first = first + item
    return first
""",
    "collect": """def collect(t, **named):
    for key in named:
        t = t + named[key] * len(key)
    return t
""",
    "recursive": """def recursive(t, depth):
    if depth <= 0:
        return <T|t=T>
    return recursive(t * 2, depth - 1) + depth
""",
    "fib": """def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
""",
    "fib3": "fib3 = functools.partial(min, 3)\n",
    "memo_table": "memo_table = {}\n",
    "memo": """def memo(n):
    if n not in memo_table:
        memo_table[n] = <int|n=int>
    return memo_table[n]
""",
    "log_calls": """def log_calls(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        LOG.append(fn.__name__)
        return fn(*args, **kwargs)
    wrapper.calls = 0
    return wrapper
""",
    "decorated": """@log_calls
def decorated(t, n=1):
    return <T|t=T> + n
""",
    "twice": """def twice(fn):
    return lambda t: fn(fn(t))
""",
    "make": """def make(n):
    k = n + <int>
    def inner(t):
        nonlocal k
        k += 1
        return t * k + n
    return inner
""",
    "counter": """def counter():
    seen = []
    def count(i):
        seen.append(i)
        return len(seen) + i
    return count
""",
    "counted": """def counted(items):
    found = {}
    for item in items:
        found[str(item)] = found.get(str(item), 0) + 1
    return found
""",
    "gen": """def gen(n):
    for i in range(n % 5):
        yield i * <int|i=int>
    return n
""",
    "echo": """def echo(n):
    while n < 50:
        got = yield n
        n = n + 1 if got is None else got
""",
    "delegating": """def delegating(items):
    done = yield from items
    yield <int>
    back = yield from gen(2)
    yield back
""",
    "zip_sums": """def zip_sums(p, q):
    for left, right in zip(p, q):
        yield left + right
""",
    "yield_sum": """def yield_sum(ts):
    total = 0
    for t in (t * 2 for t in ts):
        total = total + t
    return total
""",
    "noisy": """def noisy(n):
    print('noisy', n)
    return n + 1
""",
    "picky": """def picky(n):
    if n > <int>:
        raise MyError(n)
    return n
""",
    "guarded": """def guarded(t, n):
    try:
        return t * picky(n)
    except MyError as error:
        return t + error.code
    finally:
        LOG.append('guarded')
""",
}
