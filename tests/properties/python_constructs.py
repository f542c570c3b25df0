"""What Python programs are made of: the constructs that random programs are to contain, each with
the templates that were written for it. This table is the only list of them.

A template has a construct's label when it is written under it or holds the pattern beside it; the
statements and expressions of python_templates and python_more_templates get theirs this way. A
program contains what the templates that made it are labelled with.

Kinds besides those of the other files: NS a NumPy scalar, NA an array of NumPy, N a module of
torch.nn, G a generator that takes and gives tensors, W a view of a tensor (kept with its base).
"""

# ruff: noqa: E501
# fmt: off

import functools
import re

HEADER = """import abc
import contextvars
import json
import random
import re
import weakref

import numpy as np

"""

BREAK = "torch._dynamo.graph_break()"

# construct -> (pattern of other templates that have it, or "", statements of its own)
CONSTRUCTS: dict[str, tuple[str, list[str]]] = {
    # ---------------------------------------------------------------- generators, comprehensions
    "generator function": (r"yield|<generator>|\bgen\(|tree\(|zip_sums|yield_sum", [
        "def <a:+FI>(<b:.int>):\n    yield <b>\n    " + BREAK + "\n    yield <b> + <int>\n<+LI> = list(<a>(<int>))",
        "<a:+G> = doubling(<T>)\n<+T> = next(<a>) + next(<a>)",
        "<+LT> = list(doubling(<T>))",
        "for <.T> in doubling(<T>):\n    <loop>",
        "<a:+G> = doubling(<T>)\n<+T> = next(<a>)\n" + BREAK + "\n<+T> = next(<a>)",
        "<+T> = sum(doubling(<T>))",
    ]),
    "generator expression": (r"\((?:<\w+(?:\|[^>]*)?>|[\w+*() ]+) for ", [
        "<a:+It> = (e + <int> for e in <LI>)\n<+int> = next(<a>, 0)\n" + BREAK + "\n<+LI> = list(<a>)",
        "<+T> = sum(t * <int> for t in doubling(<T>))",
        "<+bool> = any((e > <int>) for e in (<int|e=int> for e in <LI>))",
    ]),
    "generator send": (r"\.send\(", [
        "<a:+It> = live(<int>)\nnext(<a>)\n<+int> = <a>.send(<int>)\n" + BREAK + "\n<+int> = <a>.send(<int>)",
        "<a:+G> = mixing(<T>)\nnext(<a>)\n<+T> = <a>.send(<T>)\n<+T> = <a>.send(<T>)",
        "<a:+G> = mixing(<T>)\nnext(<a>)\nfor <b:.T> in <LT>[:3]:\n    <~T> = <a>.send(<b>)",
        "<a:+It> = forward_all(<int>)\nnext(<a>)\n<a>.send(<int>)\n<+int> = <a>.send(<int>)",
        "try:\n    live(1).send(<int>)\nexcept TypeError as err:\n    LOG.append(str(err))",
    ]),
    "generator throw": (r"\.throw\(", [
        "<a:+It> = catcher(<int>)\nnext(<a>)\n<+int> = <a>.throw(MyError(<int>))",
        "<a:+It> = catcher(<int>)\nnext(<a>)\n<a>.throw(MyError(<int>))\n" + BREAK + "\n<+int> = next(<a>)",
        "<a:+It> = catcher(<int>)\nnext(<a>)\ntry:\n    <a>.throw(KeyError(<int>))\nexcept KeyError as err:\n    LOG.append(err.args)\n<+int> = next(<a>, <int>)",
        "<a:+It> = forward_all(<int>)\nnext(<a>)\ntry:\n    <+int> = <a>.throw(MyError(<int>))\nexcept StopIteration as err:\n    LOG.append(err.value)",
        "<a:+It> = live(<int>)\ntry:\n    <a>.throw(ValueError(<str>))\nexcept ValueError as err:\n    LOG.append(str(err))\n<+LI> = list(<a>)",
        "<a:+G> = mixing(<T>)\nnext(<a>)\n<+T> = <a>.throw(MyError(<int>))",
    ]),
    "generator close": (r"\.close\(\)", [
        "<a:+It> = catcher(<int>)\nnext(<a>)\n<a>.close()\n<+int> = next(<a>, <int>)",
        "<a:+It> = live(<int>)\n<a>.close()\n<a>.close()",
        "<a:+It> = forward_all(<int>)\nnext(<a>)\n" + BREAK + "\n<a>.close()",
        "<a:+G> = mixing(<T>)\n<+T> = next(<a>)\n<a>.close()\nLOG.append(len(list(<a>)))",
        "<a:+It> = stubborn(<int>)\nnext(<a>)\ntry:\n    <a>.close()\nexcept RuntimeError as err:\n    LOG.append(str(err))",
    ]),
    "yield from": (r"yield from|delegating|relay|tree\(|counting\(", [
        "<+LI> = list(flatten(<LL>))", "<+LI> = [*flatten([<LI>, [<LI>, <int>]])]",
        "def <a:+FI>(<b:.int>):\n    got = yield from live(<b>)\n    yield got\n<c:+It> = <a>(<int>)\n<+int> = next(<c>)\n<+int> = <c>.send(<int>)",
        "def <a:+FI>(<b:.int>):\n    yield from (e * <b> for e in <LI>)\n    yield from range(<b> % 3)\n<+LI> = list(<a>(<int>))",
        "def <a:+FI>(<b:.T>):\n    last = yield from doubling(<b>)\n    yield last * 2\n<+LT> = list(<a>(<T>))",
        "def <a:+FI>(<b:.LI>):\n    yield from <b>\n    " + BREAK + "\n    yield from <b>[:1]\n<+LI> = list(<a>(<LI>))",
    ]),
    "generator that returns": (r"relay|counting|delegating", [
        "def <a:+FI>():\n    got = yield from doubling(<T>)\n    LOG.append(len(got))\n    return got\n<+LT> = list(<a>())",
        "<a:+It> = gen(<int>)\ntry:\n    while True:\n        next(<a>)\nexcept StopIteration as err:\n    <+int> = err.value",
    ]),
    "generator kept between calls": (r"", [
        "<+int> = next(LIVE)", "<+int> = LIVE.send(<int>)", "<+T> = next(KEPT) + <T>", "<+T> = KEPT.send(<T>)",
        "if 'g' not in STATE:\n    STATE['g'] = live(<int>)\n<+int> = next(STATE['g'])",
        "STATE.setdefault('t', doubling(<T>))\n<+T> = next(STATE['t'], <T>)",
        "<O>.it = live(<int>)\n<+int> = next(<O>.it)", "STATE['e'] = (<int|e=int> for e in <LI>)\n<+int> = next(STATE['e'], 0)",
        "<+int> = next(STATE.get('e', iter([<int>])), 1)", "for <.int> in itertools.islice(LIVE, 2):\n    <loop>", "try:\n    LIVE.throw(MyError(<int>))\nexcept MyError:\n    LOG.append('dead')",
    ]),
    "list comprehension": (r"\[[^\[\]]* for ", [
        "<+LT> = [t * e for t in <LT>[:2] for e in <LI>[:2]]", "<+LI> = [<int|e=int> for e in <LI> if <bool|e=int>]",
        "<+LT> = [helper(t) for t in <LT> if t.sum() > <float>]", "<+LI> = [(id(0) and e) for e in <LI>]", "<+LI> = [[p + q for q in <LI>][0] for p in <LI> if <LI>] or [<int>]",
    ]),
    "set comprehension": (r"\{[^{}:]* for ", ["<+S> = {<int|e=int> % 5 for e in <LI>}", "<+int> = len({t.dim() for t in <LT>})", "<+S> = {e for p in <LL> for e in p}"]),
    "dict comprehension": (r"\{[^{}]*:[^{}]* for ", ["<+DT> = {k: t + <int> for k, t in <DT>.items()}", "<+D> = {k: <int|v=int> for k, v in <D>.items() if <bool|v=int>}", "<+DT> = {f'{i}': t for i, t in enumerate(<LT>) if t.dim()}", "<+D> = {k: (id(0) and v) for k, v in <D>.items()}"]),
    "comprehension over cells": (r"lambda: e|lambda e=e", [
        "<a:+int> = <int>\ndef <b:+FI>(<c:.int>):\n    return sum([<a> * e + <c> for e in <LI>])\n<+int> = <b>(<int>)\n<a> = <int>\n<+int> = <b>(<int>)",
        "<a:+int> = <int>\n<+LI> = [(lambda: <a> + e)() for e in <LI>]", "def <a:+F>(<b:.T>):\n    return [<b> * e for e in range(1, 3)][-1]\n<+T> = <a>(<T>)",
    ]),
    # ---------------------------------------------------------------- exceptions
    "raise and except": (r"except (?!.*StopIteration)", [
        "try:\n    <block>\n    raise MyError(<int>)\nexcept MyError as err:\n    <~T> = <T> + err.code", "try:\n    <+T> = risky(<T>, <int>)\nexcept ValueError as err:\n    LOG.append(str(err))",
        "try:\n    " + BREAK + "\n    <+T> = risky(<T>, <int>)\nexcept MyError as err:\n    <~T> = <T> * err.code", "try:\n    raise MyError(<int>)\nexcept MyError:\n    " + BREAK + "\n    <block>",
        "try:\n    <T>.reshape(7)\nexcept RuntimeError as err:\n    LOG.append(type(err).__name__)\n    <block>",
    ]),
    "raised again": (r"\n *raise\n|\n *raise$|raise err\b|managed\(|cleanup|retry\(", [
        "try:\n    try:\n        <+T> = risky(<T>, <int>)\n    except MyError:\n        " + BREAK + "\n        raise\nexcept ValueError as err:\n    LOG.append(err.args)",
        "try:\n    try:\n        raise KeyError(<str>)\n    except KeyError as err:\n        LOG.append('seen')\n        raise err\nexcept LookupError as err:\n    LOG.append((err.args, err.__context__))",
        "try:\n    again(<int>)\nexcept ValueError as err:\n    LOG.append((type(err).__name__, type(err.__context__).__name__))",
        "try:\n    try:\n        <block>\n        raise MyError(<int>)\n    except KeyError:\n        <block>\n    finally:\n        LOG.append('through')\nexcept MyError as err:\n    <~int> = err.code",
        "for <.int> in range(2):\n    try:\n        try:\n            raise MyError(<int>)\n        except MyError:\n            <loop>\n            raise\n    except ValueError:\n        LOG.append('again')",
    ]),
    "raise from": (r"raise .* from ", [
        "try:\n    try:\n        <+T> = risky(<T>, <int>)\n    except MyError as err:\n        raise KeyError(err.code) from err\nexcept KeyError as err:\n    LOG.append((err.args, repr(err.__cause__), err.__suppress_context__))",
        "try:\n    raise MyError(<int>) from KeyError(<str>)\nexcept MyError as err:\n    " + BREAK + "\n    LOG.append(repr(err.__cause__))",
        "try:\n    linked(<int>)\nexcept RuntimeError as err:\n    LOG.append((repr(err.__cause__), repr(err.__context__)))",
        "try:\n    raise MyError(<int>) from None\nexcept MyError as err:\n    LOG.append((err.__cause__, err.__suppress_context__))",
    ]),
    "context of an exception": (r"__context__", [
        "try:\n    try:\n        raise KeyError(<int>)\n    finally:\n        raise MyError(<int>)\nexcept MyError as err:\n    LOG.append(repr(err.__context__))",
        "try:\n    raise KeyError(<str>)\nexcept KeyError:\n    try:\n        risky(<T>, 99)\n    except MyError as err:\n        LOG.append(repr(err.__context__))\n    try:\n        1 // 0\n    except ZeroDivisionError as err:\n        LOG.append(repr(err.__context__))",
        "try:\n    try:\n        {}[<str>]\n    except KeyError:\n        " + BREAK + "\n        raise MyError(<int>)\nexcept MyError as err:\n    LOG.append((repr(err.__context__), err.__cause__))",
        "try:\n    with Ctx('c'):\n        try:\n            raise KeyError(<int>)\n        except KeyError:\n            raise MyError(<int>)\nexcept MyError as err:\n    LOG.append(repr(err.__context__))",
        "err = None\ntry:\n    linked(<int>)\nexcept RuntimeError as error:\n    err = error\nchain_of = []\nwhile err is not None:\n    chain_of.append(type(err).__name__)\n    err = err.__context__\nLOG.append(chain_of)",
    ]),
    "finally": (r"finally", [
        "try:\n    <block>\nfinally:\n    " + BREAK + "\n    <block>", "try:\n    " + BREAK + "\n    <block>\nfinally:\n    LOG.append(<int>)",
        "def <a:+F>(<b:.T>):\n    try:\n        return <b> + <int>\n    finally:\n        LOG.append('f')\n        <b>.add_(1)\n<+T> = <a>(<T>)",
        "def <a:+FI>(<b:.int>):\n    for q in range(3):\n        try:\n            if q > <b>:\n                break\n            continue\n        finally:\n            LOG.append(q)\n    else:\n        return -1\n    return q\n<+int> = <a>(<int>)",
        "def <a:+FI>():\n    try:\n        raise MyError(<int>)\n    finally:\n        return <int>\n<+int> = <a>()",
        "try:\n    try:\n        <block>\n        raise MyError(<int>)\n    finally:\n        <block>\nexcept MyError:\n    <block>",
    ]),
    "else of try": (r"try:\n(?:    .*\n)+(?:except.*\n(?:    .*\n)+)+else", [
        "try:\n    <+T> = risky(<T>, <int>)\nexcept MyError:\n    <block>\nelse:\n    " + BREAK + "\n    <block>\nfinally:\n    LOG.append('end')",
        "try:\n    pass\nexcept ValueError:\n    <block>\nelse:\n    <~T> = <T> * <int>", "for <.int> in range(3):\n    try:\n        picky(<int>)\n    except MyError:\n        break\n    else:\n        <loop>",
    ]),
    "exception group": (r"", [
        "try:\n    raise ExceptionGroup('g', [MyError(<int>), KeyError(<str>)])\nexcept* MyError as group:\n    LOG.append(repr(group.exceptions))\nexcept* KeyError:\n    <block>",
        "try:\n    raise MyError(<int>)\nexcept* ValueError as group:\n    LOG.append(len(group.exceptions))", "try:\n    grouped(<int>)\nexcept ExceptionGroup as group:\n    LOG.append((str(group), [type(e).__name__ for e in group.exceptions]))",
        "try:\n    grouped(<int>)\nexcept ExceptionGroup as group:\n    matched, rest = group.split(MyError)\n    LOG.append((repr(matched), repr(rest)))", "try:\n    <block>\nexcept* KeyError:\n    LOG.append('none')\nelse:\n    <block>",
        "<a:+int> = 0\ntry:\n    try:\n        grouped(<int>)\n    except* MyError:\n        <a> += 1\nexcept ExceptionGroup as group:\n    <a> += 10 * len(group.exceptions)\n<~T> = <T> + <a>",
    ]),
    "notes and attributes of exceptions": (r"err\.(?:args|code|name|value)", [
        "try:\n    err = MyError(<int>)\n    err.add_note(<str>)\n    err.extra = <T>\n    raise err\nexcept MyError as found:\n    LOG.append(found.__notes__)\n    <+T> = found.extra * 1",
        "err = MyError(<int>)\nerr.code += 1\nLOG.append((err.code, err.args, str(err)))", "try:\n    <O>.absent_\nexcept AttributeError as err:\n    LOG.append((err.name, err.obj is box))", "LOG.append(repr(Detailed(<int>, why=<str>)))", "try:\n    raise Detailed(<int>, why=<str>)\nexcept Detailed as err:\n    LOG.append((str(err), err.why, err.args))",
        "LOG.append(isinstance(MyError(1), ValueError) and issubclass(Detailed, MyError))",
    ]),
    "try in a loop": (r"(?:for|while) .*\n    try", [
        "for <a:.int> in range(4):\n    try:\n        if <a> % 2:\n            raise MyError(<a>)\n        <loop>\n    except MyError as err:\n        LOG.append(err.code)\n        continue\n    finally:\n        LOG.append('turn')",
        "for <a:.int> in <LI>[:3]:\n    try:\n        <~T> = risky(<T>, <a>)\n    except MyError:\n        " + BREAK + "\n        break", "<a:+int> = 0\nwhile <a> < 3:\n    <a> += 1\n    try:\n        <loop>\n        {}[<a>]\n    except KeyError:\n        <~T> = <T> * <a>",
    ]),
    "exception that leaves the call": (r"^raise |^return <T> / |^assert |torch\.ones\(5\)", ["if <int> > 5:\n    raise MyError(<int>)", "assert <int> > -3, <T>.sum()", "if <@T>.dim() > 2:\n    raise RuntimeError('too many')"]),
    "assert": (r"\bassert\b", ["assert <bool> or True, f'{<int>}'", "try:\n    assert <T>.sum() > <float>, 'small'\nexcept AssertionError as err:\n    LOG.append(str(err))", "assert isinstance(<T>, torch.Tensor)"]),
    # ---------------------------------------------------------------- context managers
    "context manager class": (r"with .*(?:Ctx|Timer)\(", [
        "with Ctx('b') as <.int>:\n    <block>\n    " + BREAK + "\n    <block>", "with Scaled(<int>) as factor:\n    <~T> = <T> * factor\n<+int> = Scaled.now", "with Scaled(<int>):\n    with Scaled(<int>):\n        <~T> = <T> * Scaled.now\n        " + BREAK + "\n    <~T> = <T> + Scaled.now",
        "manager = Ctx('m')\nwith manager:\n    <block>\nwith manager:\n    <block>", "try:\n    with Ctx('w'):\n        <block>\n        raise MyError(<int>)\nexcept MyError:\n    LOG.append('out')", "with Ctx('n') as <a:.int>, Ctx(str(<a>)):\n    <block>",
    ]),
    "context manager of a generator": (r"with .*managed\(|@managed", [
        "with managed(<int>) as <.int>:\n    " + BREAK + "\n    <block>", "with swapped(<int>):\n    <~T> = <T> * GN\n    <block>", "with swapped(<int>):\n    " + BREAK + "\n    <~T> = <T> + GN", "try:\n    with managed(<int>):\n        raise MyError(<int>)\nexcept MyError as err:\n    LOG.append(err.code)",
        "try:\n    with swapped(<int>):\n        <block>\n        raise KeyError(<str>)\nexcept KeyError:\n    <block>", "with managed(<int>) as <.int>, swapped(<int>):\n    <block>",
    ]),
    "context manager that suppresses": (r"swallow=True|contextlib\.suppress|forgiving", [
        "with forgiving():\n    <block>\n    raise MyError(<int>)", "with forgiving():\n    " + BREAK + "\n    <~T> = risky(<T>, <int>)", "with contextlib.suppress(ZeroDivisionError):\n    <~T> = <T> * (1 // <int>)\n    <block>",
        "for <.int> in range(2):\n    with forgiving():\n        <loop>\n        raise MyError(<int>)", "with Ctx('s', swallow=True):\n    " + BREAK + "\n    raise MyError(<int>)",
        "def <a:+F>(<b:.T>):\n    with Ctx('r', swallow=True):\n        return risky(<b>, <int>)\n    return <b> * 2\n<+T> = <a>(<T>)",
    ]),
    "ExitStack and others of contextlib": (r"ExitStack|nullcontext", [
        "with contextlib.ExitStack() as stack:\n    for name_ in 'ab':\n        stack.enter_context(Ctx(name_))\n    stack.callback(LOG.append, <int>)\n    <block>", "with contextlib.nullcontext(<int>) as <.int>:\n    <block>", "with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n    <~T> = <T> * 2\n    " + BREAK + "\n    <block>", "with contextlib.closing(live(<int>)) as <a:.It>:\n    <~int> = next(<a>)",
    ]),
    "no_grad": (r"no_grad", [
        "with torch.no_grad():\n    <+T> = <T> * y\n    " + BREAK + "\n    <+T> = <T> + y", "with torch.no_grad():\n    y.add_(<float>)", "@torch.no_grad()\ndef <a:+F>(<b:.T>):\n    " + BREAK + "\n    return <b> * y\n<+T> = <a>(<T>)", "<+T> = frozen(<T>)", "try:\n    with torch.no_grad():\n        <~T> = y * 2\n        raise MyError(<int>)\nexcept MyError:\n    <+T> = y * <T>",
        "with torch.no_grad():\n    for <.int> in range(2):\n        <loop>", "manager = torch.no_grad()\nwith manager:\n    <+T> = y * <int>\n<+T> = y * <int>",
    ]),
    "enable_grad": (r"enable_grad", ["with torch.no_grad():\n    with torch.enable_grad():\n        <+T> = y * <T>\n        " + BREAK + "\n    <+T> = y * <T>", "with torch.enable_grad():\n    <+T> = y * <T>\n    <block>", "@torch.enable_grad()\ndef <a:+F>(<b:.T>):\n    return <b> * y\n<+T> = <a>(<T>)"]),
    "set_grad_enabled": (r"set_grad_enabled", ["with torch.set_grad_enabled(<bool>):\n    <+T> = y * <T>\n    " + BREAK + "\n    <block>", "torch.set_grad_enabled(<bool>)\n<+T> = y * <T>\n" + BREAK + "\n<+T> = y + <T>\ntorch.set_grad_enabled(True)", "before_ = torch.is_grad_enabled()\ntorch.set_grad_enabled(not before_)\n<+T> = y * <T>\ntorch.set_grad_enabled(before_)", "with torch.set_grad_enabled(<bool>) as none_:\n    LOG.append(torch.is_grad_enabled())"]),
    "autocast": (r"autocast", [
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    <+T> = (torch.ones(3, 3) @ torch.full((3,), <float>)).float() + <T>", "with torch.autocast('cpu', dtype=torch.bfloat16, enabled=<bool>):\n    <a:+T> = torch.ones(3, 3) @ torch.ones(3)\n    " + BREAK + "\n    LOG.append(str((torch.ones(2, 2) @ torch.ones(2)).dtype))\n<a> = <a>.float()",
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    with torch.autocast('cpu', enabled=False):\n        LOG.append(torch.is_autocast_enabled('cpu'))\n    <block>", "LOG.append(torch.is_autocast_enabled('cpu'))", "@torch.autocast('cpu', dtype=torch.bfloat16)\ndef <a:+F>(<b:.T>):\n    return (torch.ones(3, 3) @ torch.ones(3)).float() + <b>\n<+T> = <a>(<T>)",
    ]),
    "inference_mode": (r"inference_mode", ["with torch.inference_mode():\n    <a:+T> = <T> * 2\n    <block>\n<+bool> = <a>.is_inference()", "with torch.inference_mode():\n    " + BREAK + "\n    <+T> = y * 2", "@torch.inference_mode()\ndef <a:+F>(<b:.T>):\n    return <b> * 3\n<+T> = <a>(<T>).clone()", "with torch.inference_mode(<bool>):\n    <+T> = <T> + 1", "LOG.append(torch.is_inference_mode_enabled())"]),
    # ---------------------------------------------------------------- classes
    "property": (r"\.double\b|\.deg\b|Temp\(|\.top\b", ["<O>.double = <int>\n<+int> = <O>.double", "<a:+O> = Temp(<int>)\n<a>.deg = <int>\n" + BREAK + "\ndel <a>.deg\n<+int> = <a>.deg", "<+T> = Cell_(<T>).scaled_", "<a:@O>.value = <int>\n<+int> = <a>.double + <a>.double", "try:\n    Cell_(<T>).scaled_ = <T>\nexcept AttributeError as err:\n    LOG.append(type(err).__name__)"]),
    "descriptor": (r"Descr\(", ["<a:+O> = Descr(<T>)\n<a>.value = <T>\n<+T> = <a>.value", "<a:+O> = Fields(<int>)\n<a>.size = <int>\n<+int> = <a>.size + <a>.note", "<a:+O> = Fields(<int>)\n<a>.__dict__['note'] = <int>\n<a>.__dict__['size'] = 99\n<+int> = <a>.note - <a>.size", "<a:+O> = Fields(<int>)\ntry:\n    <a>.size = -1\nexcept ValueError as err:\n    LOG.append(str(err))\ndel <a>.size", "LOG.append(type(Fields.size).__name__)", "STATE['f'] = STATE.get('f') or Fields(<int>)\nSTATE['f'].size = <int>"]),
    "__getattr__": (r"Lazy\(|Proxy\(", ["<+T> = Lazy(<T>).more_ * <int>", "<a:+O> = Lazy(<T>)\n<+T> = <a>.other + <a>.other", "<+bool> = hasattr(Proxy(<O>), <str>)", "<+int> = getattr(Proxy(<O>), 'nothing_', <int>)", "STATE['lazy'] = STATE.get('lazy') or Lazy(<T>)\n<+T> = STATE['lazy'].other", "<+int> = Watched(<T>).secret"]),
    "__setattr__": (r"Proxy\(", ["<a:+O> = Watched(<T>)\n<a>.t = <T>\n<a>.n = <int>\n" + BREAK + "\n<a>.n += 1", "<a:+O> = Watched(<T>)\n<a>.n = <int>\ndel <a>.n\n<+bool> = hasattr(<a>, 'n')", "STATE['w'] = STATE.get('w') or Watched(<T>)\nSTATE['w'].t = STATE['w'].t + 1", "setattr(Watched(<T>), 'k', <int>)", "<a:+O> = Watched(<T>)\nobject.__setattr__(<a>, 'n', <int>)\n<+int> = <a>.n"]),
    "__slots__": (r"Slot", ["<a:+O> = Slots(<T>, <int>)\n<a>.n += <int>\n<+T> = <a>.t * <a>.n", "try:\n    Slots(<T>, <int>).absent = 1\nexcept AttributeError as err:\n    LOG.append(type(err).__name__)", "<a:+O> = SlotChild(<T>, <int>)\n<a>.more = <T>\n" + BREAK + "\ndel <a>.more\n<+bool> = hasattr(<a>, 'more')", "STATE['s'] = STATE.get('s') or Slots(<T>, <int>)\nSTATE['s'].n += 1\n<+T> = STATE['s'].t * STATE['s'].n"]),
    "__call__": (r"<@?O>\(|Diamond", ["<+T> = <O>(<T>)", "<a:+F> = Accumulate(<T>)\n<+T> = <a>(<T>)\n<+T> = <a>(<T>)", "STATE['acc'] = STATE.get('acc') or Accumulate(<T>)\n<+T> = STATE['acc'](<T>)", "<+LT> = list(map(Accumulate(<T>), <LT>))", "<+T> = Accumulate.__call__(Accumulate(<T>), <T>)"]),
    "operators of classes": (r"<M>|Meter", ["<a:+M> = Meter(<T>)\n<a> += <int>\n<+M> = <a> * <int>", "<+T> = Vec(<T>, <int>) @ Vec(<T>, <int>)", "<+int> = (Vec(<T>, <int>) - 3 + Vec(<T>, <int>)).n", "<+bool> = Vec(<T>, <int>) < Vec(<T>, <int>) <= Vec(<T>, 9)", "<a:+O> = Vec(<T>, <int>)\n<a> -= 2\n<a> <<= 1\n<+int> = <a>.n", "<+int> = (~Vec(<T>, <int>)).n + (5 - Vec(<T>, <int>)).n", "try:\n    Vec(<T>, 1) + <str>\nexcept TypeError as err:\n    LOG.append(str(err))", "<a:+O> = Vec(<T>, <int>)\n<a>['k'] = <int>\ndel <a>['k']\n<+bool> = 'k' in <a>", "<+int> = divmod(Vec(<T>, <int>), 3)[1] + abs(Vec(<T>, -4)).n"]),
    "special methods that builtins ask for": (r"Indexed|len\(<O>|<O>\[|in <O>|for .* in <O>|f'\{<[OM]>|repr\(<O>", ["<+str> = f'{Vec(<T>, <int>):>4}' + str(Vec(<T>, <int>))", "<+LI> = sorted([Vec(<T>, 3), Vec(<T>, 1)], reverse=<bool>)[0].pair()", "<+int> = len(Vec(<T>, <int>)) + int(Vec(<T>, <int>)) + hash(Vec(<T>, <int>))", "if Vec(<T>, <int>):\n    <block>", "<a:+D> = {Vec(<T>, 1): <int>}\n<+int> = <a>.get(Vec(<T>, <int>), 7)", "<+LI> = [*reversed(Vec(<T>, <int>)), *Vec(<T>, <int>)]", "<+float> = round(float(Vec(<T>, <int>)), 1)", "<+LI> = <LI>[Indexed(<int>):]", "<+int> = math.floor(Vec(<T>, <int>)) + (Vec(<T>, <int>) in [Vec(<T>, 1)])"]),
    "__torch_function__ of a subclass": (r"", ["<+T> = torch.sin(<T>.as_subclass(Tagged)).as_subclass(torch.Tensor)", "<a:+T> = <T>.as_subclass(Tagged)\n<+T> = (<a> + <T>).as_subclass(torch.Tensor)\nLOG.append(type(<a> * 2).__name__)", "<+T> = (TAGGED * <T>).as_subclass(torch.Tensor)", "<+T> = torch.cat([TAGGED, <T>.view(-1)]).sum().as_subclass(torch.Tensor)", "TAGGED.add_(<int>)", "LOG.append(type(TAGGED.sum() + <T>).__name__)", "LOG.append(TAGGED.shape[0] + TAGGED.numel())"]),
    "__torch_function__ of another class": (r"", ["<+T> = torch.add(Duck(<T>), <T>).t", "<+T> = (torch.mul(<T>, Duck(<T>))).t", "<+T> = torch.stack([Duck(<T>).t, <T>]).sum(0)", "<+T> = torch.nn.functional.relu(Duck(<T>)).t", "<a:+O> = torch.sin(Duck(<T>))\n" + BREAK + "\n<+T> = torch.cos(<a>).t", "<+T> = (<T> + Duck(<T>)).t"]),
    "metaclass": (r"", ["<a:+O> = Made(<T>)\n<+int> = Meta.made\n<+str> = <a>.tag", "<+T> = MadeChild(<T>, <int>).t * Meta.made", "<+int> = Made[<int>] + len(Made) + (3 in Made)", "<+str> = Made.label + MadeChild.label", "<+LI> = list(Made)", "<+bool> = isinstance(<O>, Looks) or isinstance(<int>, Looks)", "<+bool> = issubclass(Box, Looks)", "LOG.append(type(Made).__name__ + Made.__name__)", "Made.extra_ = <int>\n<+int> = Made.extra_", "<a:+O> = Single()\n<b:+O> = Single()\n<a>.hits += 1\n<+bool> = <a> is <b>", "<+int> = Single().hits", "try:\n    Shape_()\nexcept TypeError as err:\n    LOG.append(str(err))", "<+int> = Round(<int>).area() + Round(<int>).twice()", "<+bool> = isinstance(Round(<int>), Shape_) and Made is not MadeChild"]),
    "class defined in the function": (r"", ["class Local:\n    k = <int>\n    def __init__(self, t):\n        self.t = t\n    def go(self):\n        return self.t * self.k\n<+T> = Local(<T>).go()", "class Own(Box):\n    def scaled(self, t):\n        return super().scaled(t) + 1\n<+T> = Own(<int>, <T>).scaled(<T>)", "Made_ = type('Made_', (), {'n': <int>})\n<+int> = Made_().n", "@dataclasses.dataclass\nclass Rec:\n    a: int = <int>\n<+int> = Rec().a + Rec(<int>).a"]),
    "super()": (r"super\(|Child|Diamond|Square|Shape\.", ["<+T> = super(Child, Child(<int>, <T>)).scaled(<T>)", "<a:+O> = Child(<int>, <T>)\n<a>.double = <int>\n<+int> = <a>.double", "<+T> = Diamond(<T>).go() + Right(<T>).go()", "<+LI> = Traced([<int>, <int>]).more(<int>)", "<a:+D> = TracedDict(u=<int>)\n<a>['k'] = <int>\n<a>.update(z=1)\n<+int> = <a>['k']", "<+T> = Deep(<T>).run(<int>)"]),
    "classmethod and staticmethod": (r"Counted|Shape\.make|Registry|Pair\._make", ["<a:+O> = Counted.make(<T>)\n<+int> = Counted.total\n<+T> = <a>.adjust(<T>)", "<+T> = type(Counted(<T>)).make(<T>).t", "<a:+F> = Counted.adjust\n<+T> = <a>(<T>)", "<+T> = Deep.build(<T>).run(<int>)", "<+int> = Deep.level() + Deep(<T>).level()", "<a:+F> = Deep.build\n<+T> = <a>(<T>).t"]),
    "inheritance": (r"Child|Diamond|SlotChild|isinstance\(<O>|issubclass|Square|Wide", ["<+T> = Deep(<T>).go() + Diamond(<T>).go()", "<+bool> = isinstance(Deep(<T>), Left) and issubclass(Deep, Base)", "<+str> = '>'.join(k.__name__ for k in Deep.__mro__[:3])", "<a:+K> = Stack(<LI>)\n<a>.extend([<int>])\n<a>.label += <str>\n<+int> = <a>.top", "Left.extra_ = <int>\n<+int> = Deep(<T>).extra_", "<a:+O> = Fixed(<int>)\n<+T> = <T> * <a>.plus(<int>)", "<+int> = Fixed(<int>) + Fixed(<int>)", "<+str> = Text('ab').shout() + Text('u')"]),
    "__new__, __init_subclass__, __class_getitem__": (r"Registry|Typed|copy\.copy", ["<a:+O> = Single()\n<a>.hits += <int>\n<+int> = Single().hits", "<+int> = Fixed(<int>).plus(2)", "<+int> = Typed[str]().n + len(Registry.known)", "<+int> = Sized_[<int>]", "<a:+O> = Box.__new__(Box)\n<a>.value = <int>\n<+int> = <a>.value * 2"]),
    # ---------------------------------------------------------------- functions
    "lambda and closure": (r"lambda|make\(|min_of|counter\(\)|compose|twice", ["<a:+T> = <T>\n<b:+F> = lambda t: t * <a>\n<+T> = <b>(<T>)\n<a> = <T>\n<+T> = <b>(<T>)", "<a:+int> = <int>\ndef <b:+F>(<c:.T>):\n    " + BREAK + "\n    return <c> * <a>\n<a> += 1\n<+T> = <b>(<T>)", "<a:+F>, <b:+F> = (lambda t, k=<int>: t + k), (lambda t: <T|t=T>)\n<+T> = <a>(<b>(<T>))", "STATE['f'] = lambda t: t + <T>\n<+T> = STATE['f'](<T>)", "<+T> = KEPT_FN(<T>)"]),
    "nonlocal": (r"nonlocal|make\(", ["<a:+T> = <T>\ndef <b:+F>(<c:.T>):\n    nonlocal <a>\n    <a> = <a> + <c>\n    return <a> * 2\n<+T> = <b>(<T>)\n" + BREAK + "\n<+T> = <b>(<T>) + <a>", "<a:+int> = <int>\ndef <b:+FI>(<c:.int>):\n    def deeper():\n        nonlocal <a>\n        <a> += <c>\n    deeper()\n    return <a>\n<+int> = <b>(<int>) + <a>", "<a:+int> = 0\ndef <b:+FI>(<c:.int>):\n    nonlocal <a>\n    " + BREAK + "\n    <a> += <c>\n    return <a>\nfor <.int> in range(2):\n    <b>(<int>)\n    <loop>", "<+T> = KEPT_FN(<T>)\n<+T> = KEPT_FN(<T>)", "<a:+T> = <T>\ndef <b:+F>(<c:.T>):\n    nonlocal <a>\n    del <a>\n    <a> = <c>\n    return <a>\n<+T> = <b>(<T>) + <a>"]),
    "globals written": (r"\bG[NTLD]\b(?:\[.*\]|\.\w+\(.*\))?(?: |\.|\[).*=|global |LOG\.append|G[TLD]\.", ["GN = <int>\n" + BREAK + "\nGN += 1\n<+T> = <T> * GN", "GT = <T>\n<+T> = GT + <T>\nGT = GT.clone()", "GT.add_(<int>)\n" + BREAK + "\n<+T> = GT * 2", "def <a:+FI>():\n    global GN, GT\n    GN += 1\n    GT = GT * 2\n    return GN\n<+int> = <a>() + GN", "GL += [<int>]\nGD[<str>] = GD.get(<str>, 0) + 1", "STATE['n'] = STATE.get('n', 0) + 1\n<+T> = <T> * STATE['n']", "STATE['x'] = <T>\n" + BREAK + "\n<+T> = STATE['x'] + 1", "swap_globals()\n<+T> = GT * GN"]),
    "default arguments": (r"def .*=<|lambda .*=<|__defaults__", ["def <a:+F>(<b:.T>, other=<T>, *, k=<int>):\n    return <b> * k + other\n<+T> = <a>(<T>)\n<+T> = <a>(<T>, <T>, k=<int>)", "<+LI> = list(remember(<int>))\n<+int> = len(remember(<int>))", "def <a:+FI>(<b:.int>, seen=[]):\n    seen.append(<b>)\n    " + BREAK + "\n    return sum(seen)\n<+int> = <a>(<int>) + <a>(<int>)"]),
    "star-arguments": (r"\(\*<|\*\*<|\*args|\*rest|\*a\b|\*r\b|\*more", ["<+T> = spread(<T>, *<LT>[:2], k=<int>)", "<+T> = spread(*<LT>[:2], <T>, **{'k': <int>})", "<+T> = spread(<T>, **dict(k=<int>, j=<int>))", "def <a:+F>(<b:.T>, *more, **named):\n    " + BREAK + "\n    return sum(more, <b>) * len(named)\n<+T> = <a>(<T>, <T>, u=1)\n<+T> = <a>(*<LT> or [<T>], **<D>)", "try:\n    spread(<T>, k=1, **{'k': 2})\nexcept TypeError as err:\n    LOG.append(str(err))", "<+LI> = [*<LI>, *range(<int> % 3), *{1: 2}]", "<+T> = (lambda *a, **k: a[0] * len(a) + len(k))(<T>, *<LI>, **<D>)"]),
    "keyword-only": (r"\*, |\*rest, <|kwonly|key=<int>|\*r, k", ["<+T> = kwonly(<T>, <int>, scale=<int>)", "def <a:+F>(<b:.T>, *, scale, shift=<int>):\n    return <b> * scale + shift\n<+T> = <a>(<T>, scale=<int>)", "try:\n    kwonly(<T>, 1, 2, nothing=3)\nexcept TypeError as err:\n    LOG.append(str(err))", "try:\n    (lambda *, k: k)()\nexcept TypeError as err:\n    LOG.append(str(err))"]),
    "positional-only": (r"/, |, /|posonly", ["<+T> = posonly(<T>, <int>, <int>)", "def <a:+F>(<b:.T>, k=<int>, /, **named):\n    return <b> * k + named.get('k', 0)\n<+T> = <a>(<T>, k=<int>)", "try:\n    posonly(a=<T>)\nexcept TypeError as err:\n    LOG.append(str(err))"]),
    "recursion": (r"recursive|fib\(|tree\(|depth\(|<a>\(q - 1\)|<a>\(<b> - 2\)|show\(<LI>", ["<+T> = recursive(<T>, <int> % 6)", "def <a:+F>(<b:.T>, n=3):\n    return <b> if n == 0 else <a>(<b> * 2, n - 1) + n\n<+T> = <a>(<T>)", "<+T> = even(<T>, <int> % 5)", "<+int> = ackermann(1, abs(<int>) % 3)", "<+LI> = walk([<int>, [<int>, [<LI>]]])", "def <a:+FI>(<b:.int>):\n    " + BREAK + "\n    return 0 if <b> <= 0 else 1 + <a>(<b> - 1)\n<+int> = <a>(<int> % 4)", "<+T> = tree_map(lambda t: t * <int>, {'a': [<T>, (<T>, 1)]})['a'][0]"]),
    "decorator": (r"^@|decorated|tagged|log_calls", ["@tagged(<str>)\n@log_calls\ndef <a:+F>(<b:.T>):\n    return <b> * <int>\n<+T> = <a>(<T>)\n<+int> = len(<a>.tag)", "<+T> = decorated(<T>, n=<int>)\n<+int> = decorated.calls", "<+T> = decorated.__wrapped__(<T>, <int>)"]),
    # ---------------------------------------------------------------- the standard library
    "functools.partial": (r"partial\(|fib3", ["<a:+F> = functools.partial(kwonly, scale=<int>)\n" + BREAK + "\n<+T> = <a>(<T>)", "<a:+F> = functools.partial(functools.partial(chain, <T>), <T>)\n<+T> = <a>(<T>)\n<+int> = len(<a>.args)", "<+T> = PARTIAL(<T>)", "<+int> = PARTIAL.keywords['k'] + len(PARTIAL.args)", "STATE['p'] = functools.partial(helper, k=<int>)\n<+T> = STATE['p'](<T>)", "<+T> = Halving(<T>).half(<int>)"]),
    "functools.reduce": (r"reduce\(", ["<+T> = functools.reduce(torch.add, <LT>, <T>)", "<+T> = functools.reduce(lambda p, q: p * 2 + q, <LT> or [<T>])", "<+int> = functools.reduce(lambda p, q: (id(0) and p) + q, <LI>, <int>)", "try:\n    functools.reduce(max, [])\nexcept TypeError as err:\n    LOG.append(str(err))"]),
    "functools.lru_cache": (r"lru_cache", ["<+int> = cached(<int>) + cached(<int>)", "<+T> = <T> * cached(<int>)\nLOG.append(cached.cache_info().hits)", "<+T> = <T> + cached_tensor(<int>)", "cached.cache_clear()\n<+int> = cached(<int>)", "<+int> = once()", "@functools.cache\ndef <a:+FI>(<b:.int>):\n    LOG.append(<b>)\n    return <b> * 2\n<+int> = <a>(<int>) + <a>(<int>)"]),
    "functools.wraps": (r"wraps|decorated|tagged|log_calls", ["@log_calls\ndef <a:+F>(<b:.T>):\n    return <b> * 2\n<+T> = <a>(<T>)\n<+str> = <a>.__name__ + str(<a>.calls)", "@functools.wraps(helper)\ndef <a:+F>(<b:.T>, **named):\n    return helper(<b>, **named)\n<+T> = <a>(<T>, k=<int>)"]),
    "functools.singledispatch": (r"show\(", ["<+int> = show([<int>, <str>])", "<+T> = show(<T>)\n<+int> = show(True)", "<+int> = show.dispatch(int)(<int>)", "<+int> = Dispatcher().go(<int>) + Dispatcher().go(<str>)"]),
    "functools.cached_property": (r"Once", ["<a:+O> = Once(<T>)\n<+T> = <a>.value + <a>.value\n" + BREAK + "\n<+T> = <a>.value", "STATE['o'] = STATE.get('o') or Once(<T>)\n<+T> = STATE['o'].value", "<a:+O> = Once(<T>)\n<a>.value\ndel <a>.value\n<+T> = <a>.value", "<+T> = Once(<T>).times(<T>)", "<a:+O> = Once(<T>)\n<+bool> = 'value' in vars(<a>)\n<+T> = <a>.twice()"]),
    "total_ordering, cmp_to_key": (r"cmp_to_key", ["<+bool> = Rank(<int>) >= Rank(<int>)", "<+int> = max(Rank(<int>), Rank(<int>)).n", "<+LI> = sorted(<LI>, key=functools.cmp_to_key(lambda p, q: (p % 3) - (q % 3)))"]),
    "itertools": (r"itertools", ["<+LT> = [p + q for p, q in itertools.pairwise(<LT>)]", "<+LI> = list(itertools.islice(itertools.chain(<LI>, itertools.repeat(<int>)), 4))", "for <.int>, <.int> in itertools.product(<LI>[:2], repeat=2):\n    <loop>", "<a:+It>, <b:+It> = itertools.tee(<LI>)\n<+int> = next(<a>, 0)\n<+LI> = list(<b>)", "<+LI> = [k + len(list(g)) for k, g in itertools.groupby(sorted(<LI>), key=lambda e: e % 2)]", "<+LI> = list(itertools.dropwhile(lambda e: e < 2, <LI>))", "numbers = itertools.count(<int>, 2)\n<+int> = next(numbers) + next(numbers)\n" + BREAK + "\n<+int> = next(numbers)", "<+int> = next(COUNT)", "<+LT> = list(itertools.accumulate(<LT>))", "<+LI> = [sum(p) for p in itertools.permutations(<LI>[:3], 2)]", "<+LI> = list(itertools.filterfalse(lambda e: e % 2, <LI>))", "<+LI> = [p or q for p, q in itertools.zip_longest(<LI>, <LI>)]", "wheel = itertools.cycle(<LI> or [1])\n<+LI> = [next(wheel) for _ in range(3)]"]),
    "deque": (r"<@?Q>|deque", ["<a:+Q> = deque(<LT>, maxlen=2)\n<a>.append(<T>)\n<+T> = <a>[0] + <a>[-1]", "QUEUE.append(<T>)\n<+T> = sum(QUEUE)", "QUEUE.append(<T>)\nif len(QUEUE) > 2:\n    QUEUE.popleft()\n<~T> = <T> + QUEUE[0]", "<a:+Q> = deque(<LI>)\n<a>.rotate(<int>)\n" + BREAK + "\n<a>.extend(<LI>)\n<+LI> = list(<a>)", "QUEUE.clear()", "try:\n    deque().popleft()\nexcept IndexError as err:\n    LOG.append(str(err))", "<+int> = len(QUEUE)"]),
    "defaultdict": (r"defaultdict", ["<a:+D> = defaultdict(list)\nfor <b:.str>, <c:.int> in <D>.items():\n    <a>[<b>[:1]].append(<c>)\n<+int> = len(<a>)", "GROUPS[<str>].append(<int>)\n<+int> = len(GROUPS[<str>])", "<a:+DT> = defaultdict(lambda: <T>)\n<a>['u'] += 1\n<+T> = <a>['q'] + <a>['u']", "<a:+D> = defaultdict(int, <D>)\n<a>[<str>] += <int>\n" + BREAK + "\n<a>['n'] -= 1\n<+bool> = 'z' in <a>", "<a:+D> = defaultdict()\ntry:\n    <a>[<str>]\nexcept KeyError as err:\n    LOG.append(err.args)", "<+bool> = GROUPS.get('none_') is None"]),
    "OrderedDict": (r"OrderedDict", ["<a:+D> = OrderedDict(u=<int>, w=<int>)\n<a>.move_to_end('u', last=<bool>)\n<+LI> = list(<a>.values())", "<a:+D> = OrderedDict(<D>)\n<a>['k'] = <int>\n" + BREAK + "\n<a>.popitem(last=False)\n<+int> = len(<a>)", "<+bool> = OrderedDict(<D>) == OrderedDict(<D>)", "<+str> = next(reversed(OrderedDict(a=1, b=2)))", "LRU[<str>] = <int>\nLRU.move_to_end(next(iter(LRU)))\nif len(LRU) > 2:\n    LRU.popitem(last=False)"]),
    "Counter": (r"Counter\(", ["<a:+D> = Counter(<LI>)\n<a>.update(<LI>)\n<+int> = <a>[<int>] + <a>.total()", "TALLY[<str>] += 1\n<+int> = TALLY[<str>]", "TALLY.update(<str>)\n<+int> = len(TALLY.most_common(1))", "<+D> = Counter(<str>) - Counter(<str>) | Counter('u')", "<a:+D> = Counter(<str>)\n<a>.subtract('u')\n<+bool> = <a> == Counter(<str>)"]),
    "namedtuple": (r"<@?P>|Pair", ["<a:+P> = Pair(<T>, <int>)\n<+T>, <+int> = <a>\n<b:+P> = <a>._replace(b=<int>)\n<+D> = {k: 1 for k in <b>._asdict()}", "<+T> = PairPlus(<T>, <int>).total()", "<a:+P> = Pair(<T>, <int>)\n" + BREAK + "\n<+T> = <a>.a * <a>.b", "<+str> = ','.join(Pair._fields) + str(len(Pair(<T>, 1)))", "STATE['pair'] = Pair(<T>, <int>)\n<+T> = STATE['pair'].a", "<+bool> = isinstance(<P>, tuple) and <P>[1] == <int>", "try:\n    <P>.a = 1\nexcept AttributeError as err:\n    LOG.append(type(err).__name__)"]),
    "ChainMap": (r"ChainMap", ["<a:+D> = ChainMap({'u': <int>}, <D>)\n<a>['k'] = <int>\n<+int> = <a>['u'] + len(<a>.maps)", "<a:+D> = ChainMap({}, <D>).new_child({'q': <int>})\n<+bool> = 'q' in <a> and <str> in <a>", "<+LI> = sorted(ChainMap(<D>, {'z': <int>}).values())"]),
    "dataclass": (r"<@?DC>|<@?V>|Point|dataclasses|Ver\(", ["<a:+DC> = Point(<T>)\n<a>.n += <int>\n<a>.tags.append(<int>)\n" + BREAK + "\n<+T> = <a>.a * <a>.n", "<+T> = Config(<T>, width=<int>).run()", "<a:+DC> = Config(<T>)\n<+int> = <a>.width + <a>.area\n<+bool> = <a> == Config(<a>.t)", "try:\n    Ver(1).minor = 2\nexcept dataclasses.FrozenInstanceError as err:\n    LOG.append(str(err))", "<+str> = repr(Ver(<int>)) + str(len(dataclasses.fields(Config)))", "STATE['dc'] = STATE.get('dc') or Point(<T>)\nSTATE['dc'].n += 1\n<+T> = STATE['dc'].a * STATE['dc'].n", "<+D> = dataclasses.asdict(Ver(<int>))", "<+bool> = dataclasses.is_dataclass(<DC>) and hash(Ver(1)) == hash(Ver(<int>))"]),
    "enum": (r"Color|Num\.|Num\(|Mode\.|enum\.", ["<+T> = <T> * Color.RED.scale + Color['BLUE'].value", "match Color(<int> % 2 + 1):\n    case Color.RED:\n        <block>\n    case Color.BLUE:\n        <block>", "<+LI> = [c.value for c in Color]", "<+bool> = Color.RED in {Color.RED: 1} and Mode.A in Mode(3)", "STATE['mode'] = Color.BLUE if STATE.get('mode') is Color.RED else Color.RED\n<+T> = <T> * STATE['mode'].value", "<+int> = (Mode.A | Mode.B).value + Num.TWO * 2", "try:\n    Color(7)\nexcept ValueError as err:\n    LOG.append(str(err))", "<+str> = Level.LOW.upper() + f'{Level.HIGH}'", "<+bool> = Level('low') is Level.LOW and Level.LOW == 'low'", "<+str> = str(list(Color.__members__))"]),
    "typing": (r"typing|Typed|int: int", ["<+T> = typing.cast(torch.Tensor, <T>)", "<a:+P> = Entry(<T>, <int>)\n<+T> = <a>.scaled() + <a>.t", "<+T> = Entry(t=<T>)._replace(n=<int>).t", "<a:+O> = Keeper[int](<int>)\n<+int> = <a>.get()", "def <a:+F>(<b:.T>, k: int = <int>, *r: 'int') -> torch.Tensor:\n    out: torch.Tensor = <b> * k\n    return out\n<+T> = <a>(<T>)", "<a:+D> = Options(u=<int>)\n<+int> = <a>['u']", "if typing.TYPE_CHECKING:\n    <block>", "<+bool> = isinstance(<LI>, typing.Sequence)", "<+bool> = isinstance(<O>, HasScaled)"]),
    "math": (r"math\.", ["<+T> = <T> * math.sqrt(abs(<float>)) + math.pi", "<+float> = math.log(abs(<float>) + 1) + math.exp(<float>)", "<+int> = math.ceil(<float>) + math.comb(5, abs(<int>) % 4)", "<+bool> = math.isclose(<float>, <float>) or math.isinf(<float>)", "<+T> = <T> / math.sqrt(<T>.numel())", "try:\n    math.sqrt(-1 - abs(<float>))\nexcept ValueError as err:\n    LOG.append(str(err))", "<+float> = math.hypot(<float>, <int>) + math.fsum([<float>, 0.1])", "<+float> = math.sin(<T>.sum().item())", "<+int> = math.trunc(<float>) + math.prod(<LI>[:2])"]),
    "random": (r"random", ["<+T> = <T> * random.random()", "<+int> = random.randint(0, 5)", "random.seed(str(<int>))\n<+T> = <T> + random.uniform(-1, 1)", "<+int> = random.choice(<LI> or [7])", "random.shuffle(<@LI>)", "if random.random() < 0.5:\n    <block>", "<a:+O> = random.Random(<int>)\n<+float> = <a>.gauss(0, 1)\n" + BREAK + "\n<+float> = <a>.random()", "<+LI> = random.sample([1, 2, 3, 4], 2)", "<+float> = DICE.random()", "random.seed(str(<int>))\n" + BREAK + "\n<+float> = random.random()", "<+float> = float(np.random.rand()) * 0 + 1"]),
    "NumPy scalars": (r"", ["<a:+NS> = np.float64(<float>)\n<+T> = <T> * <a>", "<a:+NS> = np.int64(<int>)\n<+T> = <T>[<a> % 3:] if <T>.dim() else <T> + <a>", "<+T> = <T> * float(np.float32(<float>))", "<+int> = int(np.int64(<int>) + 2)", "<a:+NS> = np.float32(<float>) + <int>\n<+bool> = <a> > <float>\n<+str> = str(<a>)", "<+T> = <T> + NPS", "<+NS> = NPS * <int>", "if NPS > <float>:\n    <block>", "<+T> = torch.full((3,), NPS) + <T>", "<a:+NS> = np.sqrt(abs(<float>))\n" + BREAK + "\n<+float> = float(<a>)", "<+bool> = isinstance(<@NS>, np.floating)", "<+NS> = <@NS> + <@NS>", "<+T> = <T> * <@NS>", "<+float> = <@NS>.item() * 1.0"]),
    "NumPy arrays": (r"", ["<a:+NA> = np.array([<float>, <int>, 1.0])\n<+T> = torch.from_numpy(<a>).float() + <T>", "<a:+NA> = np.arange(3)\n<+T> = torch.tensor(<a>) * <T>", "<+float> = float(np.array(<LI> or [1]).mean())", "<+T> = <T> * float(NPA.sum())", "NPA[<int> % 3] += 1\n<+T> = <T> + torch.from_numpy(NPA)", "<a:+NA> = <T>.detach().numpy().copy()\n<+float> = float(<a>.sum())", "<+NA> = np.stack([NPA, NPA * 2]).sum(0)", "<+T> = torch.as_tensor(NPA, dtype=torch.float32)[:3] * <T>", "for <.float> in NPA.tolist():\n    <loop>", "<+LI> = [int(e) for e in np.cumsum(<LI>)]", "<+T> = torch.ones(tuple(np.array([3]))) + <T>", "<a:+NA> = NPA[1:]\n<a> *= 2\n" + BREAK + "\n<+float> = float(NPA[1])", "<+int> = len(NPA) + NPA.shape[0]", "<+T> = torch.tensor(<T>.tolist() if <T>.dim() else [1.0, 2.0, 3.0]) * <T>"]),
    # ---------------------------------------------------------------- from code that is not captured
    "callback of sorted": (r"key=(?:lambda|<FI>|abs|len)", ["<+LT> = sorted(<LT>, key=lambda t: float((t * 2).sum()))", "<+T> = max([<T>, <T>], key=lambda t: (t + 1).sum().item())", "<@LI>.sort(key=lambda e: (LOG.append(e), -e)[1])", "<+T> = min([<T>, <T>], key=measure)", "<+LI> = heapq.nlargest(2, <LI>, key=lambda e: e % 3)", "<+LT> = sorted(<LT>, key=measure, reverse=<bool>)"]),
    "callback of map and filter": (r"\bmap\(|filter\(", ["<+LT> = list(map(lambda t: torch.sin(t) * <int>, <LT>))", "<+LT> = list(filter(lambda t: (t > <float>).any(), <LT>))", "<+T> = sum(map(helper, <LT>))", "<a:+It> = map(lambda e: (LOG.append(e), e * 2)[1], <LI>)\n<+int> = next(<a>, 0)\n" + BREAK + "\n<+LI> = list(<a>)", "<+LI> = [*map(lambda p, q: p * <int> + q, <LI>, <LI>)]"]),
    "callback of other C code": (r"", ["<+str> = re.sub('[a-z]', lambda m: str(helper_int(ord(m[0]))), <str>)", "<+T> = contextvars.copy_context().run(helper, <T>)", "<+str> = json.dumps({'k': <O>}, default=lambda o: o.value)", "<+T> = copy.deepcopy(Deepish(<T>)).t", "<+T> = outside(helper, <T>)", "<+T> = outside(lambda t: torch.cos(t) * <int>, <T>)\n<+T> = outside(KEPT_FN, <T>)", "<+LI> = list(bytes(helper_int(e) % 256 for e in <LI>))", "<+int> = operator.call(helper_int, <int>)", "<+T> = outside(<F>, <T>)", "<+int> = re.compile('u').subn(lambda m: (LOG.append(m[0]), 'x')[1], <str>)[1]"]),
    "tensor hook": (r"", ["<a:+T> = y * <T>\n<a>.register_hook(lambda g: g * 2)\n<a>.sum().backward()", "handle = y.register_hook(lambda g: g * <int>)\n(y * <T>).sum().backward()\nhandle.remove()", "<a:+T> = y * <int>\n<a>.register_hook(grad_log)\n<+T> = <a> + 1", "<a:+T> = y * 2\n<a>.retain_grad()\n<a>.sum().backward()\n<+T> = <a>.grad + <T>"]),
    # ---------------------------------------------------------------- modules
    "nn.Module": (r"NET|BLOCKS|Net\(", ["<+T> = NET(<T>)", "<+T> = NET(<T>, k=<int>)\n" + BREAK + "\n<+T> = NET(<T>)", "<+T> = BLOCKS(<T>)", "<a:+N> = Net()\n<+T> = <a>(<T>)", "<+T> = <@N>(<T>)", "<+int> = sum(p.numel() for p in NET.parameters())", "<+LI> = [len(n) for n, _ in BLOCKS.named_parameters()]", "<+T> = BLOCKS[0](<T>) + BLOCKS[-1].scale", "for layer in BLOCKS:\n    <~T> = layer(<T>)", "<+T> = NET.scale * <T>", "NET.steps += <int>", "NET.scale.data.mul_(<float>)", "NET.scale = torch.nn.Parameter(NET.scale.detach() * 2)", "NET.other = <T>\n<+T> = NET.other + 1", "<+LI> = [len(k) for k in NET.state_dict()]", "NET.load_state_dict({k: v * 2 for k, v in NET.state_dict().items()})", "<+T> = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Identity())(<T>)", "<+T> = TABLES['a'](<T>) + TABLES.extra['b'].scale", "<+bool> = isinstance(NET, torch.nn.Module) and hasattr(NET, 'count')", "<+T> = torch.func.functional_call(NET, {'scale': <T>}, (<T>,))"]),
    "module hooks": (r"", ["handle = NET.register_forward_hook(lambda m, args, out: out * <int>)\n<+T> = NET(<T>)\nhandle.remove()\n<+T> = NET(<T>)", "handle = NET.register_forward_pre_hook(lambda m, args: (args[0] + <int>,))\n<+T> = NET(<T>)\nhandle.remove()", "<+T> = HOOKED(<T>)", "<+T> = HOOKED(<T>)\n" + BREAK + "\n<+T> = HOOKED(<T>)", "handle = HOOKED.register_forward_hook(log_hook)\n<+T> = HOOKED(<T>)\nhandle.remove()", "HOOKED.register_full_backward_hook(lambda m, gi, go: LOG.append('back'))\nHOOKED(<T>).sum().backward()", "handle = HOOKED.register_forward_hook(lambda m, args, kwargs, out: out + len(kwargs), with_kwargs=True)\n<+T> = HOOKED(<T>, k=<int>)\nhandle.remove()"]),
    "buffers": (r"NET\.count\b|running|NORM", ["NET.train()\n<+T> = NET(<T>)\n<+T> = NET.count + <T>", "NET.count.add_(<int>)\n<+T> = NET.count * 1", "NET.count = NET.count + 1\n" + BREAK + "\n<+T> = NET.count * <T>", "NET.register_buffer('late', <T>)\n<+T> = NET.late + 1", "<+LI> = [b.numel() for b in NET.buffers()]", "<+T> = NORM(torch.arange(6.0).view(2, 3)).sum(0) + <T>", "<+T> = NORM(<T>.expand(2, 3)).sum(0)\n<+T> = NORM.running_mean + 1"]),
    "training flag": (r"\.train\(|\.eval\(|\.training", ["NET.train(<bool>)\n<+T> = NET(<T>)", "NET.eval()\n<+T> = NET(<T>)\nNET.train()", "if NET.training:\n    <block>", "NET.training = <bool>\n" + BREAK + "\n<+T> = NET(<T>)", "NORM.eval()\n<+T> = NORM(<T>.expand(2, 3)).sum(0)\nNORM.train()", "<+T> = torch.nn.functional.dropout(<T>, 0.5, training=False)"]),
    # ---------------------------------------------------------------- autograd
    "backward": (r"\.backward\(", ["(y * <T>).sum().backward()\n<+T> = y.grad * 2", "(y * y).sum().backward()\n(y * <int>).sum().backward()", "<a:+T> = torch.ones(3, requires_grad=True)\n(<a> * <T>).sum().backward()\n<+T> = <a>.grad + 1", "<a:+T> = y * <T>\n<a>.sum().backward(retain_graph=True)\n<+T> = <a> + 1", "for <.int> in range(2):\n    (y ** 2).sum().backward()", "NET(<T>).sum().backward()\n<+T> = NET.scale.grad * 1", "(<T> * y).backward(torch.ones(3))", "try:\n    <T>.detach().sum().backward()\nexcept RuntimeError as err:\n    LOG.append(type(err).__name__)"]),
    ".grad": (r"\.grad\b", ["<+T> = y.grad if y.grad is not None else <T>", "y.grad = None", "y.grad = torch.ones(3)\n(y * <int>).sum().backward()\n<+T> = y.grad * 1", "if y.grad is not None:\n    y.grad.zero_()", "y.grad = <T>.detach().clone() if <@T>.shape == y.shape else None\n<+bool> = y.grad is None", "with torch.no_grad():\n    (y * 2).sum() if y.grad is None else y.sub_(y.grad)", "<+bool> = (y * 1).grad is None"]),
    "torch.autograd.grad": (r"autograd\.grad", ["<+T> = torch.autograd.grad((y * <T>).sum(), y)[0]", "<a:+T> = (y ** 3).sum()\n<b:+T> = torch.autograd.grad(<a>, y, create_graph=True)[0]\n<+T> = torch.autograd.grad(<b>.sum(), y)[0] * <T>"]),
    "optimizer step": (r"", ["OPT.zero_grad()\nNET(<T>).sum().backward()\nOPT.step()\n<+T> = NET.scale * <T>", "(NET.scale * <T>).sum().backward()\nOPT.step()\nOPT.zero_grad()", "with torch.no_grad():\n    for param in NET.parameters():\n        if param.grad is not None:\n            param -= 0.1 * param.grad\n            param.grad = None\n<+T> = NET.scale + 1", "ADAM.zero_grad()\n(NET.scale ** 2).sum().backward()\nADAM.step()\n<+T> = NET(<T>)", "(y * <T>).sum().backward()\nwith torch.no_grad():\n    y.sub_(0.1 * y.grad)\ny.grad = None\n<+T> = y * 2", "for group in OPT.param_groups:\n    group['lr'] *= 0.5\nNET(<T>).sum().backward()\nOPT.step()"]),
    # ---------------------------------------------------------------- tensors written
    "in-place operation": (r"_\(<|\.zero_\(\)|\.add_\(1\)|<[@~]T>\[.*\] \+?=|<~T> [-+*/]", ["<@T>.add_(<T>)\n" + BREAK + "\n<@T>.mul_(<int>)", "<a:@T>.sub_(<a> * 0.5)\n<+T> = <a> + 1", "<a:+T> = <T>.clone()\n<a>[0:1] = <float>\n" + BREAK + "\n<a> += <T>", "<a:+T> = torch.zeros(3)\ntorch.add(<T>, torch.ones(3), out=<a>)", "<@T>.detach().fill_(<float>)", "<@T>.clamp_(<int>, 9).neg_()", "<a:+T> = torch.zeros(3)\n<a>.copy_(<T>)\n<a>.index_add_(0, torch.tensor([0]), torch.ones(1))", "<@T>.data.add_(1)", "torch.relu_(<@T>)", "<a:@T>.masked_fill_(<a> > <float>, <int>)", "<a:@LT>[0] *= <int>\n<+T> = <a>[0]"]),
    "view kept": (r"\.view\(|expand_as|\.detach\(\)|unbind|chunk|split|(?<!<)\.T\b", ["<a:+T> = <T>.clone()\npart = <a>[:2]\n" + BREAK + "\npart.mul_(<int>)\n<+T> = <a> + 1", "<a:+T> = <T>.clone()\npart = <a>.view(-1)\n<a>.add_(1)\n" + BREAK + "\n<+T> = part.sum() + <a>", "KEPT_VIEW.add_(<int>)\n<+T> = KEPT_BASE * 1", "KEPT_BASE.mul_(2)\n" + BREAK + "\n<+T> = KEPT_VIEW.sum() + <T>", "STATE['view'] = <T>.detach()[:1]\n" + BREAK + "\nSTATE['view'].add_(1)", "part = x[:1]\nx.add_(1)\nLOG.append(part.tolist())", "<a:+T> = <T>.clone()\nrows = <a>.unsqueeze(0).expand(2, *<a>.shape)\n<a>.mul_(2)\n" + BREAK + "\n<+T> = rows.sum(0)", "<a:+T> = torch.zeros(3)\nfirst, second, third = <a>.unbind(0)\nsecond.add_(<float>)\n" + BREAK + "\nthird.fill_(<float>)\n<+T> = <a> * <T>", "<a:+T> = <T>.clone()\n<b:+T> = <a>.T\n<b>.add_(1)\n<+bool> = <a>.equal(<b>)"]),
    "alias": (r"^<a:@LI> = <a>|^<\+\w+> = <@\w+>$|\bis <", ["<a:+T> = <b:+T> = <T>.clone()\n<a> += 1\n" + BREAK + "\n<+bool> = <a> is <b>\n<b>.mul_(2)", "<a:+LT> = [<T>]\n<b:+LT> = <a>\n<b>.append(<T>)\n" + BREAK + "\n<+bool> = <a> is <b>\n<a>[0].add_(1)", "<a:+T> = <@T>\n<a>.add_(1)\n<+T> = <@T> + <a>", "<a:@T> = <a>.contiguous()\n<a>.add_(1)", "<a:+T> = <b:T>.to(torch.float32)\n<a>.add_(<int>)\n<+T> = <b> * 2", "<O>.t = <a:@T>\n<O>.t.add_(1)\n" + BREAK + "\n<+T> = <a> + <O>.t", "STATE['alias'] = <a:@LI>\n<a>.append(<int>)\n<+int> = len(STATE['alias'])", "<a:@D>['u'] = <int>\nSTATE['d'] = <a>\n" + BREAK + "\nSTATE['d']['k'] = <int>\n<+int> = len(<a>)"]),
    # ---------------------------------------------------------------- statements
    "match": (r"^match", ["match {'op': <str>, 'args': [<int>, <int>]}:\n    case {'op': 'u', 'args': [<.int>, <.int>]}:\n        <block>\n    case {'op': ('w' | 'z'), **rest}:\n        <block>\n    case _:\n        " + BREAK, "match Vec(<T>, <int>):\n    case Vec(n=0 | 1):\n        <block>\n    case Vec(<.T>, <.int>) if <bool>:\n        <block>", "match [<int>, [<int>, <str>]]:\n    case [<.int>, [0 | 1, <.str>]]:\n        <block>\n    case [<.int>, [*_]]:\n        <block>", "match <T>.shape:\n    case (<.int>,):\n        <block>\n    case ():\n        <block>", "match <int>, <float>:\n    case (int() | float() as <.int>, 0.5):\n        <block>\n    case (-1, _):\n        <block>\n    case (1, float(<.float>)):\n        <block>", "match {**<D>}:\n    case {'u': 3}:\n        <block>\n    case {'u': <.int>, 'w': <.int>}:\n        <block>", "match <str>:\n    case Level.LOW:\n        <block>\n    case '':\n        <block>"]),
    "walrus": (r":=", ["if (<a:+T> := <T> * 2).dim():\n    <block>", "<+LI> = [last for e in <LI> if (last := e * 2) > <int>]", "while (<a:+int> := next(COUNT)) % 3:\n    <loop>", "<+int> = (<a:+int> := <int>) + (<b:+int> := <a> * 2) + <b>", "<+bool> = any((found := e) > <int> for e in [*<LI>, 9])\n<+int> = found"]),
    "del": (r"\bdel ", ["gone = <T>\n<+T> = gone * 2\ndel gone\n" + BREAK, "<a:+LT> = [<T>, <T>]\ndel <a>[0]\n<+T> = <a>[0]", "<a:+O> = Box(<int>, <T>)\ndel <a>.items\n<+bool> = hasattr(<a>, 'items')", "tmp = <T>\ndel tmp\ntry:\n    tmp\nexcept NameError as err:\n    LOG.append(type(err).__name__)", "<a:+D> = {'u': 1, **<D>}\ndel <a>['u']\n<+int> = len(<a>)", "STATE['gone'] = <T>\n" + BREAK + "\ndel STATE['gone']"]),
    "while and else": (r"while (?:.*\n)+?else", ["<a:+int> = <int> % 4\nwhile <a>:\n    <a> -= 1\n    if <bool>:\n        break\n    <loop>\nelse:\n    <block>", "<a:+int> = 2\nwhile <a>:\n    <a> -= 1\n    " + BREAK + "\n    <~T> = <T> * <a>\nelse:\n    <~T> = <T> + 1", "while <bool>:\n    <loop>\n    break\nelse:\n    <block>"]),
    "for and else": (r"for .*:\n(?:    .*\n)+else", ["for <a:.int> in <LI>:\n    if <a> > <int>:\n        <loop>\n        break\nelse:\n    <block>", "for <.T> in <LT>[:2]:\n    <loop>\n    " + BREAK + "\nelse:\n    <block>", "for <a:.int> in range(3):\n    if <T>.sum() > <a>:\n        break\nelse:\n    <~T> = <T> * 2"]),
    "slice": (r"\[(?:<\w+>|-?\d+)?:|slice\(", ["<+LI> = <LI>[slice(<int>, None, 2)]", "<+T> = <T>.view(-1)[slice(0, <int>)].sum() + <T>", "<a:+LI> = [1, 2, 3, 4, 5]\n<a>[1:<int>] = <LI>\n<+LI> = <a>[::-1]", "<+T> = torch.arange(6.0).view(2, 3)[<bool>, ::1] * <T>", "<+T> = torch.arange(9.0).view(3, 3)[1:, :2].sum() * <T>", "<+str> = 'minicompiler'[<int>:<int>:2]", "part = slice(<int>, <int>)\n" + BREAK + "\n<+LI> = <LI>[part]", "<+int> = slice(1, <int>).indices(5)[1]"]),
    "f-string": (r"f['\"]", ["<+str> = f'{<int>:>{abs(<int>) + 1}}|{<float>:.{2}f}|{<str>!r}'", "print(f'{<T>.dim()=} {<int>:03d} {<bool>!s:>6}')", "<+str> = f'{{}}{<LI>[:2]}{<D>}'", "LOG.append(f'{Color.RED} {Num.ONE:d} {Level.LOW}')", "<+str> = f'{<T>.sum().item():.3f}'", "raise_ = f'{<int>!r:<5}' + f\"{'nested'}\"\nLOG.append(raise_)"]),
    "unpacking": (r"<\+\w+>, \*?<\+|\*<\+|\*_", ["<+T>, *<+LT> = <T>, *<LT>", "(<+int>, <+int>), <+T> = (<int>, <int>), <T>", "<+T>, <+T> = torch.stack([<T>, <T>])", "<a:+int>, <b:+int> = <int>, <int>\n<a>, <b> = <b>, <a>\n<+int> = <a> - <b>", "*<+LI>, last_ = <LI> or [1]", "for <.int>, (<.int>, *_) in [(1, (2, 3)), (<int>, [<int>])]:\n    <loop>", "try:\n    p_, q_ = <LI>\nexcept ValueError as err:\n    LOG.append(str(err))", "try:\n    p_, *q_, r_ = [<int>][:<int>]\nexcept ValueError as err:\n    LOG.append(str(err))", "<+str>, <+str> = <D> if len(<@D>) == 2 else ('p', 'q')", "<+T>, <+T>, <+T> = torch.arange(3.0) if <bool> else [<T>] * 3"]),
    "break in an expression": (r"\.item\(\)|noisy\(|id\(0\)", ["<+T> = (id(0) and <T>) + (id(0) and <T>)", "<+T> = helper(<T>, k=(id(0) and <int>))", "<+LT> = [<T>, (id(0) and <T>), <T>]", "<+DT> = {'u': <T>, 'w': (id(0) and <T>)}", "<+str> = f'{<int>}{id(0) and <int>}{<str>}'", "<@LI>[id(0) and 0] = (id(0) and <int>)", "<~T> = <T> if (id(0) and <bool>) else <T>", "<@T>.add_(id(0) and <int>)", "<O>.value += (id(0) and <int>)", "<+bool> = <int> < (id(0) and <int>) < <int>", "<+T> = chain(<T>, *[id(0) and <T>])", "<+T> = spread(<T>, k=(id(0) and <int>))", "with Ctx(id(0) and <str>):\n    <block>", "for <.int> in (id(0) and <LI>):\n    <loop>", "def <a:+F>(<b:.T>, k=(id(0) and <int>)):\n    return <b> * k\n<+T> = <a>(<T>)", "assert (id(0) and True), <str>"]),
    "break in an inlined call": (r"noisy\(|torch\._dynamo\.graph_break\(\)\n    return", ["<+T> = breaking(<T>)", "<+T> = breaking(<T>) + breaking(<T>)", "for <.int> in range(2):\n    <~T> = breaking(<T>)", "with torch.no_grad():\n    <+T> = breaking(<T>)", "try:\n    <+T> = breaking(<T>)\nfinally:\n    <block>", "<+LT> = [breaking(t) for t in <LT>[:2]]", "<+T> = helper(breaking(<T>), k=<int>)", "with Ctx('b'):\n    <~T> = breaking(<T>)", "<+T> = <O>.scaled(breaking(<T>))"]),
    "explicit break": (r"graph_break", [BREAK, "if <bool>:\n    " + BREAK + "\nelse:\n    <block>", "for <.int> in range(3):\n    " + BREAK + "\n    <loop>", "<+T> = <T>\n" + BREAK + "\n<+T> = <T>"]),
    "import in the function": (r"", ["import math as m_\n<+float> = m_.sqrt(4)", "from collections import deque as queue_\n<+LI> = list(queue_(<LI>))", "import os.path\n<+str> = os.path.join('a', <str>)", "try:\n    import nothing_of_this_name\nexcept ImportError as err:\n    LOG.append(err.name)"]),
}

