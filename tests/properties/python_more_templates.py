"""More of the grammar of python_templates: what Python adds to a language of that core. Operators
of classes, subclasses of builtins, dispatch, protocols with several steps, corner cases of numbers
and text.

Kinds besides those: V an ordered, frozen dataclass, M an object that does arithmetic with tensors,
K a list of a class of its own.
"""

# ruff: noqa: E501
# fmt: off

HEADER = """import bisect
import collections.abc
import copy
import heapq
import math
import string
import typing
from collections import ChainMap, Counter, UserDict

"""

EXPRESSIONS = {
    "T": [
        "kwonly(<T>, scale=<int>)", "kwonly(<T>, *<LI>, scale=<float>)", "posonly(<T>, <int>)", "posonly(<T>, b=<T>)",
        "(lambda t, /, s=1, *, k=<int>: t * s + k)(<T>, <int>)", "functools.reduce(lambda p, g: g(p), [<F>, <F>], <T>)",
        "[<T>, <T>][<bool>]", "{True: <T>, False: <T>}[<bool>]", "next((t for t in <LT> if t.dim()), <T>)", "(<LT> or [<T>])[-1]",
        "<T>[[0, 2, 1]]", "<T>[None][0]", "torch.where(<T> > <float>, <T>, <float>)", "<T>.clamp(<float>, 5.0)",
        "<T> ** 2", "<int> - <T>", "<bool> * <T>", "<float> / (<T>.abs() + 1)", "<T> // 2", "<T> % 2", "abs(<T>)", "<T>.masked_fill(<T> < 0, <float>)",
        "<@P>[0]", "Pair(*<@P>).a", "(<DT> | {'u': <T>})['u']", "ChainMap(<DT>, {'u': <T>})['u']", "dispatch(<T>, <str>)", "dispatch([<T>, <int>], <str>)",
        "Once(<T>).value", "Once(<T>).twice()", "(<M> + <M>).t", "(<M> * <int>).t", "(<int> + <M>).t", "(<T> + <M>).t", "(<M> @ <T>)", "(<M>)[<int>]", "<M>.t", "(-<M>).t",
        "show(<T>)", "show(<int>) * <T>", "Proxy(<O>).t", "Proxy(<O>).scaled(<T>)", "both(<T>)", "Diamond(<T>).go()", "<V>.major * <T>",
        "<T>.mul(<T>).add(<int>)", "torch.Tensor.add(<T>, <T>)", "operator.methodcaller('mul', <int>)(<T>)", "operator.getitem([<T>], 0)", "getattr(torch, 'cos')(<T>)",
        "copy.copy(<O>).t", "(<O> and <T>)", "(<@T> if <@T> is not None else <T>)", "(<LT> and <LT>[0] if <LT> else <T>)", "sum(<LT>[:2]) + <T>", "math.prod([2, <int>]) * <T>",
        "torch.ones(3)[torch.tensor([True, False, True])].sum() * <T>", "<T>[torch.arange(3, device='cpu') % 3]", "<T>.sum(dim=0, keepdim=True)", "<T>.T", "torch.cat((<T>, <T>), dim=0)[::2]",
        "<T>.type(torch.float32)", "<T>.eq(<T>).float()", "(<T> > <float>) * <T>", "(<T> == <T>) + <T>", "torch.zeros_like(<T>)", "torch.arange(3) + <T>", "<T>.tolist()[0] * <T>",
    ],
    "int": [
        "<int> % -3", "<int> // -2", "divmod(-<int>, 4)[0]", "-<int> ** 2 % 7", "pow(<int>, 2, 5)", "<int> >> 1", "int(<float> * 3)", "math.floor(<float>)", "math.gcd(<int>, 12)",
        "math.isqrt(abs(<int>))", "int('1f', 16)", "<str>.count('u')", "<str>.find('b')", "len(range(<int>, 10, 3))", "range(10)[<int>]", "range(1, 9, 2).index(3)", "True + <bool>",
        "operator.xor(<int>, 3)", "sum(map(len, [<str>, <LI>]))", "max(<LI>, key=lambda e: -e, default=<int>)", "min(<D>.values(), default=<int>)", "sum(<D>.values())",
        "len(<D>.keys() & <D>.keys())", "len(<D>.items() | <D>.items())", "len(<D>.keys() - <S>)", "<@Q>[-1]", "<@Q>.index(<int>)", "<@Q>.count(<int>)", "len(<Q>)", "(<Q>.maxlen or 0)", "min(<S>, default=0)", "sum(<S>)",
        "bisect.bisect(sorted(<LI>), <int>)", "Counter(<LI>)[<int>]", "sum(Counter(<str>).values())", "ChainMap(<D>, {'u': 4})['u']", "operator.methodcaller('count', 1)(<LI>)",
        "(<int>).__add__(<int>)", "int.__mul__(<int>, 2)", "next((e for e in <LI> if <bool|e=int>), -1)", "[*<LI>][<int>]", "<O>.__len__()", "type(<O>).limit", "<V>.minor", "<V>.total()", "<V>.major", "max(<V>, <V>).minor",
        "show(<int>)", "show(<str>)", "show(<LI>)", "len(<K>)", "<K>.top", "<K>[-1]", "<K>.push(<int>)", "sum(<K>)", "Defaulting(u=<int>)[<str>]", "Num.TWO + <int>", "Num(2) * <int>", "int(Num.ONE)", "(Mode.A | Mode.B).value",
        "Proxy(<O>).value", "Indexed(<int>).__index__()", "[<int>, <int>, <int>][Indexed(<int>)]", "int(Indexed(<int>))", "len(range(Indexed(3)))", "apply_n(<FI>, <int>, 2)", "compose(<FI>, <FI>)(<int>)", "depth(<LL>)", "depth([<LI>, [<LI>]])", "collatz(<int>)",
        "sum(i * v for i, v in enumerate(<LI>, 1))", "sum(p == q for p, q in zip(<str>, <str>))", "(lambda *a, **k: len(a) + len(k))(*<LI>, **<D>)", "(lambda a=<int>, /, *, b=<int>: a - b)(b=<int>)", "int(not <LI>)", "(<int>, <int>)[<bool>]", "len((<LI>, *<LI>))", "len(f'{<int>}')",
        "functools.reduce(lambda p, q: p * 2 + q, <LI>, <int>) % 31", "hash((<int>, <int>)) % 3", "int(str(abs(<int>)) * 2)", "bool(<str>) + bool(<D>)", "abs(<int> - <int>) or <int>", "len(set(<str>))", "<int> * (<int> > 2) + <int>", "len(<LI>[<int>:])", "<T>.stride()[0]", "<T>.size(0)", "(<T> > 0).sum().item()", "sys.getrecursionlimit() * 0",
    ],
    "float": [
        "math.sqrt(abs(<float>))", "<float> ** 2", "float('inf')", "float('nan')", "<float> / (<int> or 1)", "round(<float>, -1)", "divmod(<float>, 0.3)[1]", "min(<float>, <int>)", "max(<int>, <float>)", "sum([<float>, <float>, 0.1])",
        "float(f'{<float>:.1f}')", "math.copysign(1.0, <float>)", "max(<float>, -0.0)", "abs(<int> + 2j)", "(<float>).__neg__()", "<float> - <float>", "float(<str> or '1') if False else <float>", "math.fmod(<float>, 0.7)", "(<float> or <float>)", "<int> * <float>", "0.1 + 0.2", "<M>.t.sum().item()", "sum(<LI>) / (len(<LI>) or 1)", "-<float> % 3", "<float> // -0.4", "float(<int> // 2) ** 0.5 if <int> > 1 else 0.0",
    ],
    "bool": [
        "<int> < <int> > <int>", "<float> <= <int> < <int>", "not <LI>", "<str> in <str>", "<LI> in [<LI>, <LI>]", "<@O> in [<@O>, <O>]", "<@T> is None", "<D>.keys() == <D>.keys()", "<D>.keys() <= <D>.keys()", "<D>.items() == <D>.items()", "<Q> == <Q>", "<Q> < <Q>", "<S> < <S>", "<S>.isdisjoint(<LI>)", "<S> == frozenset(<LI>)",
        "tuple(<LI>) < tuple(<LI>)", "(<float>,) == (<int>,)", "math.isnan(<float>)", "<float> != <float>", "[<float>] == [<float>]", "<bool> is True", "<bool> == 1", "<V> < <V>", "<V> == <V>", "<V> in [<V>]", "max(<V>, <V>) >= <V>", "isinstance(<int>, (str, int))", "isinstance(<bool>, int)", "issubclass(MyError, (KeyError, ValueError))", "<str>.isdigit()", "<str>.endswith(('u', 'b'))", "all([])", "callable(<F>)", "hasattr(<T>, 'foo')",
        "isinstance(<It>, collections.abc.Iterator)", "isinstance(<O>, collections.abc.Sized)", "<int> in range(<int>)", "<int> in <D>.values()", "(<str>, <int>) in <D>.items()", "'extra' in vars(<O>)", "<K> == <LI>", "isinstance(<K>, list)", "<K> < <LI>", "Mode.A in (Mode.A | Mode.B)", "Num.TWO == <int>", "Num.TWO > <int>", "Num.ONE is Num(1)", "<bool> ^ True", "<bool> & <bool>", "<bool> | (<int> > 1)", "operator.contains(<LI>, <int>)", "operator.truth(<D>)", "(<int> > 1) is (<int> > 1)", "(<bool>, <int>) == (1, 2)", "<int> not in (0, 1, <int>)", "{<int>: 1} == {<int>: 1.0}", "<str> >= 'u'", "<str> and <str> == 'u'", "<Q> and True is True",
        "not (<int> or <LI>)", "<M> == <M>", "<@T> is not <@T>", "<T>.shape[0] == <int>", "(<T> > 0).all().item()", "any(t is <@T> for t in <LT>)", "<T>.equal(<T>)", "isinstance(<M>, typing.Hashable)", "<O> != <O>", "bool(<K>)", "<D> != {}", "None in [<int>, None]", "<float> in [0.0, <float>]", "<LI>.__contains__(<int>)",
    ],
    "str": [
        "f'{<int>:05d}'", "f'{<int>:+}'", "f'{<float>:>8.3f}'", "f'{<float>:e}'", "f'{<float>:g}'", "f'{<float>!r}'", "f'{<int>:#x}'", "f'{<int>:,}'", "f'{<str>:*^5}'", "f'{<str>!r:>6}'", "f'{<LI>}'", "f'{<D>!r}'", "f'{(<int>, <float>)}'", "f'{None}'", "'%5.2f' % <float>", "'%s %r' % (<str>, <str>)", "'%(u)s' % <D>", "'%d%%' % <int>", "'%s' % <LI>", "'%s' % (<LI>,)",
        "'{0[0]} {1!r:>4}'.format(<LI>, <str>)", "'{a.value}'.format(a=<O>)", "'{:>{w}}'.format(<int>, w=4)", "format(<float>, '.1f')", "format(<int>, 'b')", "str(<float>)", "repr(<float>)", "str(<bool>)", "repr(<str>)", "str(None)", "str(<Q>)", "repr(<V>)", "f'{<V>}'", "repr(Color.RED)", "str(Color.BLUE)", "f'{Num.TWO}'", "str(Mode.A | Mode.B)", "repr(<K>)", "f'{<M>}'", "f'{<M>:wide}'", "<str>.strip('u')", "<str>.title()", "<str>.zfill(4)", "<str>.ljust(4, '.')", "<str>.partition('b')[2]",
        "<str>.join(['a', 'b'])", "<str>.encode().hex()", "chr(97 + <int> % 26)", "<str>[<int>:]", "<str>[-1:]", "<str>.translate(str.maketrans('u', 'v'))", "<str>.split('u')[0]", "str(range(<int>))", "','.join(<D>)", "''.join(reversed(<str>))", "''.join(sorted(<str>))", "max(<D>, key=<D>.get, default=<str>)", "type(<int>).__name__", "type(<It>).__name__", "type(<D>).__name__", "str(ValueError(<str>))", "repr(MyError(<int>))", "str(KeyError(<str>))", "repr(KeyError(<int>, <str>))", "repr([<str>, <float>, None, <bool>])", "str({'k': [<int>], 2: (<int>,)})", "repr((<int>,))",
        "str(OrderedDict(<D>))", "str(defaultdict(int, <D>))", "str(Counter(<LI>))", "string.ascii_lowercase[<int>]", "<str> % () if False else <str>", "f'{<str>}' f'{<int>}'", "f'{<float>:.{abs(<int>)}f}'", "f\"{'-'.join(<D>)}\"", "str(slice(1, <int>))", "f'{<T>.shape[0]}x'", "repr(<S>)", "f'{sorted(<S>)}'", "show.__name__", "type(<K>).__qualname__", "Proxy.__name__", "<str>.removeprefix('u')", "str(b'a' + b'b')", "' '.join(map(str, <LI>))", "'a,b'.split(',')[<bool>]", "<str>.__class__.__name__", "str(type(<int>))", "str(1 + <int> * 1j)", "repr(-0.0)", "str(tuple(<LI>))", "str(<P>._fields)", "'' .join(k * v for k, v in <D>.items() if v < 4)",
    ],
    "LI": [
        "[<LI>, <LI>][<bool>]", "sorted(<LI>, key=lambda e: (e % 2, -e))", "sorted(<LI>, key=abs, reverse=True)", "sorted(<D>.values(), reverse=True)", "sorted({*<LI>}, reverse=<bool>)", "[e for p in [<LI>, <LI>] for e in p][:6]", "<LI>[<int>:<int>]", "<LI>[-2:]", "<LI>[<int>::2]", "<LI>[::-2]", "[y for e in <LI> if (y := e + 1) > 1]", "list(map(lambda p, q: p + q, <LI>, <LI>))", "list(map(max, <LI>, <LI>))", "list(itertools.starmap(lambda p, q: p - q, zip(<LI>, <LI>)))",
        "list(itertools.takewhile(lambda e: e > 0, <LI>))", "[len(list(g)) for _, g in itertools.groupby(<LI>)]", "[*itertools.compress(<LI>, [1, 0, 1])]", "list(itertools.accumulate(<LI>, max))", "[*range(<int>, -2, -1)]", "<K>", "<K> + <LI>", "<K>[:2]", "list(<K>)", "[i for i, e in enumerate(<LI>, <int>) if e]", "list(filter(lambda e: e % 2, <LI>))", "[*<Q>]", "list(reversed(<Q>))", "(lambda *a: list(a))(*<LI>)", "(lambda a, *b, c=1: [a, *b, c])(<int>, *<LI>, c=<int>)", "[*tree(<int> % 3)]", "[*countdown(<int> % 5)]", "sum([<LI>, <LI>], [])", "max([<LI>, <LI>])", "min([<LI>, <LI>], key=len)", "[*map(ord, <str>)]", "list({e: 1 for e in <LI>})", "[[e, 1][e > 1] for e in <LI>]", "[*dict(zip(<LI>, <LI>)).values()]",
        "[e for e in (<LI> if <bool> else [])]", "[p for p, *_ in [<LI> or [1], [2, 3]]]", "[sum(p) for p in zip(<LI>, <LI>, <LI>)]", "[sum(p) for p in itertools.combinations(<LI>[:3], 2)]", "[p * q for p, q in itertools.pairwise(<LI>)]", "[max(p) for p in itertools.zip_longest(<LI>, <LI>, fillvalue=0)]", "copy.copy(<LI>)", "copy.deepcopy(<LL>)[0]", "heapq.nsmallest(2, <LI>)", "[e.minor for e in sorted([<V>, <V>])]", "sorted(<LI>, key=functools.cmp_to_key(lambda p, q: q - p))", "[*Counter(<LI>).elements()]", "list(itertools.chain.from_iterable(<LL>))", "[*iter([<int>, <int>])]", "list(itertools.repeat(<int>, 2))", "[len(p) for p in <LL>]", "[*{**dict.fromkeys('ab', <int>)}.values()]", "list(<LI>.__iter__())", "[(lambda: e)() for e in <LI>]", "[g() for g in [lambda e=e: e for e in <LI>]]", "[g() for g in [lambda: e for e in <LI>]]", "[*(e for p in <LL> for e in p)][:5]", "list(<D>.values())[::-1]", "[k is v for k, v in zip(<LI>, <LI>)]",
        "[<int>] * <int>", "[*<LI>[1:], *<LI>[:1]]", "sorted(<LI> + <LI>)[:5]", "[v for k, v in sorted(<D>.items(), key=lambda i: (-i[1], i[0]))]", "list(divmod(<int>, 3))", "[e for i in range(3) for e in range(i)]", "[*filter(<FI>, <LI>)]", "[-1 if e < 2 else e for e in <LI> if e != 3]", "[int(c) for c in str(abs(<int>))]", "[*bytes([1, 2])]",
    ],
    "LT": ["[t for t in (<T>, <T>) if t is not <@T>]", "[*<DT>.values()][:2]", "[<F>(t) for t in <LT>]", "sorted(<LT>, key=lambda t: t.dim())", "[t * i for i, t in enumerate(<LT>, 1)]", "list(<T>.split([1, 2]))", "[*torch.unbind(<T>)]", "[t for t, _ in zip(<LT>, <LI>)]", "[m.t for m in (<M>, <M>)]", "list(<@P>)[:1]", "list(filter(lambda t: t.dim(), <LT>))", "copy.copy(<LT>)", "[<M>.t]", "<LT> or [<T>]", "[t.clone() for t in <LT>][::-1]", "list(itertools.chain(<LT>, [<T>]))", "[*reversed(<LT>)]"],
    "LL": ["[<K>, <LI>]", "[[e] * 2 for e in <LI>]", "[sorted(<LI>), <LI>[::-1]]", "list(map(list, zip(<LI>, <LI>)))", "[[j for j in range(i)] for i in range(3)]"],
    "D": ["Counter(<str>)", "dict(Counter(<str>))", "defaultdict(lambda: 5, <D>)", "dict(ChainMap(<D>, <D>))", "{k: v for v, k in enumerate(<str>)}", "Defaulting(<D>)", "Defaulting(u=<int>)", "dict([('u', <int>), (<str>, <int>)])", "dict.fromkeys(<str>, <int>)", "{**<D>, **<D>}", "dict(<D>, **{'k': <int>})", "{f'{k}{v}': v for k, v in <D>.items()}", "OrderedDict(sorted(<D>.items()))", "dict(zip(<str>, itertools.count()))", "{k: <D>[k] for k in <D> if k in <D>}", "copy.copy(<D>)", "dict(reversed(<D>.items()))", "<V>.as_dict()", "{k: v for k, v in zip(<D>, <LI>)}"],
    "DT": ["{k: <T> for k in <D>}", "dict(zip('uw', <LT>))", "<DT> | <DT>", "OrderedDict(<DT>)", "{'u': <T>, **<DT>}", "{k: v for k, v in <DT>.items() if v.dim()}", "dict(u=<T>, **{})"],
    "S": ["<S>.difference(<LI>)", "<S>.intersection(<LI>, <LI>)", "{*<LI>, <int>}", "set(range(<int>))", "{e % 3 for e in <LI>}", "<S>.copy()", "set(map(<FI>, <LI>))", "set(<D>.values())", "frozenset()", "<S>.symmetric_difference(<LI>)", "{len(k) for k in <D>}"],
    "Q": ["deque(<LI>, 3)", "<Q>.copy()", "deque(range(3))", "deque(reversed(<LI>))", "<Q> + <Q>"],
    "O": ["Child(<int>, <T>).bump(<int>)", "copy.copy(<O>)", "(<O> if <bool> else <O>)", "(<O> or <O>)", "max(<O>, <O>, key=lambda b: b.value)"],
    "P": ["Pair._make([<T>, <int>])", "<P>._replace(a=<T>)", "Pair(*(<T>, <int>))", "Pair(**{'a': <T>, 'b': <int>})"],
    "F": ["kwonly", "functools.partial(kwonly, scale=<int>)", "show", "<M>.combine", "compose(<F>, <F>)", "operator.methodcaller('add', <int>)", "(lambda t, *a: t.add(*(a or (<int>,))))", "both", "torch.Tensor.sin", "staticmethod(helper).__func__", "Once(<T>).times", "<F>"],
    "FI": ["(lambda i: i if i < 2 else i - 1)", "show", "functools.partial(pow, 2) if False else abs", "compose(<FI>, <FI>)", "collatz", "(lambda i, /, j=2: i * j)", "<LI>.count", "<K>.count", "(<int>).__add__", "bool", "Indexed(<int>).plus", "min_of(<int>)", "stateful(<int>)"],
    "It": ["tree(<int> % 3)", "Countdown(<int> % 4)", "iter(Countdown(2))", "iter(<K>)", "iter(<Q>)", "(p + q for p, q in zip(<LI>, <LI>))", "filter(None, <LI>)", "itertools.accumulate(<LI>)", "itertools.takewhile(lambda e: e < 5, <LI>)", "map(max, <LI>, <LI>)", "iter(sorted(<S>))", "iter(<D>.values())", "itertools.chain.from_iterable(<LL>)", "(yield_ for yield_ in range(3))", "itertools.starmap(max, zip(<LI>, <LI>))"],
    "V": ["Ver(<int>)", "Ver(<int>, <int>)", "dataclasses.replace(<V>, minor=<int>)", "Ver(minor=<int>, major=<int>)", "<@V>", "max(<V>, <V>)", "<V>.up()"],
    "M": ["Meter(<T>)", "Meter(<T>) + <T>", "<M> * <int>", "Meter(<T>, 'km')", "<@M>", "<int> * <M>", "(<T> + <M>)", "-<M>"],
    "K": ["Stack(<LI>)", "Stack()", "<@K>", "<K>.pushed(<int>)"],
    "result": ["<V>", "<M>", "<K>", "<S>, <Q>", "<str>, <T>", "lambda: <T>", "<It>", "{<int>: <T>}", "(<LT>, <DT>)", "<float>", "<T>, <@LI>, <@LI>", "slice(<int>, <int>), <T>", "range(<int>), <T>", "type(<O>), <T>", "iter(<LT>), <T>", "<D>.items(), <T>"],
}

