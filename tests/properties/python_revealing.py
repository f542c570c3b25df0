"""Statements that show alone what a compiler of Python most often gets wrong: what it takes for
constant, takes for one object or for two, makes once, reads too far, puts back too late.

Each varies one kind of mistake. `<?one || other?>` is either, `<a:?one || other?>` labels it; a
line that begins with `#` only labels. What stands behind `...` the caller does between two calls,
or the function itself at its end: what was read must be guarded, so nothing else changes then.
A sixth of the statements of any program is of these, of some programs most.
"""

# ruff: noqa: E501
# fmt: off

REVEALING = [
    # ---------------------------------------------------------------- orders
    """# <a:?RANKS || HOLDER.ranks || table || ORDER?>
<?LOG.append([*<a>]) || LOG.append([*<a>.items()][0]) || LOG.append(str(<a>)) || LOG.append(next(iter(<a>))) || for key_ in <a>:
    LOG.append(key_) || LOG.append(max(<a>, key=lambda k: 1)) || LOG.append([*zip(<a>, 'ab')]) || LOG.append(next(reversed(<a>))) || LOG.append({**<a>, 'q': 1}) || first_, *_ = <a>.values()
LOG.append(first_) || LOG.append(dict(<a>)) || LOG.append([*named(**<a>)]) || LOG.append([v for v in <a>.values()])?>
<+T> = <T> + 1
...
<a>[next(iter(<a>))] = <a>.pop(next(iter(<a>)))""",
    """# <a:?RANKS || HOLDER.ranks || table || STORE?>
<?<a>['u'] = <a>.pop('u') || <a>['k'] = <a>.pop('w') || <a>.update(u=<a>.pop('u')) || del <a>['w']
<a>['w'] = <int> || kept_ = <a>.popitem()
<a>['q'] = <int> || <a>.clear()
<a>.update({'w': <int>, 'u': <T>}) || <a>.setdefault('q', <a>.pop('w')) || for key_ in sorted(<a>):
    <a>[key_] = <a>.pop(key_)?>
<+T> = <T> + len(<a>)
...
<a>.<?clear() || setdefault('t', 1) || pop('u', None)?>
<a>.update(u=1, w=<int>)""",
    # ---------------------------------------------------------------- one object or two
    """# <a:?LISTS.p || LISTS.pair[0] || LISTS.by['p']?>
# <b:?LISTS.q || LISTS.pair[1] || LISTS.by['q']?>
<?<a>.<?append(<int>) || insert(0, <int>) || pop() || clear() || extend([<int>, 7]) || reverse()?> || <a>[0] = <int> + 5 || <a>[1:] = [<int>] || del <a>[0] || <~LI> = <a>
<a> += [<int>]?>
<+T> = <T> + <?len(<b>) || sum(<b>) || <b>[-1] if <b> else <T>?>
LOG.append([*<b>])
...
LISTS.turn()""",
    """# <a:?DICTS.p || DICTS.pair[0] || DICTS.by['p']?>
# <b:?DICTS.q || DICTS.pair[1] || DICTS.by['q']?>
<?<a>['u'] = <int> + 5 || <a>['k'] = <T> || <a>.pop('u') || <a>.clear() || <a>.update(z=<int>) || del <a>['w'] || <a>.setdefault('k', <int>)?>
<+T> = <T> + <?len(<b>) || <b>.get('u', <T>) || ('k' in <b>) || sum(1 for _ in <b>)?>
LOG.append([*<b>.items()])
...
DICTS.turn()""",
    """# <a:?THINGS.p || THINGS.pair[0] || THINGS.by['p']?>
# <b:?THINGS.q || THINGS.pair[1] || THINGS.by['q']?>
<?<a>.v += 5 || <a>.v = <T> || <a>.w = <int> || <a>.put(<int> + 7) || setattr(<a>, 'v', <int> + 7) || del <a>.t || <a>.__dict__['v'] = <int> + 9 || <a>.seen.append(<int>) || <a>.t = <T> + 4 || <a>.t.add_(1)?>
<+T> = <T> + <?<b>.v || <b>.get() || getattr(<b>, 'v', 0) || len(vars(<b>)) || len(<b>.seen) || getattr(<b>, 't', 7) || hasattr(<b>, 't')?>
LOG.append(sorted(vars(<b>)))
...
THINGS.turn()""",
    """# <a:?TENSORS.p || TENSORS.pair[0] || TENSORS.by['p']?>
# <b:?TENSORS.q || TENSORS.pair[1] || TENSORS.by['q']?>
<?<a>.add_(<int> + 1) || <a>[0] = <float> || <a>.mul_(<T>.sum()) || <a>.data.add_(1) || <a>.detach().zero_() || <a>[:2].fill_(<int>)?>
<+T> = <?<b> * 2 || <b> + <T> || <b>.sum() || torch.stack([<a>, <b>])[0]?>
...
TENSORS.turn()""",
    """# <s:?LISTS || DICTS || THINGS || TENSORS || MODULES?>
# <a:?<s>.p || <s>.pair[0] || <s>.by['p']?>
# <b:?<s>.q || <s>.pair[1] || <s>.by['q']?>
<+T> = <T> + <?(<a> is <b>) || (<a> is not <b>) || any(e is <a> for e in [<int>, <b>]) || (1 if <a> is <b> else 5) || same(<a>, <b>) || operator.is_(<a>, <b>) || len({id(<a>), id(<b>)})?>
...
<s>.turn()""",
    """# <a:?box.child || box.t || box.items || tens[0] || tabt['z'] || TWINS[0] || LEAVES[0] || HOLDER.leaf || STATE.setdefault('o', LEAF)?>
# <b:?box || GT || GL || items || x || TWINS[1] || LEAF || LEAVES[1]?>
if <a> is <?<b> || not <b>?>:
    <?<block> || LOG.append('one')?>
    <+T> = <T> * 2
else:
    <+T> = <T> * 3
    LOG.append('other')
...
<?<a> = <b> if <a> is not <b> else copy.copy(<b>) || STATE['o'] = copy.copy(LEAF) || <a> = copy.copy(<a>) || <a> = <b>?>""",
    """<a:+LI>, <b:+LI> = LISTS.<?p, LISTS.q || pair || by.values()?>
<?<a>.append(<int>) || <a> += [<int>]?>
<+T> = <T> + mixed(<?<a>, <b> || <b>, <a> || <a>, <a>?>)
...
LISTS.turn()""",
    # ---------------------------------------------------------------- operators that write in place
    """<a:+LI> = <?[1, <int>] || LISTS.p || GL || items || {1, <int>} || {'u': <int>} || deque([1, 2]) || Stack([1, 2]) || <T>.clone() || bytearray(b'ab') || Counter('ab') || (1, 2)?>
<b:+LI> = <a>
try:
    <a> <?+= || *= || |= || &= || -= || ^=?> <?[<int>] || 2 || {<int>, 9} || {'k': <int>} || (<int>, 7) || b'c' || (e for e in <LI>) || {'k': 2}.items() || Counter('b')?>
except (TypeError, ValueError) as err:
    LOG.append(type(err).__name__)
LOG.append((<a> is <b>, str(<b>)))
STATE['left'] = <b>""",
    """<a:+O> = <?THINGS.p || HOLDER || STATE.setdefault('space', SimpleNamespace(v=1, seen=[]))?>
<b:+LI> = <a>.seen
<a>.seen += [<int>]<? ||
<a>.seen *= 2 ||
<a>.seen.extend(<a>.seen)?>
LOG.append((<b> is <a>.seen, [*<b>]))
<+T> = <T> * len(<b>)""",
    # ---------------------------------------------------------------- what is read, then changed by the caller
    """# <m:?NOTED || NOTED.inner || NOTES[0]?>
<+T> = <m>(<T>)<? ||
<+T> = <m>(<T>)?>
...
<?<m>.notes[0] += 1 || <m>.notes[<int> % 2] = 5 || <m>.notes.append(3) || <m>.parts[0] = torch.nn.ReLU() || <m>.parts.reverse() || <m>.table['k'] = 4 || <m>.table['v'] = 4 || <m>.pairs[0][1] = 9 || <m>.box.v += 1 || <m>.kind = 'z' || <m>.tensors[0] = torch.zeros(3) || <m>.act = torch.tanh || <m>.weight = torch.nn.Parameter(torch.zeros(3)) || <m>.seq.insert(0, torch.nn.Tanh()) || <m>.seq[0] = torch.nn.ReLU() || <m>.train(not <m>.training) || <m>.mask = None || <m>.scale_ = -<m>.scale_ || <m>.seen.add('k')?>""",
    """# <a:?BOUND[0] || HELD_METHODS['g'] || HOLDER.method || NOTED.method || METHOD?>
<+T> = <a>(<T>)<? ||  ||  ||  ||  ||
LOG.append(<a>.__self__.by) ||
<+F> = <a>
LOG.append(<a>.__name__)?>
...
<?<a>.__self__.by += 1 || <a>.__self__.by = <int> + 11 || type(<a>.__self__).apply = lambda self, t: t - self.by || <a>.__self__.__class__ = Thrice || <a> = BOUND[1] || BOUND.reverse() || <a> = Times(<int> + 7).apply || <a> = Times(8).apply || <a> = Times(9).apply || <a> = Thrice(2).apply || <a> = LEAF.up || <a>.__self__.__dict__['by'] = 12?>""",
    """# <a:?LEAF || LEAVES[0] || HOLDER.leaf || LEAVES[1]?>
# <n:?v || w || own || extra_ || v?>
<+T> = <T> + <?<a>.<n> || getattr(<a>, '<n>', 2) || (<a>.<n> if hasattr(<a>, '<n>') else 3) || type(<a>).<n> || vars(<a>).get('<n>', 4) || getattr(type(<a>), '<n>', 5) || hasattr(<a>, '<n>')?>
...
<?<a>.<n> = <int> + 7 || Leaf.<n> = <int> + 8 || LeafBase.<n> = 9 || <a>.__dict__['<n>'] = 11 || vars(<a>).pop('<n>', None) || Leaf.<n> = property(lambda self: 21) || <a>.__class__ = LeafBase || LeafBase.__getattr__ = lambda self, name: 30 || LeafBase.<n> = Doubled() || type(<a>).<n> = ZERO[0]?>""",
    """# <a:?LEAF || LEAVES[0] || HOLDER.leaf || LEAVES[1]?>
# <n:?up || stat || cls_ || __call__ || up?>
<+T> = <?<a>.<n>(<T>) || getattr(<a>, '<n>')(<T>) || (<a>.<n>, <int>)[0](<T>) || plainly_(<a>.<n>, <T>) || <a>(<T>) || <a>.up(<T>)?>
...
<?<a>.<n> = lambda t: t * 11 || Leaf.<n> = lambda *a: a[-1] * 24 || LeafBase.<n> = lambda *a: a[-1] * 25 || Leaf.<n> = staticmethod(lambda t: t * 23) || Leaf.<n> = classmethod(lambda cls, t: t * 26) || <a>.__class__ = LeafBase || <a>.<n> = LEAVES[0].up || LeafBase.up.__code__ = HELPER2.__code__ || LeafBase.v = 14?>""",
    """# <a:?LEAF || LEAVES[0] || HOLDER.leaf || LEAVES[1]?>
# <n:?len || bool || int || abs || float || len?>
<+T> = <T> + <?int(<n>(<a>)) || sum(map(<n>, [<a>, <a>])) || (1 if <a> else 2) || <n>(<a>)?>
...
<?Leaf.__<n>__ = lambda self: 1 || LeafBase.__<n>__ = lambda self: 6 - 6 || del LeafBase.__<n>__ || <a>.__<n>__ = lambda: 9 || <a>.__class__ = LeafBase || LeafBase.v = 17?>""",
    """# <a:?SWITCH || HOLDER.switch || STATE.setdefault('switch', [0.0, 1, True]) || LISTS.pair[0] || NOTED.notes?>
<b:+LI> = <a>
<+T> = <T> * math.copysign(2.0, <b>[0]) + <?len(str(<b>)) || (<b>[1] == 1) || isinstance(<b>[1], bool) || len(<b>) || <b>[1] || hash(<b>[1])?>
...
<a><?[0] = -<a>[0] || [0] = -0.0 || [1] = True || [1] = 1.0 || .append(3) || [1] = Num.ONE || [0] = 0?>""",
    """# <f:?HELD || HOLDER.fn || kwonly || helper || posonly || KEPT_FN || LEAF.up.__func__ || NOTED.method.__func__?>
<+T> = <?<f>(<T>) || <f>(*[<T>]) || plainly_(<f>, <T>) || functools.partial(<f>)(<T>) || (lambda g: g(<T>))(<f>)?>
...
<?<f>.__closure__[0].cell_contents = <int> + 7 || <f>.__closure__[-1].cell_contents = GT || <f>.__kwdefaults__ = {'scale': 8, 'k': 7} || <f>.__code__ = HELPER2.__code__ || <f>.__code__ = HELPER2.__code__ || <f>.__defaults__ = (6,) || <f>.__defaults__ = (torch.zeros(3),) || HOLDER.fn = HELPER2?>""",
    # ---------------------------------------------------------------- parameters and gradients
    """# <p:?NET.scale || y || NOTED.weight || box.w_ || PARAM?>
<+T> = <?<T> if <p>.grad is None else <T> + <p>.grad || (<p>.grad + 1 if <p>.grad is not None else <T> * 5) || <T> * (1 if getattr(<p>, 'grad', None) is None else 3) || sum((q.grad for q in [<p>] if q.grad is not None), <T>)?>
...
<?<p>.grad = torch.ones(3) || <p>.grad = None || <p>.grad = None if <p>.grad is not None else torch.ones(3) || <p>.grad = torch.full((3,), 3.0) || (<p> * 2).sum().backward() || <p>.grad.zero_() || <p>.grad = <p>.detach().clone()?>""",
    """# <p:?NET.scale || y || NOTED.weight || PARAM?>
<?(<p> * <T>).sum().backward() || (<p> * <p>).sum().backward() || <p>.grad = <T>.detach().expand(3).clone() || <p>.grad = None || if <p>.grad is not None:
    <p>.grad.mul_(2) || <p>.grad = None
(<p> * 3).sum().backward() || torch.autograd.backward([(<p> * 2).sum()])?>
<+T> = <T> if <p>.grad is None else <p>.grad * 2
...
<?<p>.grad = None || <p>.grad = torch.ones(3) || pass?>""",
    # ---------------------------------------------------------------- one dictionary, reached in two ways
    """# <a:?BORGS[0] || BORGS[1] || BORGS[2] || SELFISH?> <b:?BORGS[0] || BORGS[1] || BORGS[2] || SELFISH?>
LOG.append(<?VARS['k'] || <b>.k || VARS.get('k') || SELFISH['k'] || PROXY['k'] || len(VARS) || len(SELFISH) || hasattr(<b>, 'j') || 'j' in VARS || 'j' in SELFISH || [*VARS]?>)
<?<a>.k = <int> + 5 || VARS['k'] = <int> + 6 || SELFISH['k'] = <int> + 7 || <a>.k += 1 || <a>.j = <int> || VARS['j'] = 5 || del <a>.k
<a>.k = 2 || vars(<a>).update(k=<int>, j=1) || BORGS[0].__dict__ = VARS = {'k': <int>}?>
LOG.append(<?VARS['k'] || <b>.k || VARS.get('k') || SELFISH['k'] || PROXY['k'] || len(VARS) || len(SELFISH) || [*PROXY.items()] || getattr(<b>, 'j', 3) || VARS.get('j') || [*VARS]?>)
<+T> = <T> + <b>.k
...
<?BORGS.reverse() || BORGS[0].__dict__ = BORGS[1].__dict__ || BORGS[2].__dict__ = VARS || BORGS[1].__dict__ = {'k': 3} || VARS['k'] = <int> || VARS = vars(BORGS[2]) || VARS = vars(SELFISH) || SELFISH = Selfish(k=<int>) || pass?>""",
    # ---------------------------------------------------------------- iterators that are left half read
    """<a:+It> = <?iter([0, <int>, 1, 2]) || (e for e in [1, 0, <int>, 2]) || telling([0, <int>, 1, 2]) || map(heard, [1, <int>, 0, 3]) || iter(range(5)) || zip([0, 1, 2], [1, 0, 2]) || enumerate([1, 0, 2]) || reversed([0, 1, 2, 1]) || itertools.count() || filter(heard, [1, 0, 2, 3]) || iter({'u': 1, 'w': 0, 'z': 2}) || Countdown(4) || itertools.chain([0, 1], telling([0, 2]))?>
LOG.append(<?any(<a>) || all(<a>) || next(<a>) || <int> in <a> || [*zip(<a>, [1])] || [*zip([1], <a>)] || [*itertools.islice(<a>, <int> % 3)] || next((e for e in <a> if e), 0) || any(e for e in <a>) || all(not e for e in <a>) || [*map(heard, <a>, [1, 2])] || dict(zip('ab', <a>)) || [e for e, _ in zip(<a>, 'ab')] || next(filter(None, <a>), 5) || [*itertools.takewhile(lambda e: not e, itertools.islice(<a>, 6))] || operator.contains(<a>, 1) || next(enumerate(<a>))?>)
<+T> = <T> * 2
<? || """ + "torch._dynamo.graph_break()" + """ || print(<int>) || <+float> = <T>.sum().item()?>
<?LOG.append([*itertools.islice(<a>, 5)]) || LOG.append(next(<a>, 'end')) || for <.int> in itertools.islice(<a>, 3):
    <loop> || <+It> = <a>?>
<+T> = <T> * 2""",
    """<a:+It> = telling([1, <int>, 3, 4])
try:
    <?one_, two_ = <a> || one_, two_, *_ = <a> || LOG.append(sum(<a>)) || LOG.append([*<a>, 1 // 0]) || LOG.append(int(next(<a>)) // (<int> - <int>)) || LOG.append(max(<a>, key=lambda e: 1 // (e - 3))) || LOG.append([5 // (e - 3) for e in <a>]) || LOG.append(''.join(<a>)) || LOG.append([*map(lambda e: 6 // (3 - e), <a>)]) || GD.update(<a>) || LISTS.p.extend(5 // (e - 3) for e in <a>) || LOG.append(sorted(<a>, key=lambda e: 1 // (e - 3))) || LOG.append({heard(e): 1 // (e - 4) for e in <a>}) || LOG.append(functools.reduce(lambda p, q: p // (q - 3), <a>)) || LOG.append(same(*<a>)) || LOG.append(sum(<a>, <T>))?>
except Exception as err:
    LOG.append(type(err).__name__)
LOG.append([*<a>])
<+T> = <T> * 2""",
    """<a:+It> = <?iter([1, <int>, 3]) || (e * 2 for e in [1, <int>, 3]) || iter(GL) || iter(RANKS) || telling([1, 2, 3]) || iter('abc') || zip([1, 2, 3], [4, 5, 6]) || map(abs, [1, -2, 3]) || iter(<@LI>) || iter(tens) || iter(<T>.view(-1)) || enumerate([1, 2, 3]) || reversed([1, 2, 3])?>
<?LOG.append(next(<a>, 0)) || for <b:.int> in <a>:
    break || LOG.append(next(<a>, 0))
LOG.append(next(<a>, 0)) || pass?>
<+T> = <T> * 2
<?""" + "torch._dynamo.graph_break()" + """ || <+float> = <T>.sum().item() || <+T> = breaking(<T>)?>
LOG.append(<?[*<a>] || next(<a>, 0) || sum(1 for _ in <a>) || [e for e in <a>]?>)
<? || <+It> = <a> || STATE['it'] = <a>?>
<+T> = <T> * 3""",
    # ---------------------------------------------------------------- what grows or shrinks while it is iterated over
    """<a:+LI> = <?[1, 2] || [1, 2] || [1, 2] || GL || items || LISTS.p || Stack([1, 2]) || deque([1, 2]) || {'u': 1, 'w': 2} || {1, 2}?>
try:
    for <b:.int> in <?<a> || <a> || <a> || iter(<a>) || enumerate(<a>) || reversed(<a>) || zip(<a>, <a>) || map(heard, <a>) || (e for e in <a>) || itertools.chain(<a>, [3]) || filter(None, <a>) || <a>[:]?>:
        LOG.append(<b>)
        if len(<a>) < 5:
            <?<a>.append(<int> + 3) || <a>.insert(0, <int> + 3) || <a>.extend([4]) || <a> += [5] || <a>[:] = [*<a>, 6] || <a>.clear() || <a>.pop() || <a>.add(7) || <a>['k'] = 1 || <a>.remove(<b>) || del <a>[0] || <a>.append(<b>)?>
except RuntimeError as err:
    LOG.append(str(err))
<+T> = <T> * len(<a>)""",
    """<a:+LI> = [1, 2, <int>]
<b:+It> = <?iter(<a>) || reversed(<a>) || enumerate(<a>) || (e for e in <a>) || map(abs, <a>) || zip(<a>, <a>)?>
LOG.append(<?next(<b>) || [*<b>] || any(<b>) || 3?>)
<a>.<?append(7) || extend([8, 9]) || insert(0, 4) || pop() || clear() || reverse()?>
<? || """ + "torch._dynamo.graph_break()" + """?>
LOG.append(<?[*<b>] || next(<b>, 'end') || sum(1 for _ in <b>) || [*zip(<b>, <a>)]?>)
<+T> = <T> + len(<a>)""",
    """<a:+LI> = [1, 2]
LOG.append(<?[<a>.append(e + 2) or e for e in <a> if len(<a>) < 5] || any(<a>.append(0) for e in <a> if len(<a>) < 5) || sum(<a>.pop() for e in <a>) || [*map(lambda e: <a>.append(1) if len(<a>) < 5 else e, <a>)] || {e: <a>.append(e + 9) for e in <a> if e < 20} || max(<a>, key=lambda e: <a>.append(e + 1) or e if len(<a>) < 4 else e) || [*filter(lambda e: len(<a>) < 5 and not <a>.append(8), <a>)] || sorted(<a>.append(5) or e for e in <a> if len(<a>) < 5) || tuple(<a>.insert(0, e) for e in <a> if len(<a>) < 4)?>)
LOG.append([*<a>])
<+T> = <T> + sum(<a>)""",
    # ---------------------------------------------------------------- the ends of generators
    """def <a:+FI>():
    <?yield <T> * <int> || LOG.append('on') || yield from (1, 2) || yield 1
    yield 2?>
    <?yield next(iter(())) || raise StopIteration || raise StopIteration(<int>) || yield ended() || yield [next(e) for e in [iter(())]] || next(iter(<LI>[:0]))
    yield 3 || yield from Endless() || yield (lambda: next(iter([])))() || yield max(map(next, [iter([])]))?>
    yield 4
try:
    <?<+LT> = list(<a>()) || for item_ in <a>():
        LOG.append(str(item_)) || LOG.append(len([*<a>()])) || it_ = <a>()
    LOG.append(str(next(it_)))
    LOG.append(str(next(it_)))
    LOG.append(str(next(it_))) || LOG.append(len(tuple(<a>()))) || LOG.append(all(e is not None for e in <a>())) || one_, *_ = <a>()?>
except <?RuntimeError || Exception || (RuntimeError, StopIteration)?> as err:
    LOG.append((type(err).__name__, str(err), repr(err.__cause__)))
<+T> = <T> + 1""",
    """try:
    LOG.append(<?[next(e) for e in [iter([1]), iter([])]] || list(next(e) for e in [iter([1]), iter([])]) || list(map(next, [iter([1]), iter([])])) || [*map(lambda e: next(iter([])), [1])] || sum(next(iter([])) for e in [1]) || [*zip([1, 2], (next(iter(e)) for e in [[1], []]))] || any(next(iter([])) for e in [1]) || [*Ending(2)] || [e for e in Ending(<int>)] || tuple(ended() for _ in range(2)) || dict((ended(), 1) for _ in [1]) || next((ended() for _ in [1]), 'none') || [*filter(lambda e: ended(), [1])]?>)
except (RuntimeError, StopIteration) as err:
    LOG.append((type(err).__name__, str(err), repr(err.__cause__)))
<+T> = <T> + 1""",
    """def <a:+FI>():
    got = yield <int>
    <?return (got, <int>) || return <T> || return None || if got:
        return 5
    yield 6 || try:
        yield 2
    finally:
        return 7?>
def <b:+FI>():
    back = yield from <a>()
    LOG.append(str(back))
    return back
<c:+It> = <?<a>() || <b>()?>
LOG.append(next(<c>))
<? || """ + "torch._dynamo.graph_break()" + """?>
try:
    LOG.append(<c>.send(<int>))
    LOG.append(next(<c>))
except StopIteration as err:
    LOG.append((str(err.value), len(err.args)))
<+T> = <T> + 1""",
    # ---------------------------------------------------------------- made anew at every call
    """<a:+O> = <?[1, <int>] || {'u': <int>} || {1, <int>} || [] || {} || torch.tensor([1.0, 2.0]) || torch.tensor([<float>, 1.0, 2.0]) || torch.tensor(1.5) || torch.zeros(3) || torch.full((3,), 2.0) || torch.arange(3.0) || (lambda t: t) || bytearray(b'ab') || deque([1]) || [[]] || ([], 1) || SimpleNamespace(v=1) || Leaf() || set() || torch.tensor([[1, 2], [3, 4]]) || torch.tensor([True, False]) || torch.ones(2) || [1, 2, 3] || dict(u=1) || torch.tensor([1, 2, 3])?>
LOG.append((len(FOUND), any(e is <a> for e in FOUND), str(FOUND[-1:])))
FOUND.append(<a>)
<+T> = <T> + 1
...
<?touch(FOUND[-1]) || touch(FOUND[0]) || pass?>""",
    """<a:+T> = torch.tensor(<?[1.0, 2.0, 3.0] || [0.0, <float>, 1.0] || 2.0 || [1, 2, 3] || [[1.0, 2.0, 3.0]] || [True, False, True] || (1.0, 2.0, 0.0)?><? || , dtype=torch.float32 || , requires_grad=False?>)
<?<a>.add_(1) || <a>[...] = 7 || <a> += 1 || <a>.zero_() || <a>.data.fill_(5) || <a>.view(-1)[0] = 9 || torch.add(<a>, <a>, out=<a>) || pass?>
<+T> = <a> * <T>
LOG.append(<a>.tolist())
<? || FOUND.append(<a>)?>""",
    """<a:+LI> = <?[1.0, 2.0, 3.0] || [*GL, 1.0][:1] * 3 || <LI>[:1] * 3 or [1.0] || LISTS.p?>
<b:+T> = <?torch.tensor(<a>) || torch.as_tensor(<a>) || torch.tensor([<a>, <a>])[0] || torch.tensor([*<a>]) || torch.tensor(tuple(<a>)) || torch.zeros(len(<a>)) || torch.full((len(<a>),), <a>[0])?>
<?<a>[0] = 9 || <a>.append(4) || <a>.reverse() || <a>.clear() || <a> = <a> + [1]?>
<b> = <b> * 2
<+T> = <?torch.tensor(<a> or [1]).sum() || <b>.sum()?> + <T>
...
<?LISTS.turn() || GL[0] += 1 || GL.append(3) || a.items.insert(0, 8)?>""",
    """def <a:+F>(t, <?k=1 || acc=[] || *, k=1 || k=<int>?>):
    return t + 1
LOG.append((getattr(<a>, 'mark', None), any(e is <a> for e in FOUND), <a>.__dict__ == {}))
<?<a>.mark = <int> || FOUND.append(<a>) || <a>.__defaults__ = (9,) || FOUND.append(<a>)
<a>.mark = <T>?>
<+T> = <a>(<T>)
...
<?FOUND[-1].mark = 3 || FOUND.append(<?FOUND[-1] || 3?>) || pass?>""",
    # ---------------------------------------------------------------- closures that share cells
    """def <a:+FI>(n):
    <?seen = [] || seen = LISTS.p?>
    def put(v):
        nonlocal n
        n = v
        return v
    def get():
        return n
    return <?put, get || put, lambda: n || put, lambda k=0: (n, k)?>
put_, get_ = <a>(<int>)
<? || put_(<int> + 9) || """ + "torch._dynamo.graph_break()" + """?>
STATE['put'], STATE['get'] = put_, get_
<? || FOUND.append((put_, get_)) || HOLDER.pair = put_, get_?>
<+T> = <T> + len(str(get_()))
<?put_(<int> + 8)
LOG.append(get_()) || """ + "torch._dynamo.graph_break()" + """
put_(<int> + 8)
LOG.append(get_()) || return <T>, put_, get_ || put_(<int> + 8)
""" + "torch._dynamo.graph_break()" + """
LOG.append(get_())?>
...
<?STATE['put'](77) || pass?>
LOG.append(STATE['get']())""",
    """<a:+int> = <int>
<?def up_():
    nonlocal <a>
    <a> += 1
    return <a> || up_ = lambda: <a> * 2?>
<+FI> = lambda i: <a> + i
<? || """ + "torch._dynamo.graph_break()" + """?>
<?<a> += 10 || up_() || pass?>
LOG.append((up_(), <a>))
STATE['up'], STATE['down'] = up_, lambda: <a>
<+T> = <T> + <a>
...
LOG.append((STATE['up'](), STATE['down']()))""",
    # ---------------------------------------------------------------- a graph that raises: ambient state, random numbers, writes before it
    """<? || drawn_ = torch.rand(3) || drawn_ = torch.nn.functional.dropout(<T>, 0.5) + torch.rand(1) || drawn_ = torch.rand(3).bernoulli_() || drawn_ = torch.rand(2).normal_() || LISTS.p.append(random.random() + 0 * torch.rand(1))?>
<? || TENSORS.p.add_(1) || GT.mul_(2) || KEPT_BASE[0] = <float> || NET.count.add_(1)?>
try:
    <?with torch.no_grad(): || with torch.inference_mode(): || with torch.autocast('cpu', dtype=torch.bfloat16): || with torch.set_grad_enabled(False): || if True: || with torch.enable_grad():?>
        kept_ = <T> * 2 + 1
        <?kept_ = <T>[torch.tensor([7])] || kept_ = <T>[torch.tensor([<int>])] || kept_ = torch.ones(3).index_select(0, torch.tensor([<int> + 2])) || kept_ = <T>.view(-1).gather(0, torch.tensor([5])) || torch._assert_async(<T>.sum() > 100) || kept_ = torch.linalg.cholesky(-torch.eye(2) * <T>.sum().abs()) || kept_ = torch.embedding(torch.ones(2, 2), torch.tensor([<int>]))?>
        <? || kept_ = kept_ * torch.ones(1) || after_ = torch.rand(2) || after_ = torch.rand(3) + kept_.sum()?>
except <?IndexError || Exception || RuntimeError || (IndexError, RuntimeError) || (IndexError, RuntimeError)?> as err:
    LOG.append((type(err).__name__, torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled('cpu')))
<+T> = y * <T>""",
    """<?torch.set_grad_enabled(False) || torch.set_default_dtype(torch.float64) || torch.set_autocast_enabled('cpu', True) || torch.set_grad_enabled(<bool>)?>
<+T> = y * <T><? ||
<+T> = <T>[torch.tensor([<int>])].sum() ||
<+float> = <T>.sum().item() ||
raise MyError(<int>) ||
return <T> ||
""" + "torch._dynamo.graph_break()" + """?>
<+T> = torch.ones(3) * <T> + torch.is_grad_enabled()""",
    # ---------------------------------------------------------------- ambient state that the caller changes
    """<+T> = <?(torch.eye(3) @ torch.ones(3, 3))[0] || torch.nn.functional.linear(torch.ones(1, 3), torch.eye(3))[0] || torch.mm(torch.ones(1, 3), torch.eye(3))[0] || (y * <T>) || torch.ones(3) || torch.tensor([1.0, 2.0, 3.0]) * 1 || <T> + (torch.get_default_dtype() is torch.float64) || <T> * torch.is_grad_enabled() || <T> + torch.is_autocast_enabled('cpu') || <T> * (torch.get_autocast_dtype('cpu') is torch.float16) || torch.full((3,), <float>)?>
LOG.append(str(<T>.dtype))
...
<?torch.set_autocast_enabled('cpu', True) || torch.set_autocast_dtype('cpu', torch.float16) || torch.set_autocast_dtype('cpu', torch.bfloat16) || torch.set_grad_enabled(not torch.is_grad_enabled()) || torch.set_default_dtype(torch.float64 if torch.get_default_dtype() is torch.float32 else torch.float32) || torch.set_autocast_enabled('cpu', not torch.is_autocast_enabled('cpu'))?><? ||
torch.set_autocast_enabled('cpu', True) ||
torch.set_autocast_dtype('cpu', torch.bfloat16 if torch.get_autocast_dtype('cpu') is torch.float16 else torch.float16)?>""",
    """<a:+T> = <?torch.eye(3) @ torch.ones(3, 3) || torch.mm(torch.ones(1, 3), torch.eye(3)) || torch.nn.functional.linear(torch.ones(1, 3), torch.eye(3))?>
LOG.append(str(<a>.dtype))
<+T> = <T> + <a>[0].float()
...
torch.set_autocast_enabled('cpu', <?True || True || True || False?>)
torch.set_autocast_dtype('cpu', torch.bfloat16 if torch.get_autocast_dtype('cpu') is torch.float16 else torch.float16)""",
    """# <c:?CASTS[0] || HOLDER.cast || CASTS[-1]?>
with torch.autocast('cpu', dtype=<c><? || , enabled=MODES[0] || , cache_enabled=MODES[0]?>):
    <? || """ + "torch._dynamo.graph_break()" + """ || <+float> = <T>.sum().item() || print(<int>)?>
    <b:+T> = torch.eye(3) @ torch.ones(3, 3)
    LOG.append((str(<b>.dtype), torch.is_autocast_enabled('cpu'), str(torch.get_autocast_dtype('cpu'))))
<+T> = <T> + <b>[0].float()
...
<?CASTS.reverse() || HOLDER.cast = CASTS[1] || MODES.reverse()?>""",
    """with <?torch.set_grad_enabled(MODES[0]) || (torch.no_grad if MODES[0] else torch.enable_grad)() || torch.inference_mode(MODES[0])?>:
    <? || """ + "torch._dynamo.graph_break()" + """ || <+float> = <T>.sum().item() || print(<int>)?>
    <b:+T> = y * <T>
    LOG.append((torch.is_grad_enabled(), <b>.requires_grad))
<+T> = y * 2
...
MODES.reverse()""",
    """<?random.seed(str(<int>)) || pass || torch.manual_seed(<int>) || np.random.seed(<int>)?>
LOG.append(<?random.random() || random.randint(0, 99) || torch.rand(()).item() || float(np.random.rand()) || random.choice([1, 2, 3, 4]) || DICE.random() || random.sample(range(9), 3) || torch.randint(0, 99, ()).item() * torch.rand(1).item() || random.shuffle(GL)?>)
<+T> = <T> + <?torch.rand(3) || torch.rand(3) * torch.ones(3) || torch.nn.functional.dropout(torch.ones(3), 0.5) + 0 * torch.rand(1) || torch.rand(3).uniform_() || <T>?>
<? || """ + "torch._dynamo.graph_break()" + """ || <+float> = <T>.sum().item()?>
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- errors that must get through
    """try:
    <+T> = <T> * <?getattr(Faulty(<int>), <?'key' || 'attr' || 'type' || 'stop' || 'index' || 'absent' || 'fine'?>, <int>) || hasattr(Faulty(<int>), <?'key' || 'attr' || 'type' || 'absent' || 'fine'?>) || Faulty(1).key || Faulty(1).attr || (Faulty(2)['u'] or 1) || (<int> in Faulty(1)) || len(Faulty(2)) || next(Faulty(0), 1) || bool(Faulty(3)) || sum(Faulty(2)) || len([*Faulty(1)]) || max(Faulty(2), default=1) || int(Faulty(1)) || len(str(Faulty(1))) || (Faulty(1) == 2) || Faulty(0)(<T>)?>
except <?Exception || (KeyError, AttributeError) || LookupError || (TypeError, IndexError, RuntimeError)?> as err:
    LOG.append((type(err).__name__, err.args))
<+T> = <T> + 1""",
    """<a:+LI> = []
try:
    <?for <b:.int> in Broken(<?'index' || 'key' || 'stop' || 'value'?>, <int>):
        <a>.append(<b>) || <a>.extend(Broken(<?'index' || 'key' || 'stop'?>, <int>)) || <a> += [*Broken(<?'index' || 'stop' || 'value'?>, <int>)] || <a> += [e for e in Broken('index', <int>)] || one_, *two_ = Broken('index', <int>) || <a>.append(sum(Broken('index', <int>))) || <a>.extend(map(heard, Broken('key', 2))) || <a> += [e for p in [1, 2] for e in Broken('index', p)] || <a>.append(any(Broken('index', 0))) || <a>.extend(zip([1, 2, 3], Broken('index', 2)))?>
except Exception as err:
    LOG.append((type(err).__name__, err.args, repr(err.__cause__)))
LOG.append([*<a>])
<+T> = <T> + len(<a>)""",
    """try:
    try:
        <?raise KeyError(<int>) || {}[<str>] || 1 // 0 || <T>[torch.tensor([9])] || ended()?>
    except <?Exception || LookupError || (KeyError, ArithmeticError, StopIteration)?> as outer:
        try:
            <?raise MyError(<int>) || int('x') || picky(99) || [][1]?>
        except <?ValueError || Exception || MyError?> as err:
            LOG.append((repr(err.__context__), repr(sys.exc_info()[1])))
        <? || LOG.append(repr(sys.exc_info()[1]))?>
        <?raise || raise MyError(5) || raise outer || raise TypeError(1) from outer || LOG.append(1)?>
except Exception as last:
    LOG.append((repr(last), repr(last.__context__), repr(last.__cause__)))
LOG.append(repr(sys.exc_info()[1]))
<+T> = <T> + 1""",
    """try:
    <?if <T>.sum() > <float>:
        raise MyError(<int>) || assert <T>.sum() < <float>, <str> || if (<T> > <float>).any():
        raise MyError(TENSORS.p.add_(1).sum().item()) || if not <T>.mean() > 0:
        raise ValueError(<str>) || while <T>.sum() > <float>:
        raise KeyError(<int>)?>
    <+T> = <T> * 7
except (ValueError, KeyError, AssertionError) as err:
    LOG.append(err.args)
<? || if <T>.sum() < <float>:
    raise MyError(<int>)?>
...
<?a.x = -a.x || a.x.mul_(-1) || GT = -GT || a.x = a.x * 0 + 3 || a.box.t = -a.box.t?>""",
    # ---------------------------------------------------------------- behind breaks
    """<a:+int> = <int>
for <b:+int> in <?range(3) || [1, 2] || GL || <LI>[:2]?>:
    <?""" + "torch._dynamo.graph_break()" + """ || <c:+float> = <T>.sum().item() || print(<b>) || if <T>.sum() > <float>:
        continue || if <T>.sum() > <float>:
        break?>
    <a> = <a> + <b>
    <d:+T> = <T> * <a>
else:
    <a> += 100
LOG.append((<a>, <b>))""",
    """<a:+int> = <int>
<b:+str> = 'before'
try:
    <? || <b> = 'inside'?>
    <?""" + "torch._dynamo.graph_break()" + """ || print(<a>) || <+float> = <T>.sum().item() || <+T> = breaking(<T>)?>
    <? || <a> += 1 || <b> = 'later'?>
    <?raise MyError(<int>) || {}['k'] || <+T> = <T>[torch.tensor([<int>])] || picky(<int>)?>
except <?Exception || (MyError, KeyError, IndexError)?> as err:
    LOG.append((<a>, <b>, type(err).__name__))
<? || else:
    LOG.append('none') || finally:
    LOG.append(<b>)?>
<+T> = <T> + <a>""",
    # ---------------------------------------------------------------- writes to objects of outside
    """# <a:?SLOTTED || THINGS.p || WATCHED || HOLDER || box || LEAF?>
<?<a>.v = <T> || <a>.v = <int> || setattr(<a>, 'v', <int>) || <a>.v = [<int>] || <a>.v, <a>.w = <int>, <T> || for <a>.v in [1, 2]:
    <loop> || with Ctx('v') as <a>.v:
    <block>?>
<? || <a>.w = <a>.v || del <a>.v || """ + "torch._dynamo.graph_break()" + """ || <a>.v = 5?>
<+T> = <T> + 1
LOG.append(str(getattr(<a>, 'v', None)))""",
    """# <a:?LISTS.p || GL || items || box.items || STATE.setdefault('list', [3, 1]) || FOUND?>
<?<a>.clear() || <a>[:] = [] || del <a>[:] || <a>[:] = [<int>] || <a>.sort() || <a>.reverse() || while <a>:
    <a>.pop() || <a>.append(<T>) || <a>.insert(0, <a>[0] if <a> else 2) || <a> *= 0 || <a>.extend(<a>) || <a>[::2] = [9] * len(<a>[::2]) || <a>.append([]) || <a>.append(<a>.pop(0) if <a> else 1)?>
<? || """ + "torch._dynamo.graph_break()" + """ || <a>.append(<int>)?>
<+T> = <T> + len(<a>)
...
<a>.<?append(4) || clear() || extend([1, 2]) || copy()?>""",
    """<+T>, <b:+T> = <?Clip.apply(<T>) || Clip.apply(y) || Marked.apply(y, <bool>) || Marked.apply(<T>, True)?>
LOG.append((<b>.requires_grad, <b>.grad_fn is None))
<? || <+T> = <b> * y || (<b> * y).sum().backward()?>""",
    # ---------------------------------------------------------------- one of a kind
    # read first, changed afterwards: the next call meets what this one assumed, so that a guard that is missing shows
    "<+T> = helper(<T>)\nhelper.__defaults__ = (<int>,)", "<+T> = kwonly(<T>)\nkwonly.__kwdefaults__ = {'scale': <int>}", "<+T> = HELD(<T>)\nHELD.__closure__[0].cell_contents = <int>", "<a:+float> = ZERO[0]\n<+T> = <T> * math.copysign(1.0, <a>)\nZERO[0] = -<a>", "first_ = next(iter(ORDER))\n<+T> = <T> * ORDER[first_]\nORDER[first_] = ORDER.pop(first_)", "<+T> = <T> * Roof().height()\nRoof.__base__.height = lambda self: <int>",
    "<+T> = <T> + (TWINS[0] is TWINS[1])\nTWINS[1] = TWINS[0]", "TWINS[0].value += 5\n<+T> = <T> * TWINS[1].value\nTWINS[0].value = 1\nTWINS[1] = TWINS[0]", "APART[0].append(<int>)\n<+T> = <T> * len(APART[1])\nAPART[:] = [[1]] * 2", "SAME[0].append(<int>)\n<+T> = <T> * len(SAME[1])\nSAME[:] = [1], [1]", "SPANS[0].add_(1)\n<+T> = SPANS[1] * 2\nSPANS[:] = STRIP[:3], STRIP[1:]",
    "with torch.set_grad_enabled(MODES[0]):\n    torch._dynamo.graph_break()\n    <+T> = y * <T> + torch.is_grad_enabled()\nMODES.reverse()", "with torch.autocast('cpu', dtype=CASTS[0]):\n    torch._dynamo.graph_break()\n    <+T> = <T> + ((torch.eye(3) @ torch.eye(3)).dtype is torch.float16)\nCASTS.reverse()", "<+T> = <T> + (torch.get_default_dtype() is torch.float64)\ntorch.set_default_dtype(torch.float64 if torch.get_default_dtype() is torch.float32 else torch.float32)",
    # what needs two objects, two orders or an error at run time to be seen
    "<a:+It> = iter([0, <int>, 1, 2])\n<+T> = <T> * any(<a>)\n<+LI> = list(<a>)", "<a:+It> = iter([1, <int>, 0, 2])\n<+T> = <T> * all(<a>)\n<+LI> = list(<a>)", "<a:+LI> = [1, <int>]\n<b:+It> = iter(<a>)\n<+T> = <T> * sum(<b>)\n<a>.append(<int>)\n<+LI> = list(<b>)", "<+T> = <T> + <float>\nLOG.append((0.0, -<float>, -0.0, <float>))", "<a:+T> = <T>\ntry:\n    <a> = <a>[torch.tensor([7])]\nexcept IndexError:\n    <a> = <a> * 2", "try:\n    <+T> = <T> * getattr(Odd(), 'bad', <int>)\nexcept KeyError as err:\n    LOG.append(err.args)", "def <a:+FI>():\n    yield <T> * <int>\n    yield next(iter(()))\ntry:\n    <+LT> = list(<a>())\nexcept RuntimeError as err:\n    LOG.append((str(err), repr(err.__cause__)))",
    # a graph that raises at run time, with ambient state, random numbers and writes before it
    """try:
    with torch.no_grad():
        <a:.T> = torch.rand(3)
        <b:.T> = <a> + <T>[torch.tensor([<int>, 0, 0])]
except IndexError:
    LOG.append(torch.is_grad_enabled())""",
    """<a:+T> = torch.rand(3)
try:
    <b:+T> = <T>[torch.tensor([<int>])]
except IndexError:
    <b:+T> = <a> * 2""",
    """torch.set_grad_enabled(False)
try:
    <a:+T> = <T>[torch.tensor([<int>])] + 1
except IndexError:
    LOG.append('index')
finally:
    torch.set_grad_enabled(True)""",
    # made anew at every call
    """<a:+F> = lambda t: t + 1
LOG.append(getattr(<a>, 'mark', None))
<a>.mark = <int>""",
    """def <a:+F>(t):
    return t - 1
LOG.append(<a> in FOUND)
FOUND.append(<a>)""",
    """<a:+T> = torch.tensor([0.0, 1.0, 2.0])
<a> += <T>.sum()""",
    """<a:+T> = torch.tensor([1.0, 2.0])
<a>.mul_(<int>)
FOUND.append(<a>)""",
    # behind breaks
    """for <b:+int> in range(2):
    <c:+float> = <T>.sum().item() + <b>
    <d:+T> = <T> * <c>""",
    """for <b:+int> in range(2):
    torch._dynamo.graph_break()
    <d:+T> = <T> * <b>""",
    """<a:+It> = iter([1, <int>, 3, 4])
<+int> = next(<a>)
torch._dynamo.graph_break()
<+LI> = [*<a>]""",
    # read as far as needed
    """<a:+It> = iter([1, <int>, 3, 4, 5])
<+LI> = [p + q for p, q in zip(<a>, <a>)]""",
    """<a:+It> = iter([1, <int>, 3, 4, 5])
<+LI> = [*itertools.islice(map(max, <a>, [1, 2]), 2)]
<+LI> = [*<a>]""",
    """<a:+It> = iter([0, <int>, 1, 3])
<+bool> = any(e > 0 for e in <a>)
<+LI> = [*<a>]""",
    """<a:+LI> = [1, <int>]
for <b:.int> in <a>:
    if len(<a>) < 5:
        <a>.append(<b> + 1)""",
    """<a:+LI> = [1, <int>]
<+T> = <T> * sum(<a>.pop() for e in <a>)""",
    # ends of iteration
    """<a:+LI> = []
try:
    for <b:.int> in early(<int>):
        <a>.append(<b>)
except RuntimeError as err:
    LOG.append(type(err.__cause__).__name__)""",
    """<a:+LI> = []
try:
    for <b:.int> in Failing(<int>):
        <a>.append(<b>)
except IndexError as err:
    LOG.append(('index', err.args))""",
    """try:
    <+LI> = [e * 2 for e in Failing(<int>)]
except IndexError as err:
    LOG.append(err.args)""",
    # what is read of the world, and changes at the end of the call
    """<+T> = BOUND[0](<T>)
BOUND.reverse()""",
    """<+T> = LISTED(<T>)
LISTED.notes[0] += 1""",
    """<+T> = <T> * [*RANKS].index('u')
RANKS['u'] = RANKS.pop('u')""",
    """LOG.append([*<@D>.items()])""",
    """<+T>, <b:+T> = Clip.apply(<T>)
LOG.append(<b>.requires_grad)""",
    """<a:+T> = (torch.eye(3) @ torch.ones(3, 3))[0]
LOG.append(str(<a>.dtype))""",
    """<+T> = <T> + (<@LI> is <@LI>)""",
    """<a:@LI>.append(<int>)
<+T> = <T> * len(<@LI>)""",
    """<+T> = <T> * torch.ones(3)""",
    # ---------------------------------------------------------------- a class made otherwise
    """<+T> = <T> + <?Remade(<int>).k || Remade.build(<int>).k || [Remade(e).k for e in (1, 2)][1] || Remade_(<int>).k || Remade(<int>)(<int>) || len(Remade(<int>)) || Remade(<int>)[1] || (Remade(<int>) + 1)?>
LOG.append(str(Remade(2).k))
...
<?Remade.__init__ = lambda self, k: setattr(self, 'k', k + 4) || Remade.__init__ = lambda self, k: setattr(self, 'k', k + 4) || Remade.__new__ = lambda cls, k: object.__new__(Remade_) || Remade_.__init__ = lambda self, k: setattr(self, 'k', 40) || Remade.__call__ = lambda self, n: n + 6 || Remade.__len__ = lambda self: 8 || Remade.__getitem__ = lambda self, i: 9 || Remade.__add__ = lambda self, n: n + 20 || Remade.build = staticmethod(lambda k: SimpleNamespace(k=k + 30)) || del Remade_.__init__?>""",
    # ---------------------------------------------------------------- a key that is not there, and one object known by two ways
    """# <a:?ASIDE.p || ASIDE.pair[0] || ASIDE.by['p']?>
# <b:?ASIDE.q || ASIDE.pair[1] || ASIDE.by['q']?>
<?<a>['new'] = <int> || <a>.setdefault('new', <int>) || <a>.update(new=<int>) || <a> |= {'new': <int>}?>
<+T> = <T> + <?('new' in <b>) || <b>.get('new', 7) || (<b>['new'] if 'new' in <b> else 5) || <b>.pop('new', 8) || ('new' not in <b>)?>
...
<a>.pop('new', None)
ASIDE.turn()""",
    """<+T> = <T> * <?ASKS[0][0](2) || ASKS[1][0]() || len(str(ASKS[2][0]('u'))) || functools.partial(ASKS[0][0], 2)() || plainly_(ASKS[0][0], 2)?>
LOG.append((ASKS[0][0](5), ASKS[2][0]('w', 3)))
...
for asks_ in ASKS:
    asks_.append(asks_.pop(0))""",
    """# <a:?KNOWN_AS.o || KNOWN_AS.by['o']?>
# <b:?KNOWN_AS.d || KNOWN_AS.by['d']?>
<?LOG.append(len(<b>)) || LOG.append(<a>.v) || pass?>
<?<b>['v'] = <int> + 5 || <b>['n'] = <T> || <b>.pop('v', 0) || <b>.update(v=7) || <b>.clear() || <a>.v = <int> + 8 || <a>.n = <T> || vars(<a>)['v'] = 6 || del <a>.v?>
<+T> = <T> + <?getattr(<a>, 'v', 3) || len(vars(<a>)) || hasattr(<a>, 'n') || <b>.get('v', 4) || ('n' in <b>) || len(<b>) || (vars(<a>) is <b>)?>
KNOWN_AS.o.v = 9
LOG.append(sorted(KNOWN_AS.d))""",
    # ---------------------------------------------------------------- generators that delegate
    """def <a:+FI>(n):
    <?try:
        while n < 30:
            got = yield n
            n += got or 1
    finally:
        LOG.append('inner') || while n < 30:
        got = yield n
        n += got or 1 || while n < 25:
        n += (yield n) or 2 || while n < 28:
        n += 1 + ((yield n) or 1) || for _ in range(9):
        LOG.append((yield n)) || try:
        while n < 30:
            got = yield n
            n += got or 1
    except MyError:
        yield 40?>
    return n
def <b:+FI>(n):
    <?try:
        back = yield from <a>(n)
        LOG.append(back)
    finally:
        LOG.append('outer') || LOG.append((yield from <a>(n))) || LOG.append((yield from <a>(n + 1))) || n = yield from <a>(n)
    LOG.append(n) || with Ctx('outer'):
        yield from <a>(n) || yield from <a>(n)
    yield from <a>(n + 20)?>
<c:+It> = <b>(<int>)
LOG.append(next(<c>))
LOG.append(<c>.<?send(10) || send(7) || send(12) || send(None)?>)
<?LOG.append(<c>.send(10)) || LOG.append(<c>.send(40)) || <c>.close() || LOG.append(<c>.throw(MyError(2))) || LOG.append([*<c>]) || pass || for item_ in <b>(<int>):
    break || LOG.append(first_of(<b>(<int>)))?>
<c> = None
LOG.append('on')
<+T> = <T> + 1""",
    # ---------------------------------------------------------------- a function of autograd that gives back what it took
    """# <b:?x || GT || y || tens[0] || <T>?>
<a:+T> = <?Same || Same || View_?>.apply(<b>)
LOG.append(<?<a> is <b> || <a>.data_ptr() == <b>.data_ptr() || (<a>._is_view(), <a>.is_leaf, <a>.requires_grad) || (<a>._version, <a> is <b>)?>)
<+T> = <a> * 2""",
    # ---------------------------------------------------------------- a graph that raises behind what it has changed
    """NORM.train()
<+T> = NORM(torch.stack([<T>, GT, <T> + 1]))[0]
try:
    <?<+T> = GT[torch.tensor([<?9 || 9 || 1 || -7?>])] + <T> || <+T> = x[torch.tensor([<?8 || 0?>, 0, 9])] * <T> || <+T> = torch.nn.functional.embedding(torch.tensor([<?8 || 7 || 1?>]), torch.ones(3, 3))[0] + <T>?>
except <?IndexError || Exception?> as err:
    LOG.append(type(err).__name__)
LOG.append((NORM.running_mean.sum().item(), NORM.num_batches_tracked.item()))""",
    # ---------------------------------------------------------------- changed while it is walked over
    """<a:+O> = {'u': 1, 'w': 2, 'z': 3}
try:
    for item_ in <?<a> || <a>.items() || <a>.values() || enumerate(<a>)?>:
        LOG.append(item_)
        <?if 'u' in <a>:
            del <a>['u']
            <a>['n'] = <int> || <a>['n'] = <a>.pop('u', 4) || <a>.pop('u', None)
        <a>.setdefault('n', <int>) || if len(<a>) == 3:
            <a>['w'] = <a>.pop('w', 7) || if 'n' not in <a>:
            <a>['n'] = <int>?>
except RuntimeError as err:
    LOG.append(str(err))
<+T> = <T> + len(<a>)""",
    """<a:+O> = <?{'u': 1, 'w': 2, 'z': 3} || OrderedDict(u=1, w=2, z=3) || defaultdict(int, u=1, w=2, z=3) || Counter('uwz') || dict(table)?>
try:
    for item_ in <?<a> || <a> || <a>.items() || <a>.values() || iter(<a>) || enumerate(<a>) || reversed(<a>)?>:
        LOG.append(item_)
        <?<a>.pop('w', None)
        <a>['q'] = len(<a>) || <a>.pop('u', None)
        <a>['n'] = 4 || <a>['n'] = <a>.pop('u', 4) || <a>.pop('u', None)
        <a>.setdefault('n', 4) || <a>['w'] = 5 || <a>.clear() || <a>.update(u=7) || <a>['more'] = 1 || del <a>[next(iter(<a>))]?>
        <?<+T> = <T> + 1 || pass?>
except (RuntimeError, KeyError) as err:
    LOG.append((type(err).__name__, str(err)))
LOG.append([*<a>.items()])""",
    """<a:+O> = <?{1, 2, 3} || deque([1, 2, 3]) || [1, 2, 3]?>
try:
    for item_ in <?<a> || iter(<a>) || zip(<a>, 'abcdef') || sorted(<a>)?>:
        LOG.append(item_)
        <?<a>.remove(item_) || <a>.clear() || <a>.pop() || (getattr(<a>, 'add', None) or <a>.append)(<?4 || 4 || 1?>) if len(<a>) < 5 else None || <a>.copy() || <a>.discard(2) if isinstance(<a>, set) else <a>.extend([]) ?>
except (RuntimeError, IndexError) as err:
    LOG.append((type(err).__name__, str(err)))
LOG.append(len(<a>))
<+T> = <T> + 1""",
]

DEFINITIONS = {
    "ALIVE": "ALIVE = []\n",
    "Shelf": """class Shelf:
    def __init__(self, make, one):
        self.make, self.one = make, one
        self.turn()
    def turn(self):
        self.one = not self.one
        ALIVE.append(getattr(self, 'pair', None))
        self.p = self.make()
        self.q = self.p if self.one else self.make()
        self.pair, self.by = [self.p, self.q], {'p': self.p, 'q': self.q}
""",
    "Borg": """class Borg:
    k = 7
    def __init__(self, k):
        self.k = k
""",
    "Selfish": """class Selfish(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self
""",
    "SELFISH": "SELFISH = Selfish(k=4)\n",
    "BORGS": "BORGS = [Borg(2), Borg(2), Borg(3)]\nBORGS[<?0 || 1?>].__dict__ = BORGS[1].__dict__\n",
    "VARS": "VARS = <?vars(BORGS[0]) || vars(BORGS[0]) || {'k': 2}?>\n",
    "PROXY": "PROXY = types.MappingProxyType(VARS)\n",
    "LISTS": "LISTS = Shelf(lambda: [1, 2], <bool>)\n",
    "DICTS": "DICTS = Shelf(lambda: {'u': 1, 'w': 2}, <bool>)\n",
    "ASIDE": "ASIDE = Shelf(lambda: {'u': 1, 'w': 2}, True)\n",
    "THINGS": """class Thing:
    def __init__(self):
        self.v, self.t, self.seen = 1, torch.ones(3), [1]
    def put(self, v):
        self.v = v
    def get(self):
        return self.v
THINGS = Shelf(Thing, <bool>)
""",
    "TENSORS": "TENSORS = Shelf(lambda: torch.ones(3), <bool>)\n",
    "MODULES": "MODULES = Shelf(torch.nn.ReLU, <bool>)\n",
    "plainly_": """def plainly_(fn, t):
    return fn(t)
""",
    "mixed": """def mixed(p, q):
    p.append(9)
    return len(q) + (p is q)
""",
    "same": """def same(p, q):
    return p is q
""",
    "named": """def named(**given):
    return [*given]
""",
    "HOLDER": """HOLDER = SimpleNamespace(ranks={'w': 1, 'u': 2, 'z': 3}, seen=[1], switch=[0.0, 1], cast=torch.bfloat16)
HOLDER.method, HOLDER.leaf, HOLDER.fn, HOLDER.pair = Times(3).apply, Leaf(), lambda t, k=2: t * k, None
""",
    "STORE": "STORE = OrderedDict(u=1, w=2, z=3)\n",
    "SWITCH": "SWITCH = [0.0, 1]\n",
    "HELPER2": "HELPER2 = lambda t, k=1: t - 50\n",
    "PARAM": "PARAM = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))\n",
    "Times": """class Times:
    def __init__(self, by):
        self.by = by
    def apply(self, t):
        return t * self.by
""",
    "Thrice": """class Thrice(Times):
    def apply(self, t):
        return t * self.by * 3
""",
    "HELD_METHODS": "HELD_METHODS = {'g': Times(<int>).apply}\n",
    "METHOD": "METHOD = Times(<int>).apply\n",
    "Leaf": """class LeafBase:
    v, w = 1, 2
    def up(self, t):
        return t * self.v
    def __call__(self, t):
        return t + self.w
    def __len__(self):
        return 3
    def __int__(self):
        return self.v
    def __abs__(self):
        return self.v + 4
    def __float__(self):
        return self.w / 2
class Leaf(LeafBase):
    def __init__(self):
        self.own = <int>
    @staticmethod
    def stat(t):
        return t * 2
    @classmethod
    def cls_(cls, t):
        return t * cls.v
""",
    "LEAF": "LEAF = Leaf()\n",
    "LEAVES": "LEAVES = [Leaf(), Leaf()]\nLEAVES[0].v = 5\n",
    "Noted": """class Noted(torch.nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.seq = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Identity())
        self.inner, self.act, self.kind, self.mask, self.scale_ = inner, torch.sin, 'u', torch.ones(3), 0.0
        self.notes, self.pairs, self.table, self.seen = [1, 2], ([1, 2], [3, 4]), {'k': 1, 'v': 2}, set()
        self.parts, self.tensors, self.box = [torch.nn.Identity(), torch.nn.ReLU()], [torch.ones(3)], SimpleNamespace(v=1)
        self.method = Times(2).apply
    def forward(self, t):
        t = self.seq(t) * self.weight + len(self.seen)
        for note, part in zip(self.notes, self.parts):
            t = part(t) * note
        for key, value in self.table.items():
            t = t + value * len(key)
        if self.mask is not None:
            t = t * self.mask
        if self.training:
            t = t + self.pairs[0][1]
        t = self.act(t) + self.box.v + len(self.kind) + (self.kind == 'u')
        t = self.method(t) + self.tensors[0] * math.copysign(1.0, self.scale_)
        return t if self.inner is None else self.inner(t) * 2
""",
    "NOTED": "NOTED = Noted(Noted())\n",
    "NOTES": "NOTES = [Noted()]\n",
    "telling": """def telling(items):
    for item in items:
        LOG.append(('told', item))
        yield item
    LOG.append('told all')
""",
    "heard": """def heard(item, *_):
    LOG.append(('heard', str(item)))
    return item
""",
    "ended": """def ended():
    return next(iter([]))
""",
    "Endless": """class Endless:
    def __iter__(self):
        return self
    def __next__(self):
        raise StopIteration(3)
""",
    "Ending": """class Ending:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        for i in range(self.n):
            yield i
        raise StopIteration(self.n)
""",
    "touch": """def touch(made):
    if isinstance(made, torch.Tensor):
        made.logical_not_() if made.dtype is torch.bool else made.add_(5)
    elif isinstance(made, list):
        made.append(5)
    elif isinstance(made, dict):
        made['touched'] = 5
    elif isinstance(made, set):
        made.add(5)
    elif isinstance(made, tuple):
        touch(made[0])
    elif hasattr(made, '__dict__'):
        made.touched = 5
""",
    "Faulty": """class Faulty:
    def __init__(self, n):
        self.n = n
    @property
    def key(self):
        raise KeyError(self.n)
    @property
    def attr(self):
        raise AttributeError(self.n)
    @property
    def type(self):
        raise TypeError(self.n)
    @property
    def stop(self):
        raise StopIteration(self.n)
    @property
    def index(self):
        return [][self.n]
    @property
    def fine(self):
        return self.n
    def __getitem__(self, key):
        if key == 2:
            raise KeyError(key)
        return [1, 2, 3][key]
    def __contains__(self, e):
        raise IndexError(e)
    def __len__(self):
        return -self.n
    def __next__(self):
        raise LookupError(self.n)
    def __bool__(self):
        raise ValueError(self.n)
    def __int__(self):
        raise OverflowError(self.n)
    def __str__(self):
        raise RuntimeError(self.n)
    def __eq__(self, other):
        raise ZeroDivisionError(other)
    def __call__(self, t):
        return t if self.n else [][5]
""",
    "Broken": """class Broken:
    def __init__(self, kind, n):
        self.kind, self.n = kind, n
    def __iter__(self):
        return self
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            kinds = {'index': IndexError, 'key': KeyError, 'stop': StopIteration, 'value': ValueError}
            raise kinds[self.kind](self.n)
        return self.n
""",
    "SLOTTED": """class Slotted:
    __slots__ = ('v', 'w')
SLOTTED = Slotted()
SLOTTED.v = 1
""",
    "WATCHED": """class Watching:
    def __setattr__(self, name, to):
        LOG.append('set ' + name)
        object.__setattr__(self, name, to)
    def __delattr__(self, name):
        LOG.append('del ' + name)
        object.__delattr__(self, name)
WATCHED = Watching()
""",
    "Marked": """class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t, mark):
        where = (t > 0).float()
        ctx.save_for_backward(where)
        if mark:
            ctx.mark_non_differentiable(where)
        return t * 2, where
    @staticmethod
    def backward(ctx, g, h):
        where, = ctx.saved_tensors
        return g * where, None
""",
    "FOUND": "FOUND = []\n",
    "RANKS": "RANKS = {'w': 1, 'u': 2, 'z': 3}\n",
    "BOUND": "BOUND = [Times(2).apply, Times(<int> + 3).apply]\n",
    "early": """def early(n):
    yield n
    yield next(iter([1][:n]))
    yield next(iter([]))
    yield 3
""",
    "Failing": """class Failing:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 2:
            raise IndexError(self.n)
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n
""",
    "LISTED": """class Listed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.ReLU()
        self.notes = [1, 2]
    def forward(self, t):
        return self.b(t) * self.a.weight[0].detach() * self.notes[0]
LISTED = Listed()
""",
    "Remade": """class Remade:
    def __init__(self, k):
        self.k = k
    @classmethod
    def build(cls, k):
        return cls(k)
    def __call__(self, n):
        return self.k * n
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return self.k + i
    def __add__(self, n):
        return self.k + n
class Remade_(Remade):
    def __init__(self, k):
        super().__init__(k + 1)
""",
    "ASKS": """HELD = [2, 5, 2, 2]
HELD_BY = {'u': 4}
ASKS = [[HELD.count, HELD.index, HELD.__contains__], ['a1'.isalpha, 'a1'.isalnum, '1'.isdigit], [HELD_BY.get, HELD_BY.setdefault]]
""",
    "KNOWN_AS": """KNOWN_AS = SimpleNamespace(o=SimpleNamespace(v=1))
KNOWN_AS.d = vars(KNOWN_AS.o)
KNOWN_AS.by = dict(o=KNOWN_AS.o, d=KNOWN_AS.d)
""",
    "first_of": """def first_of(items):
    for item in items:
        return item
""",
    "View_": """class View_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t.view_as(t)
    @staticmethod
    def backward(ctx, g):
        return g
""",
    "Clip": """class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        mask = (t > 1).float()
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return t * (1 - mask), mask
    @staticmethod
    def backward(ctx, g, _):
        mask, = ctx.saved_tensors
        return g * (1 - mask)
""",
}