# names that only these templates use
DEFINITIONS = {
    "STATE": "STATE = {}\n",
    "live": """def live(n):
    total = n
    while True:
        got = yield total
        total += 1 if got is None else got
""",
    "LIVE": "LIVE = live(<int>)\nnext(LIVE)\n",
    "doubling": """def doubling(t):
    seen = []
    for i in range(3):
        seen.append(i)
        yield t
        t = t * 2 + <int>
    return seen
""",
    "mixing": """def mixing(t):
    while True:
        try:
            got = yield t
            t = t * 2 if got is None else t + got
        except MyError as error:
            LOG.append('mix')
            t = t - error.code
""",
    "KEPT": "KEPT = mixing(torch.ones(3))\nnext(KEPT)\n",
    "catcher": """def catcher(n):
    while True:
        try:
            got = yield n
            n += got or 1
        except MyError as error:
            n += error.code
        except GeneratorExit:
            raise
""",
    "stubborn": """def stubborn(n):
    try:
        yield n
    except GeneratorExit:
        yield n + 1
""",
    "forward_all": """def forward_all(n):
    try:
        got = yield from catcher(n)
    except KeyError as error:
        got = error.args
    return got
""",
    "flatten": """def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item
""",
    "risky": """def risky(t, n):
    if n > <int>:
        raise MyError(n)
    return <T|t=T>
""",
    "again": """def again(n):
    try:
        raise KeyError(n)
    except KeyError:
        try:
            picky(n)
        except MyError:
            raise
        raise ValueError(n)
""",
    "linked": """def linked(n):
    try:
        try:
            {}[n]
        except KeyError as error:
            raise MyError(n) from error
    except MyError:
        raise RuntimeError(n)
""",
    "grouped": """def grouped(n):
    found = [KeyError(n)]
    try:
        picky(n)
    except MyError as error:
        found.append(error)
    raise ExceptionGroup('all', found)
""",
    "Detailed": """class Detailed(MyError):
    def __init__(self, code, *, why=''):
        super().__init__(code)
        self.why = why
    def __str__(self):
        return f'{self.why}: {self.code}'
""",
    "Scaled": """class Scaled:
    now = 1
    def __init__(self, by):
        self.by = by
    def __enter__(self):
        self.before, Scaled.now = Scaled.now, Scaled.now * self.by
        return Scaled.now
    def __exit__(self, *about):
        Scaled.now = self.before
""",
    "swapped": """@contextlib.contextmanager
def swapped(n):
    global GN
    before, GN = GN, n
    try:
        yield before
    finally:
        GN = before
""",
    "forgiving": """@contextlib.contextmanager
def forgiving():
    try:
        yield
    except MyError as error:
        LOG.append(error.code)
""",
    "frozen": """@torch.no_grad()
def frozen(t):
    return <T|t=T> * 2
""",
    "Cell_": """class Cell_:
    def __init__(self, t):
        self._t = t
    scaled_ = property(lambda self: self._t * <int>, doc='scaled')
""",
    "Positive": """class Positive:
    def __set_name__(self, owner, name):
        self.name = name
    def __get__(self, of, owner=None):
        return self if of is None else of.__dict__.get('_' + self.name, <int>)
    def __set__(self, of, to):
        if to < 0:
            raise ValueError(f'{self.name}: {to}')
        of.__dict__['_' + self.name] = to
    def __delete__(self, of):
        LOG.append('deleted')
        of.__dict__.pop('_' + self.name, None)
""",
    "Constant": """class Constant:
    def __get__(self, of, owner=None):
        LOG.append(owner.__name__)
        return <int>
""",
    "Fields": """class Fields:
    size = Positive()
    note = Constant()
    def __init__(self, size):
        self.size = abs(size)
""",
    "Watched": """class Watched:
    def __init__(self, t):
        self.t = t
    def __setattr__(self, name, value):
        LOG.append('set ' + name)
        super().__setattr__(name, value)
    def __delattr__(self, name):
        LOG.append('del ' + name)
        super().__delattr__(name)
    def __getattribute__(self, name):
        if name == 'secret':
            return <int>
        return super().__getattribute__(name)
""",
    "Accumulate": """class Accumulate:
    def __init__(self, t):
        self.total, self.calls = t, 0
    def __call__(self, t):
        self.calls += 1
        self.total = self.total + t
        return self.total * self.calls
""",
    "Vec": """class Vec:
    __match_args__ = ('t', 'n')
    def __init__(self, t, n):
        self.t, self.n, self.extra = t, n, {}
    def other(self, o):
        return o.n if isinstance(o, Vec) else o
    def __add__(self, o):
        if isinstance(o, str):
            return NotImplemented
        return Vec(self.t, self.n + self.other(o))
    def __sub__(self, o):
        return Vec(self.t, self.n - self.other(o))
    def __rsub__(self, o):
        return Vec(self.t, o - self.n)
    def __isub__(self, o):
        self.n -= self.other(o)
        return self
    def __lshift__(self, o):
        return Vec(self.t, self.n * 2 ** o)
    def __matmul__(self, o):
        return self.t * o.t + self.n
    def __invert__(self):
        return Vec(self.t, -self.n)
    def __abs__(self):
        return Vec(self.t, abs(self.n))
    def __divmod__(self, o):
        return divmod(self.n, o)
    def __lt__(self, o):
        return self.n < self.other(o)
    def __le__(self, o):
        return self.n <= self.other(o)
    def __eq__(self, o):
        return isinstance(o, Vec) and self.n == o.n
    def __hash__(self):
        return hash(str(type(self.n)) if hasattr(self.n, 'send') else self.n)
    def __len__(self):
        return abs(self.n) % 5
    def __bool__(self):
        return self.n > <int>
    def __int__(self):
        return self.n
    def __float__(self):
        return self.n + 0.25
    def __floor__(self):
        return self.n - 1
    def __iter__(self):
        yield self.n
        yield self.n + 1
    def __reversed__(self):
        return iter([self.n + 1, self.n])
    def __getitem__(self, key):
        return self.extra[key]
    def __setitem__(self, key, to):
        self.extra[key] = to
    def __delitem__(self, key):
        del self.extra[key]
    def __contains__(self, key):
        return key in self.extra
    def __str__(self):
        return f'v{self.n}'
    def __format__(self, spec):
        return format(str(self), spec)
    def pair(self):
        return [self.n, len(self)]
""",
    "Tagged": """class Tagged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        LOG.append(getattr(func, '__name__', 'slot'))
        return super().__torch_function__(func, types, args, kwargs or {})
""",
    "TAGGED": "TAGGED = torch.ones(3).as_subclass(Tagged)\n",
    "Duck": """class Duck:
    def __init__(self, t):
        self.t = t
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        LOG.append(func.__name__)
        plain = [a.t if isinstance(a, Duck) else a for a in args]
        return cls(func(*plain, **(kwargs or {})))
    def __radd__(self, o):
        return Duck(o + self.t)
""",
    "Meta": """class Meta(type):
    made = 0
    def __new__(mcs, name, bases, space):
        space['tag'] = name.lower()
        return super().__new__(mcs, name, bases, space)
    def __call__(cls, *args, **kwargs):
        Meta.made += 1
        return super().__call__(*args, **kwargs)
    def __getitem__(cls, i):
        return i + <int>
    def __len__(cls):
        return len(cls.__name__)
    def __contains__(cls, n):
        return n > <int>
    def __iter__(cls):
        return iter([1, len(cls.__name__)])
    @property
    def label(cls):
        return 'the ' + cls.__name__
""",
    "Made": """class Made(metaclass=Meta):
    def __init__(self, t, n=1):
        self.t, self.n = t, n
""",
    "MadeChild": """class MadeChild(Made):
    def __init__(self, t, n):
        super().__init__(t * n, n + 1)
""",
    "LooksMeta": """class LooksMeta(type):
    def __instancecheck__(cls, v):
        return hasattr(v, 'scaled')
    def __subclasscheck__(cls, v):
        return 'scaled' in vars(v)
""",
    "Looks": "class Looks(metaclass=LooksMeta):\n    pass\n",
    "Single": """class Single:
    one = None
    hits = 0
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one
""",
    "Shape_": """class Shape_(abc.ABC):
    @abc.abstractmethod
    def area(self):
        ...
    def twice(self):
        return self.area() * 2
""",
    "Round": """class Round(Shape_):
    def __init__(self, n):
        self.n = n
    def area(self):
        return self.n * 3
""",
    "Traced": """class Traced(list):
    def append(self, item):
        LOG.append('append')
        super().append(item)
    def more(self, item):
        self.append(item)
        return super().__add__([len(self)])
""",
    "TracedDict": """class TracedDict(dict):
    def __setitem__(self, key, to):
        LOG.append('set ' + key)
        super().__setitem__(key, to)
    def __getitem__(self, key):
        return super().__getitem__(key) * 2
""",
    "Deep": """class Deep(Left):
    depth_ = <int>
    @classmethod
    def build(cls, t):
        return cls(t * 2)
    @staticmethod
    def level():
        return Deep.depth_
    def run(self, n):
        return super().go() * n + self.level()
""",
    "Fixed": """class Fixed(int):
    def __new__(cls, n):
        return super().__new__(cls, n + 1)
    def plus(self, k):
        return int(self) + k
""",
    "Text": """class Text(str):
    def shout(self):
        return self.upper() + '!'
""",
    "Sized_": """class Sized_:
    def __class_getitem__(cls, n):
        return n + <int>
""",
    "make_kept": """def make_kept():
    count, last = 0, torch.zeros(3)
    def kept(t):
        nonlocal count, last
        count += 1
        last = last + t
        return last * count
    return kept
""",
    "KEPT_FN": "KEPT_FN = make_kept()\n",
    "swap_globals": """def swap_globals():
    global GN, GT
    GN, GT = GN + 1, GT * 2
""",
    "remember": """def remember(n, seen=[]):
    seen.append(n)
    return seen
""",
    "spread": """def spread(first, *rest, k=<int>, **named):
    for t in rest:
        first = first + t
    return first * k + len(named)
""",
    "even": """def even(t, n):
    return t if n == 0 else odd(t * 2, n - 1)
def odd(t, n):
    return -t if n == 0 else even(t + 1, n - 1)
""",
    "ackermann": """def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))
""",
    "walk": """def walk(of):
    if isinstance(of, int):
        return [of]
    return [e for item in of for e in walk(item)]
""",
    "tree_map": """def tree_map(fn, of):
    if isinstance(of, dict):
        return {k: tree_map(fn, v) for k, v in of.items()}
    if isinstance(of, (list, tuple)):
        return type(of)(tree_map(fn, v) for v in of)
    return fn(of) if isinstance(of, torch.Tensor) else of
""",
    "Halving": """class Halving:
    def __init__(self, t):
        self.t = t
    def scaled_by(self, n, k):
        return self.t * n / k
    half = functools.partialmethod(scaled_by, k=2)
""",
    "PARTIAL": "PARTIAL = functools.partial(helper, k=<int>)\n",
    "cached": """@functools.lru_cache(maxsize=4)
def cached(n):
    return n * 2 + <int>
""",
    "cached_tensor": """@functools.lru_cache
def cached_tensor(n):
    LOG.append('made')
    return torch.full((3,), float(n))
""",
    "once": """@functools.cache
def once():
    LOG.append('once')
    return <int>
""",
    "Dispatcher": """class Dispatcher:
    @functools.singledispatchmethod
    def go(self, value):
        return 0
    @go.register
    def _(self, value: int):
        return value * 2
    @go.register
    def _(self, value: str):
        return len(value)
""",
    "Rank": """@functools.total_ordering
class Rank:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
""",
    "COUNT": "COUNT = itertools.count(<int>)\n",
    "QUEUE": "QUEUE = deque([torch.ones(3)], maxlen=3)\n",
    "GROUPS": "GROUPS = defaultdict(list)\n",
    "LRU": "LRU = OrderedDict(a=1)\n",
    "TALLY": "TALLY = Counter('uuw')\n",
    "PairPlus": """class PairPlus(Pair):
    __slots__ = ()
    def total(self):
        return self.a * self.b
""",
    "Config": """@dataclasses.dataclass(eq=True)
class Config:
    t: torch.Tensor = dataclasses.field(compare=False)
    width: int = <int>
    names: dict = dataclasses.field(default_factory=dict, repr=False)
    kind: typing.ClassVar[str] = 'plain'
    @property
    def area(self):
        return self.width ** 2 % 7
    def run(self):
        self.names['ran'] = self.width
        return self.t * self.width
""",
    "Level": """class Level(str, enum.Enum):
    LOW = 'low'
    HIGH = 'high'
""",
    "Entry": """class Entry(typing.NamedTuple):
    t: torch.Tensor
    n: int = <int>
    def scaled(self):
        return self.t * self.n
""",
    "Keeper": """class Keeper(typing.Generic[typing.TypeVar('X')]):
    def __init__(self, value):
        self.value = value
    def get(self):
        return self.value + <int>
""",
    "Options": """class Options(typing.TypedDict, total=False):
    u: int
""",
    "HasScaled": """@typing.runtime_checkable
class HasScaled(typing.Protocol):
    def scaled(self, t): ...
""",
    "DICE": "DICE = random.Random(3)\n",
    "NPS": "NPS = np.float64(<float>)\n",
    "NPA": "NPA = np.array([1.0, 2.0, 3.0], dtype=np.float32)\n",
    "measure": """def measure(t):
    return (t * <int>).sum().item()
""",
    "helper_int": """def helper_int(n):
    LOG.append(n)
    return n % 7 + <int>
""",
    "Deepish": """class Deepish:
    def __init__(self, t):
        self.t = t
    def __deepcopy__(self, memo):
        return Deepish(self.t * <int>)
""",
    "outside": """def outside(fn, t):
    id(0)
    return contextvars.copy_context().run(fn, t)
""",
    "grad_log": """def grad_log(g):
    LOG.append('grad')
    return g * <int>
""",
    "Net": """class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([1.0, 0.5, -1.0]))
        self.register_buffer('count', torch.zeros(()))
        self.steps = 0
    def forward(self, t, k=1):
        if self.training:
            self.count += 1
            self.steps += 1
        return t * self.scale * k + <int>
""",
    "NET": "NET = Net()\n",
    "BLOCKS": "BLOCKS = torch.nn.ModuleList([Net(), Net()])\nBLOCKS = torch.nn.Sequential(*BLOCKS, torch.nn.ReLU(), Net())\n",
    "TABLES": "TABLES = torch.nn.ModuleDict({'a': Net()})\nTABLES.extra = {'b': Net()}\n",
    "HOOKED": "HOOKED = Net()\nHOOKED.register_forward_hook(lambda m, args, out: out + <int>)\nHOOKED.register_forward_pre_hook(lambda m, args: (args[0] * 2,))\n",
    "log_hook": """def log_hook(module, args, out):
    LOG.append(len(args))
""",
    "NORM": "NORM = torch.nn.BatchNorm1d(3)\n",
    "OPT": "OPT = torch.optim.SGD(NET.parameters(), lr=0.1, momentum=0.5)\n",
    "ADAM": "ADAM = torch.optim.Adam(NET.parameters(), lr=0.1)\n",
    "KEPT_BASE": "KEPT_BASE = torch.ones(3)\n",
    "KEPT_VIEW": "KEPT_VIEW = KEPT_BASE[:2]\n",
    "breaking": """def breaking(t):
    t = <T|t=T>
    torch._dynamo.graph_break()
    return t + <int>
""",
}