STATEMENTS = [
    "<+V> = <V>", "<+M> = <M>", "<+K> = <K>", "<+M> = <M>", "<+K> = <K>", "<+V> = <V>", "<+It> = <It>", "<+S> = <S>", "<+Q> = <Q>",
    # slices and places
    "<@LI>[1:1] = <LI>", "<@LI>[<int>:<int>] = [<int>]", "<@LI>[::-1] = <LI>", "<@LI>[:] = <LI>", "<@LI>[-1:] = []", "del <@LI>[<int>]", "del <@LI>[::2]", "del <@LI>[-1]", "del <@LI>[:]", "<a:@LI>[0], <a>[-1] = <a>[-1], <a>[0]", "<@LI> += (<int>,)", "<@LI>.extend(e for e in <LI>)", "<a:@LI>[len(<a>):] = [<int>]", "<@LI>.insert(-1, <int>)", "<@LI>.sort(key=<FI>)", "<@LI>.pop(-2)", "<a:@LI>.remove(<a>[0])", "<~int>, <@LI>[0] = <int>, <int>",
    "<a:+int> = <b:+int> = <int>", "<a:+int>, <b:+int> = <b:int>, <int>", "(<+int>, *<+LI>), <+str> = <LI>, <str>", "*<+LI>, (<+int>, *_) = <int>, <int>, [<int>, 2]", "<O>.value, <O>.extra = <int>, <int>", "for <@LI>[0] in <LI>:\n    <loop>", "for <O>.value in <LI>:\n    <loop>", "<~int> //= -2", "<~int> %= 3", "<~int> ^= 5", "<~int> |= 8", "<~int> >>= 1", "<~float> /= 3", "<~float> -= <int>", "<~str> += <str>", "<~bool> &= <bool>", "<~T> **= 2", "<~T> /= 2", "<~T> -= <T>", "<~T> @= torch.eye(3)",
    "if (<a:+LI> := <LI>) and <a>[0] > 1:\n    <block>", "<a:+LI> = <LI>[:4]\nwhile (<b:.int> := len(<a>)) > 1:\n    <a>.pop()\n    <loop>", "print(<a:+int> := <int>, <a>)", "<+int> = (<a:+int> := <int>) + <a>", "<a:+LI> = [<b:+int> := <int>, <b> ** 2]",
    # dictionaries, sets, deques
    "<@D>[<str>] = <@D>.pop(<str>, <int>)", "<a:@D>['n'] = len(<a>)", "<@D>.update([('k', <int>)])", "<@D>.update(zip('uw', <LI>))", "for <b:.str> in list(<a:@D>):\n    if <a>[<b>] > 2:\n        del <a>[<b>]", "<a:+D> = OrderedDict(<D>)\n<a>['q'] = 1\n<a>.move_to_end(next(iter(<a>)))\n<+str> = <a>.popitem(last=<bool>)[0]", "<a:+D> = defaultdict(lambda: <int>, <D>)\n<+int> = <a>[<str>]", "<a:+D> = defaultdict(list)\nfor <b:.int> in <LI>:\n    <a>[str(<b> % 2)].append(<b>)\n<+LI> = <a>['1']", "<a:+D> = Counter(<str>)\n<a>.update('uw')\n<a>['z'] -= 1", "<a:+D> = Counter(<str>)\n<+str> = str(<a>.most_common())", "<+D> = Counter(<str>) + Counter(<str>)", "<a:@D>[<str>] = <a>.get(<str>, 0) + 1", "for <b:.str> in <a:@D>:\n    <a>[<b>] += 1", "<a:+D> = <D>\n<b:+D> = <a>\n<b> |= {'k': <int>}\n<+bool> = <a> is <b>", "<+LI> = list(<D>.keys() & {'u', 'w'}) and [1]", "<a:+D> = {}\n<a>[<str>] = <a>\n<+int> = len(<a>)",
    "<a:+D> = {(<int>, <str>): <int>}\n<+bool> = (1, 'u') in <a>", "<a:+D> = {<V>: <int>}", "<a:+D> = {<@O>: 1}", "<a:+DT> = {}\nfor <b:.int>, <c:.T> in enumerate(<LT>):\n    <a>[f'k{<b>}'] = <c>\n    <a>.setdefault('u', <c>)", "<@D>.pop(next(iter(<@D>)))", "<a:+D> = ChainMap({}, <D>)\n<a>['u'] = <int>\n<+int> = len(<a>)", "<a:+D> = UserDict(<D>)\n<a>['k'] = <int>",
    "<@S> -= <S>", "<@S> &= <S>", "<@S> ^= {<int>}", "<@S>.difference_update(<LI>)", "<@S>.intersection_update(<LI>)", "<@S>.symmetric_difference_update(<LI>)", "<@S>.remove(<int>)", "<@S>.clear()", "<a:+S> = frozenset(<LI>)\n<a> |= {<int>}", "<a:+S> = {*<LI>}\n<b:+S> = <a>\n<b> |= {9}\n<+bool> = <a> is <b>", "<a:+S> = set()\nfor <b:.int> in <LI>:\n    if <b> in <a>:\n        continue\n    <a>.add(<b>)\n    <loop>",
    "<@Q>.popleft()", "<@Q>.pop()", "<@Q>.extendleft(<LI>)", "<@Q>.rotate(-<int>)", "<@Q>.remove(<int>)", "<@Q>.reverse()", "<@Q>.insert(1, <int>)", "<@Q>[0] = <int>", "del <@Q>[0]", "<@Q>.clear()", "<~Q> += [<int>]", "<+Q> = <Q> * 2", "<a:+Q> = deque(<LI>, maxlen=2)\n<a>.append(<int>)\n<a>.appendleft(<int>)", "<a:+Q> = deque(<LI>)\nwhile <a>:\n    <a>.popleft()\n    <loop>", "for <.int> in <@Q>:\n    <loop>",
    "<@K>.push(<int>)", "<@K>.append(<int>)", "<@K>[0] = <int>", "<@K>.label = <str>", "<a:+K> = Stack(<LI>)\n<a>.label = <str>\n<a>.push(<int>)", "<a:+K> = Stack(<LI>)\n<+LI> = <a>[1:] + [<a>.top]", "<a:+LI> = sorted([<V>, <V>, <V>])\n<+str> = str(<a>)", "<a:+LI> = <LI>\nheapq.heapify(<a>)\nheapq.heappush(<a>, <int>)\n<+int> = heapq.heappop(<a>)", "for <a:.int> in <b:@LI>:\n    if len(<b>) < 6:\n        <b>.append(<a>)", "for <a:.int> in <b:@LI>:\n    <b>.remove(<a>)",
    # exceptions
    "try:\n    try:\n        <block>\n        return <result>\n    finally:\n        LOG.append('f')\nexcept KeyError:\n    <block>", "for <.int> in range(3):\n    try:\n        continue\n    finally:\n        <loop>", "for <.int> in range(3):\n    try:\n        <loop>\n        break\n    finally:\n        <block>", "try:\n    raise KeyError(<int>)\nexcept KeyError:\n    try:\n        raise MyError(<int>)\n    except MyError as err:\n        LOG.append(type(err.__context__).__name__)", "try:\n    try:\n        picky(<int>)\n    except MyError:\n        LOG.append('re')\n        raise\nexcept ValueError as err:\n    LOG.append(err.args)\n    <block>",
    "try:\n    try:\n        raise KeyError(<str>)\n    except KeyError:\n        raise MyError(<int>) from None\nexcept MyError as err:\n    LOG.append((err.__suppress_context__, err.__cause__))", "<a:+str> = 'no'\ntry:\n    <block>\n    raise LookupError(<a>, <int>)\nexcept (KeyError, IndexError):\n    <a> = 'a'\nexcept LookupError as err:\n    <a> = repr(err)", "<a:+int> = 0\nwhile True:\n    try:\n        picky(<a>)\n        <a> += 1\n        if <a> > 4:\n            break\n    except MyError:\n        break\n    finally:\n        LOG.append(<a>)", "def <a:+FI>(<b:.int>):\n    try:\n        return picky(<b>)\n    except MyError:\n        return -1\n    finally:\n        LOG.append(<b>)\n<+int> = <a>(<int>)", "def <a:+FI>(<b:.int>):\n    for q in range(3):\n        try:\n            if q == <b>:\n                return q\n        finally:\n            LOG.append(q)\n    return 9\n<+int> = <a>(<int>)",
    "try:\n    <block>\n    {}[<str>]\nexcept KeyError as err:\n    LOG.append(err.args[0])\nelse:\n    <block>\nfinally:\n    <block>", "try:\n    [].pop()\nexcept IndexError as err:\n    LOG.append(str(err))", "try:\n    raise StopIteration(<int>)\nexcept StopIteration as err:\n    <+int> = err.value", "err = ValueError(<str>)\ntry:\n    raise err\nexcept ValueError as other:\n    LOG.append(other is err)\n    <block>", "try:\n    raise MyError\nexcept TypeError as err:\n    LOG.append(type(err).__name__)", "try:\n    int('x')\nexcept ValueError as err:\n    LOG.append(str(err))", "try:\n    <V>.major = 3\nexcept AttributeError as err:\n    LOG.append(type(err).__name__)", "try:\n    (1).foo\nexcept AttributeError as err:\n    LOG.append(str(err))", "try:\n    [1, 2][<int>:<str>]\nexcept TypeError:\n    <block>", "try:\n    1 + <str>\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    <str> + <int>\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    <LI> < <int>\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    len(<int>)\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    helper()\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    (a_, b_) = <int>\nexcept TypeError as err:\n    LOG.append(str(err))",
    "try:\n    <T>.nothing\nexcept AttributeError:\n    <block>", "try:\n    undefined_name\nexcept NameError as err:\n    LOG.append(err.name)", "try:\n    <LI>.remove(99)\nexcept ValueError as err:\n    LOG.append(str(err))", "try:\n    <LI>.index(99)\nexcept ValueError as err:\n    LOG.append(str(err))", "try:\n    (<int>, <int>)[5]\nexcept IndexError as err:\n    LOG.append(str(err))", "try:\n    Num(9)\nexcept ValueError as err:\n    LOG.append(str(err))", "try:\n    raise ValueError(<str>) from KeyError(<int>)\nexcept ValueError as err:\n    LOG.append(repr(err.__cause__))", "try:\n    float('x' + <str>)\nexcept ValueError as err:\n    LOG.append(str(err))\nelse:\n    <block>", "try:\n    <T> + <LI>\nexcept (TypeError, RuntimeError):\n    <block>", "try:\n    Box()\nexcept TypeError as err:\n    LOG.append(str(err))",
    # with
    "with Ctx('a') as <.int>, Ctx('b', swallow=True):\n    <block>\n    raise MyError(<int>)", "for <.int> in range(3):\n    with Ctx('s', swallow=True):\n        <loop>\n        raise MyError(<int>)", "for <.int> in range(2):\n    with Ctx('c'):\n        if <bool>:\n            continue\n        <loop>", "with contextlib.ExitStack() as stack:\n    <a:+int> = stack.enter_context(managed(<int>))\n    stack.callback(LOG.append, <int>)\n    <block>", "with Ctx('o'):\n    with Ctx('i', swallow=True):\n        <block>\n        raise KeyError(<str>)\n    <block>", "with Ctx('x') as <.int>:\n    try:\n        <block>\n        raise MyError(<int>)\n    except MyError:\n        <block>", "with contextlib.suppress(MyError):\n    picky(<int>)\n    <block>", "@managed(<int>)\ndef <a:+F>(<.T>):\n    <function:T>\n<+T> = <a>(<T>)", "with Timer() as <a:+O>:\n    <block>\n<+int> = <a>.n", "with torch.no_grad(), Ctx('g'):\n    <~T> = <T>\n    <block>", "@torch.no_grad()\ndef <a:+F>(<.T>):\n    <function:T>\n<+T> = <a>(<T>)",
    # generators
    "<a:+It> = averager()\nnext(<a>)\n<+float> = <a>.send(<int>)\n<+float> = <a>.send(<int>)", "<a:+It> = cleanup(<int>)\n<+int> = next(<a>)\n<a>.close()", "<a:+It> = cleanup(<int>)\nnext(<a>)\ntry:\n    <a>.throw(MyError(<int>))\nexcept StopIteration:\n    pass\n<a>.close()", "<a:+It> = retry(<int>)\nnext(<a>)\ntry:\n    next(<a>)\nexcept ValueError as err:\n    LOG.append(type(err.__context__).__name__)\nexcept KeyError:\n    pass", "<a:+It> = relay(<LI>)\n<+int> = next(<a>, 0)\n<+LI> = list(<a>)", "def <a:+FI>(<b:.int>):\n    got = yield <b>\n    LOG.append(got)\n    yield <int>\n<c:+It> = <a>(<int>)\nnext(<c>)\n<+int> = <c>.send(<str>)", "<a:+It> = (e * 2 for e in <LI>)\n<+bool> = 4 in <a>\n<+LI> = list(<a>)", "<a:+It> = iter(<LI>)\n<+LI> = [p + q for p, q in zip(<a>, <a>)]", "<a:+It> = iter(<LI>)\nfor <.int> in <a>:\n    next(<a>, None)\n    <loop>", "<a:+It> = enumerate(<LI>)\n<+int> = next(<a>, (7, 0))[0]", "<a:+LI>, <+LI> = map(list, (<LI>, <LI>))", "<a:+int>, *<+LI> = itertools.count(<int>) if False else (1, 2)",
    # functions and closures
    "<a:+LI> = []\nfor <b:.int> in range(3):\n    <a>.append(lambda: <b>)\n<+LI> = [g() for g in <a>]", "<a:+LI> = []\nfor <b:.int> in range(3):\n    <a>.append(lambda k=<b>: k + <int>)\n<+LI> = [g() for g in <a>]", "<a:+int> = 0\ndef <b:+FI>(<c:.int>):\n    nonlocal <a>\n    <a> += <c>\n    return <a>\nfor <.int> in <LI>:\n    <b>(<int>)\n    <loop>", "def <a:+FI>(*, key, other=<int>):\n    return key - other\n<+int> = <a>(key=<int>)", "def <a:+F>(<.T>, <.T>=<T>, /, <.int>=<int>, *args, d=<int>, **kw):\n    <function:T>\n<+T> = <a>(<T>)\n<+T> = <a>(<T>, <T>, <int>, <int>, d=<int>, e=1)", "def <a:+F>(<.T>):\n    def inner(<.int>):\n        nonlocal_ = <int>\n        return nonlocal_\n    <function:T>", "helper.calls = getattr(helper, 'calls', 0) + 1", "helper.mark = <T>", "<+int> = getattr(helper, 'calls', <int>)", "<a:+FI> = functools.lru_cache(lambda q: q * <int>)\n<+int> = <a>(<int>)", "@tagged(<str>)\ndef <a:+F>(<.T>):\n    <function:T>\n<+str> = <a>.tag\n<+T> = <a>(<T>)", "<a:+F> = functools.partial(kwonly, scale=<int>)\n<+T> = <a>(<T>, scale=<int>)", "def <a:+FI>(<b:.int>, into=[]):\n    into.append(<b>)\n    return len(into)\n<+int> = <a>(<int>)\n<+int> = <a>(<int>)", "def <a:+FI>(<b:.int>):\n    if <b> <= 0:\n        return 0\n    return <b> + <a>(<b> - 2)\n<+int> = <a>(<int>)", "<a:+FI>, <b:+FI> = (lambda q: <int>), (lambda q: q + <int>)\n<+int> = <a>(<b>(<int>))", "def <a:+FI>(<b:.int>):\n    global GN\n    GN = <b>\n    return GN\n<+int> = <a>(<int>)", "<+T> = (lambda q: q * (lambda r: r + <int>)(q))(<T>)", "def <a:+F>(<b:.T>, **opts):\n    opts.setdefault('k', <int>)\n    opts['j'] = 2\n    return <b> * sum(opts.values())\n<+T> = <a>(<T>, k=<int>)\n<+T> = <a>(<T>, **<D>)",
    # classes
    "<a:+O> = Proxy(<O>)\n<a>.value = <int>\n<+int> = <a>.value", "<a:+O> = Proxy(<O>)\n<a>.fresh = <T>\ndel <a>.fresh", "<a:+O> = Temp(<int>)\n<a>.deg += <int>\n<+int> = <a>.deg", "<a:+O> = Temp(<int>)\n<+int> = <a>.deg\ndel <a>.deg", "<a:+O> = Once(<T>)\n<+T> = <a>.value\n<+bool> = <a>.value is <a>.value", "<a:+O> = Once(<T>)\n<+T> = <a>.value * 2\n<a>.t = <T>\n<+T> = <a>.value", "<a:+O> = Diamond(<T>)\n<+T> = <a>.go()\n<+str> = ','.join(k.__name__ for k in type(<a>).__mro__)", "<a:@M>.t = <T>\n<+M> = <a>", "<~M> += <T>", "<~M> *= <int>", "<+bool> = <M> == <M>", "<+str> = f'{<M>}'", "<a:+O> = SlotChild(<T>, <int>)\n<a>.n += 1\n<a>.more = <int>", "<a:+O> = Registry.get(<str>)(<int>)\n<+int> = <a>.n", "<+int> = Typed[int]().n", "Counted.total = Counted.total + <int>", "<a:+O> = Tally()\n<a>.hits += 1\n<+int> = Tally.hits", "<a:+O> = Tally()\n<a>.seen.append(<int>)\n<+int> = len(Tally.seen)", "<a:+O> = SimpleNamespace(v=<int>, t=<T>)\n<a>.v += 1\n<+str> = str(vars(<a>).keys())", "<O>.__dict__.update(extra=<int>)", "vars(<O>)['value'] = <int>", "<a:+O> = type(<O>)(<int>, <T>)", "<a:+O> = copy.copy(<O>)\n<a>.value = <int>", "<a:+DC> = Point(<T>)\n<+bool> = <a>.n == <int>\n<+str> = str(dataclasses.fields(<a>)[1].name)", "<+D> = dataclasses.asdict(<V>)", "<+LI> = list(dataclasses.astuple(<V>))", "<a:+O> = Shape.make(<str>, <int>)\n<+int> = <a>.area()", "<+str> = Box.__doc__ or <str>",
    # match
    "match <LI>:\n    case [<.int>]:\n        <block>\n    case [<.int>, <.int>]:\n        <block>\n    case [1, *_, <.int>]:\n        <block>\n    case _:\n        <block>", "match <V>:\n    case Ver(0 | 1 as <.int>, <.int>):\n        <block>\n    case Ver(major=<.int>) if <bool>:\n        <block>", "match {'k': <LI>, 'n': <int>}:\n    case {'k': [<.int>, *<.LI>], 'n': 1 | 2}:\n        <block>\n    case {'n': int(<.int>)}:\n        <block>", "match <bool>:\n    case True:\n        <block>\n    case None:\n        <block>", "match <int>, <LI>:\n    case (0, []) | (1, [_]):\n        <block>\n    case (int() as <.int>, [*<.LI>]):\n        <block>", "match <float>:\n    case 0.5 | 1.5:\n        <block>\n    case float(<.float>):\n        <block>", "match Color(1):\n    case Color.BLUE:\n        <block>\n    case Color.RED:\n        <block>", "match <T>:\n    case torch.Tensor(requires_grad=True):\n        <block>\n    case torch.Tensor():\n        <block>", "match <Q>:\n    case [<.int>, *_]:\n        <block>\n    case _:\n        <block>", "match <K>:\n    case [<.int>, *_]:\n        <block>\n    case Stack():\n        <block>", "match <str>:\n    case 'u' | 'w' as <.str>:\n        <block>\n    case <.str>:\n        <block>", "match <D>:\n    case {}:\n        <block>",
    # numbers, text
    "<+int> = 2 ** 70 % (<int> + 100)", "<a:+int> = <int> << 62\n<+int> = <a> >> 60", "<+str> = f'{<int>=}, {<float>!r:>8}'", "<+float> = float('-inf') if <bool> else <float>", "<+bool> = (<a:+float> := <float>) == <a>", "<+str> = <str>.join(f'{i}' for i in <LI>)", "print(f'{<float>:8.3f}|{<int>:<4}|{<str>:^5}')", "print(*<LI>, sep=<str>)", "print(<S> and 1, <V>)", "print(<K>, <Q>)", "print(repr(<str>), <bool>, None, file=sys.stdout)", "<+T> = torch.full((3,), <float>) * <int>", "<+T> = <T> * float('nan') if <bool> else <T>", "<+T> = torch.tensor([<float>, <int>, <bool>])", "<+T> = torch.tensor(<float>) + <T>", "<+T> = torch.tensor(<int>) * <T>", "<+T> = <T>.to(torch.float64) if <bool> else <T>", "<+T> = torch.arange(<int>).sum() + <T>",
]

CHANGES = [
    "a.n = 10**20", "a.n = -1", "a.s = float('nan')", "a.s = float('inf')", "a.box.items = deque([1, 2])", "a.n = Num.TWO", "a.flag = [0]", "a.flag = ''", "a.tens = deque(a.tens)", "a.items = Stack([1, 2])", "a.items = Stack([1, 2])\na.items.label = 'w'", "a.table = Defaulting(u=1)", "a.table = Counter('uw')", "a.name = 'ab' * 20", "a.box = copy.copy(a.box)", "a.box.value = 10**12",
    "Ver.total = lambda self: -1", "Ver.__lt__ = lambda self, other: False", "Stack.top = property(lambda self: -7)", "Stack.push = lambda self, n: n", "Meter.__add__ = lambda self, other: Meter(self.t * 0)", "Meter.unit = 'x'", "Meter.__radd__ = None", "Once.value = 3", "show.register(int, lambda n: 100)", "Tally.hits = 7", "Tally.seen.append(3)", "Temp.deg = 5", "Proxy.__getattr__ = lambda self, name: 4", "Defaulting.__missing__ = lambda self, key: 77", "kwonly.__kwdefaults__ = {'scale': 5}", "posonly.__defaults__ = (torch.zeros(3),)", "Diamond.__bases__ = (Right, Left)", "Registry.known.clear()", "Box.__len__ = lambda self: 2", "del Box.__bool__", "Box.__eq__ = object.__eq__", "Box.value = 5", "Box.extra = 9", "Box.__getattr__ = lambda self, name: 6", "Child.__bases__ = (Box,)", "Indexed.__index__ = lambda self: 1", "Countdown.__next__ = lambda self: 1 // 0", "a.x.mark = 3", "a.table = {'u': 1.0, 'w': True}", "a.items = [10**30, -1]", "a.items = [[1]]", "a.items = ['u']", "a.items = range(3)", "a.name = None", "a.box = None", "a.tens = None", "a.table = None", "a.s = None", "a.box.t = None", "a.tabt = defaultdict(lambda: torch.ones(3))", "a.tens = [a.x] * 3", "a.tens = a.tens + [a.y]", "a.table = dict(reversed([*a.table.items()]))", "GD = dict(reversed([*GD.items()]))", "GL = a.items", "a.items = GL", "a.box.items = GL", "a.box.child = a.box", "a.box.child = Box(a.box.value, a.x)",
]