CHANGES = [
    "STATE.clear()", "next(LIVE)", "KEPT.close()", "NET.eval()", "NET.train()", "NET.scale.data = NET.scale.data * 2", "NET.scale.requires_grad_(False)", "NET.count = torch.ones(())", "NET.register_forward_hook(lambda m, args, out: out + 1)", "NET.forward = lambda t, k=1: t * 5", "Net.forward = lambda self, t, k=1: t - self.scale",
    "BLOCKS[0] = torch.nn.Identity()", "BLOCKS.append(Net())", "NET.steps = 5", "NET.scale.grad = None", "a.y.grad = torch.ones(3)", "a.y.grad = None", "OPT.param_groups[0]['lr'] = 0.5", "HOOKED._forward_hooks.clear()", "QUEUE.append(torch.zeros(3))", "GROUPS['u'].append(4)", "TALLY.update('zz')", "PARTIAL = functools.partial(helper, k=9)", "cached.cache_clear()", "NPS = np.float64(2.5)", "NPS = np.float32(1.5)",
    "NPA[0] = 5", "NPA = np.ones(3)", "DICE.seed(1)", "random.seed(5)", "Meta.made = 0", "Made.tag = 'other'", "Fields.note = 4", "Positive.__get__ = lambda self, of, owner=None: 8", "Watched.__setattr__ = object.__setattr__", "Vec.__add__ = lambda self, o: self", "Vec.__bool__ = lambda self: True", "Vec.__hash__ = None", "Duck.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: cls(torch.zeros(3)))",
    "TAGGED = torch.zeros(3)", "Scaled.now = 3", "Deep.depth_ = 6", "Left.go = lambda self: self.t * 0", "KEPT_FN(torch.ones(3))", "KEPT_FN.__closure__[0].cell_contents = 4", "remember.__defaults__ = ([],)", "spread.__kwdefaults__ = {'k': 3}", "KEPT_BASE.zero_()", "KEPT_VIEW = torch.ones(2)", "risky.__code__ = (lambda t, n: t * n).__code__", "Looks = Box", "Level.LOW.extra_ = 1", "Accumulate.__call__ = lambda self, t: t", "Entry.scaled = lambda self: self.n", "torch.set_autocast_enabled('cpu', False)",
    "breaking = lambda t: t * 3", "live = iter", "Single.one = None",
]

# Where the statements of a program stand. `args` are the parameters of `f`.
PLAIN = """def f(args):
    body
"""
HOSTS = [
    """class HostBase:
    def done(self, n):
        return n + 1
class Host(HostBase):
    calls = 0
    def go(self, args):
        self.calls = self.calls or 1  # a count would compile each call anew
        try:
            body
        finally:
            LOG.append(super().done(self.calls))
HOST = Host()
def f(args):
    return HOST.go(args)
""",
    """class Host(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.calls = 0
    def forward(self, args):
        self.calls = max(self.calls, self.training)
        x = x * self.weight
        body
HOST = Host()
def f(args):
    return HOST(args)
""",
    """def make_host():
    calls = 0
    def host(args):
        nonlocal calls
        calls = calls or 1
        body
    return host
HOST = make_host()
def f(args):
    LOG.append(HOST.__closure__[0].cell_contents)
    return HOST(args)
""",
    """def host(args):
    got = yield 1
    LOG.append(got)
    body
def f(args):
    it = host(args)
    next(it)
    try:
        it.send(2)
    except StopIteration as end:
        return end.value
""",
    """class Guard:
    def __enter__(self):
        LOG.append('enter')
    def __exit__(self, kind, error, trace):
        LOG.append(kind and kind.__name__)
def f(args):
    with Guard(), torch.enable_grad():
        body
""",
    """def host(args):
    body
def f(args):
    x = x + 1
    return contextvars.copy_context().run(host, args)
""",
    """class Host:
    @property
    def go(self):
        self.calls = getattr(self, 'calls', 0) + 1
        args = self.given
        body
HOST = Host()
def f(args):
    HOST.given = args
    return HOST.go
""",
    """def counted_calls(fn):
    @functools.wraps(fn)
    def wrapper(*args_, **named):
        wrapper.calls += 1
        return fn(*args_, **named)
    wrapper.calls = 0
    return wrapper
@counted_calls
@torch.no_grad()
def host(args):
    body
def f(args):
    return host(args) if flag else host(*[args])
""",
]

STATEMENTS = [template for _, own in CONSTRUCTS.values() for template in own]


@functools.cache
def labels(template: str) -> frozenset[str]:
    """The constructs that a template is labelled with."""
    text = re.sub(r"<[a-z]:", "<", template)
    return frozenset(
        name
        for name, (pattern, own) in CONSTRUCTS.items()
        if template in own or (pattern and re.search(pattern, text, re.MULTILINE))
    )