DEFINITIONS = {
    "kwonly": """def kwonly(t, *more, scale=<int>):
    return t * scale + len(more)
""",
    "posonly": """def posonly(a, b=GT, /, *rest, **named):
    return a + b + len(rest) + len(named) if not named else a * b
""",
    "dispatch": """def dispatch(value, op):
    match value, op:
        case torch.Tensor(), 'u':
            return value * <int>
        case torch.Tensor() as t, 'w' | 'z':
            return t + <int>
        case [t, int(n)], _:
            return t * n
        case t, str(name):
            return t * len(name)
""",
    "Once": """class Once:
    def __init__(self, t):
        self.t = t
    @functools.cached_property
    def value(self):
        LOG.append('computed')
        return self.t + <int>
    def twice(self):
        return self.value + self.value
    @functools.partialmethod
    def unused(self):
        return None
    def times(self, t):
        return t * self.value
""",
    "Meter": """class Meter:
    unit = 'm'
    def __init__(self, t, unit=None):
        self.t = t
        if unit is not None:
            self.unit = unit
    def __add__(self, other):
        if isinstance(other, Meter):
            return Meter(self.t + other.t)
        if isinstance(other, (int, float, torch.Tensor)):
            return Meter(self.t + other)
        return NotImplemented
    def __radd__(self, other):
        return Meter(other - self.t)
    def __mul__(self, other):
        return Meter(self.t * other, self.unit)
    __rmul__ = __mul__
    def __imul__(self, other):
        self.t = self.t * other
        return self
    def __neg__(self):
        return Meter(-self.t)
    def __matmul__(self, other):
        return self.t * other + <int>
    def __getitem__(self, i):
        return self.t + i
    def __eq__(self, other):
        return isinstance(other, Meter) and self.unit == other.unit
    def combine(self, other):
        return self.t + other
    def __str__(self):
        return f'meter {self.unit}'
    def __format__(self, spec):
        return f'[{spec}]{self.unit}'
""",
    "show": """@functools.singledispatch
def show(value):
    return value * 2
@show.register
def show_int(value: int):
    return value + <int>
@show.register(str)
def show_str(value):
    return len(value)
@show.register(list)
def show_list(value):
    return sum(show(v) for v in value)
""",
    "Proxy": """class Proxy:
    def __init__(self, of):
        object.__setattr__(self, '_of', of)
    def __getattr__(self, name):
        return getattr(self._of, name)
    def __setattr__(self, name, value):
        LOG.append(name)
        setattr(self._of, name, value)
    def __delattr__(self, name):
        delattr(self._of, name)
""",
    "both": """def both(t):
    first = lambda q: q + <int>
    def second(q, then=first):
        return then(q) * <int>
    return second(first(t))
""",
    "Left": """class Base:
    def __init__(self, t):
        self.t = t
    def go(self):
        return self.t
class Left(Base):
    def go(self):
        return super().go() + <int>
class Right(Base):
    def go(self):
        return super().go() * 2
""",
    "Diamond": """class Diamond(Left, Right):
    def go(self):
        LOG.append(type(self).__name__)
        return super().go() - 1
""",
    "Ver": """@dataclasses.dataclass(frozen=True, order=True)
class Ver:
    major: int
    minor: int = <int>
    def total(self):
        return self.major * 10 + self.minor
    def up(self):
        return dataclasses.replace(self, major=self.major + 1)
    def as_dict(self):
        return dataclasses.asdict(self)
""",
    "Stack": """class Stack(list):
    label = 'stack'
    def push(self, n):
        self.append(n)
        return len(self)
    def pushed(self, n):
        return Stack([*self, n])
    @property
    def top(self):
        return self[-1] if self else <int>
    def __repr__(self):
        return f'Stack{super().__repr__()}'
""",
    "Defaulting": """class Defaulting(dict):
    def __missing__(self, key):
        LOG.append('missing')
        return len(key) + <int>
""",
    "Num": """class Num(enum.IntEnum):
    ONE = 1
    TWO = 2
""",
    "Mode": """class Mode(enum.Flag):
    A = enum.auto()
    B = enum.auto()
""",
    "Indexed": """class Indexed:
    def __init__(self, n):
        self.n = n
    def __index__(self):
        return self.n % 3
    def plus(self, k):
        return self.n + k
""",
    "apply_n": """def apply_n(g, value, n):
    for _ in range(n):
        value = g(value)
    return value
""",
    "compose": """def compose(*fs):
    def run(value):
        for g in reversed(fs):
            value = g(value)
        return value
    return run
""",
    "depth": """def depth(of):
    if not isinstance(of, list):
        return 0
    return 1 + max(map(depth, of), default=0)
""",
    "collatz": """def collatz(n):
    steps = 0
    while n > 1 and steps < 6:
        n, steps = (n // 2, steps + 1) if n % 2 == 0 else (3 * n + 1, steps + 1)
    return steps
""",
    "tree": """def tree(n):
    if n > 0:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
""",
    "countdown": """def countdown(n):
    try:
        while n:
            yield n
            n -= 1
    finally:
        LOG.append('done')
""",
    "Countdown": """class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n
""",
    "cleanup": """def cleanup(n):
    try:
        yield n
        yield n + 1
    except MyError as error:
        LOG.append(error.code)
        yield -1
    finally:
        LOG.append('clean')
""",
    "retry": """def retry(n):
    try:
        picky(n)
        raise KeyError(n)
    except (KeyError, MyError):
        yield n
        if n > <int>:
            raise
    raise MyError(n)
""",
    "relay": """def relay(items):
    count = yield from counting(items)
    yield count
""",
    "counting": """def counting(items):
    n = 0
    for item in items:
        yield item
        n += 1
    return n
""",
    "averager": """def averager():
    total, n, mean = 0.0, 0, 0.0
    while True:
        got = yield mean
        total += got
        n += 1
        mean = total / n
""",
    "Timer": """class Timer:
    def __enter__(self):
        self.n = <int>
        return self
    def __exit__(self, *about):
        self.n += len(about)
        self.failed = about[0] is not None
""",
    "tagged": """def tagged(tag):
    def decorate(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            LOG.append(tag)
            return fn(*args, **kwargs)
        inner.tag = tag
        return inner
    return decorate
""",
    "min_of": """def min_of(bound):
    return lambda i: min(i, bound)
""",
    "stateful": """def stateful(start):
    state = {'n': start}
    def step(i):
        state['n'] += i
        return state['n']
    return step
""",
    "Temp": """class Temp:
    def __init__(self, deg):
        self._deg = deg
    @property
    def deg(self):
        return self._deg
    @deg.setter
    def deg(self, to):
        self._deg = min(to, 9)
    @deg.deleter
    def deg(self):
        LOG.append('gone')
        self._deg = 0
""",
    "SlotChild": """class SlotChild(Slots):
    __slots__ = ('more',)
""",
    "Registry": """class Registry:
    known = {}
    def __init_subclass__(cls, **named):
        Registry.known[cls.__name__[0].lower()] = cls
    @classmethod
    def get(cls, name):
        return cls.known.get(name[:1], Unit)
class Unit(Registry):
    def __init__(self, n):
        self.n = n
class Wide(Registry):
    def __init__(self, n):
        self.n = n * 2
""",
    "Typed": """class Typed(typing.Generic[typing.TypeVar('A')]):
    n = <int>
""",
    "Tally": """class Tally:
    hits = 0
    seen = []
""",
    "Shape": """class Shape:
    def __init__(self, n):
        self.n = n
    @staticmethod
    def make(name, n):
        return {'u': Square}.get(name, Shape)(n)
    def area(self):
        return self.n
class Square(Shape):
    def area(self):
        return super().area() ** 2 % 13
""",
    "HELD": "HELD = (lambda by: lambda t: t * by)(<int>)\n",
    "ZERO": "ZERO = [0.0]\n",
    "ORDER": "ORDER = dict(p=1, q=2, r=3)\n",
    "Roof": """class Ground:
    def height(self):
        return <int>
class Storey(Ground):
    pass
class Roof(Storey):
    def height(self):
        return super().height() + 1
""",
    "TWINS": "TWINS = [Box(1, torch.ones(3)), Box(1, torch.ones(3))]\n",
    "APART": "APART = [[1], [1]]\n",
    "SAME": "SAME = [[1]] * 2\n",
    "STRIP": "STRIP = torch.ones(4)\n",
    "SPANS": "SPANS = [torch.ones(3), torch.ones(3)]\n",
    "MODES": "MODES = [True, False]\n",
    "CASTS": "CASTS = [torch.bfloat16, torch.float16]\n",
    "Odd": """class Odd:
    @property
    def bad(self):
        raise KeyError(<int>)
""",
}
