"""More statements that show alone what a compiler of Python gets wrong, as in python_revealing:
one for each rule of capture, so that each line of a rule is seen to matter.

Where something changes between calls most of them read many places, and the caller changes one:
what is guarded elsewhere does not hide that one place is not.
"""

# ruff: noqa: E501
# fmt: off

HEADER = "import types\n"
BREAK = "torch._dynamo.graph_break()"

REVEALING = [
    # ---------------------------------------------------------------- where tensors are made
    """<a:+T> = <?torch.zeros(2) || torch.ones(3) || torch.tensor([1.0]) || torch.arange(2.0) || torch.full((2,), 3.0)?>
LOG.append(str(<a>.device))
<+T> = <T> * (2 if <a>.device.type == 'cpu' else 3)
...
HOLDER = HOLDER  # only the caller does this
torch.set_default_device('meta' if torch.get_default_device().type == 'cpu' else 'cpu')""",
    # ---------------------------------------------------------------- switches that are only read
    """LOG.append((<?torch.is_anomaly_enabled(), torch.is_grad_enabled() || torch.is_anomaly_enabled(), torch.is_inference_mode_enabled() || torch.is_anomaly_enabled()?>))
<+T> = <T> * 2
...
HOLDER = HOLDER
torch.set_anomaly_enabled(not torch.is_anomaly_enabled())""",
    # ---------------------------------------------------------------- attributes that fail
    """<a:+O> = <?Broken() || Brittle()?>
try:
    match <a>:
        case <?Broken(v=got_) || Brittle(v=got_) || Brittle(got_) || Broken(got_)?>:
            LOG.append(got_)
        case _:
            LOG.append('none')
    <?LOG.append(<a>.v) || LOG.append(getattr(<a>, 'v', 3)) || LOG.append(hasattr(<a>, 'v'))?>
except Exception as err:
    LOG.append(repr(err))
try:
    LOG.append(<a>.v)
except Exception as err:
    LOG.append(repr(err))
<+T> = <T> * 2
...
<?Broken.kind = KeyError || Broken.kind = AttributeError || Brittle.kind = ValueError || Brittle.kind = AttributeError?>""",
    # ---------------------------------------------------------------- handlers within handlers
    """try:
    raise MyError(<int>)
except MyError as outer_:
    try:
        <?raise KeyError('u') || {}['q'] || next(iter(())) || int('u')?>
    except (KeyError, StopIteration, ValueError) as inner_:
        LOG.append(inner_.__context__ is outer_)
    try:
        <?raise || raise ValueError || raise ValueError from None || 1 // 0?>
    except Exception as again_:
        LOG.append((again_ is outer_, repr(again_.__context__), again_.__suppress_context__))
<+T> = <T> * 2
""",
    # ---------------------------------------------------------------- containers of the program's classes that leave
    """<a:+O> = <?Stack([1, <int>]) || TracedDict(u=<int>) || Traced([1]) || Stack([<T>])?>
<a>.tag, <a>.more = <int>, [<int>]
STATE['made'] = <a>
<?pass || """ + "torch._dynamo.graph_break()" + """ || <+float> = <T>.sum().item()?>
LOG.append((str(vars(STATE['made'])), STATE['made'] is <a>))
<?STATE['made'].tag += 1 || del STATE['made'].tag || pass?>
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- one constant, in each place where it can lie
    """LOG.append([str(e) for e in (PLACES.own, PLACES.list[0], PLACES.tuple[0], PLACES.dict['k'], PLACES.queue[0], PLACES.named.a, PLACES.slot.v)])
<+T> = <T> * 2
...
PLACES.turn(<?'own' || 'list' || 'tuple' || 'dict' || 'queue' || 'named' || 'slot'?>)""",
    """LOG.append([str(e) for e in (PLACES.fn(), PLACES.kw(), PLACES.held(), PLACES.part(), PLACES.kwpart(), PLACES.method(), PLACES.klass)])
<+T> = <T> * 2
...
PLACES.turn(<?'fn' || 'kw' || 'held' || 'part' || 'kwpart' || 'method' || 'klass'?>)""",
    """LOG.append([str(e) for e in (PLACES.default['k'], PLACES.ordered['k'], PLACES.stack[0], PLACES.module.k, PLACES.other(), PLACES.proxy['k'], PLACES.deep[0][1]['k'])])
<+T> = <T> * 2
...
PLACES.turn(<?'default' || 'ordered' || 'stack' || 'module' || 'other' || 'proxy' || 'deep'?>)""",
    """# <a:?n || s || flag || name?>
LOG.append(<?(<a>, str(<a>)) || [<a>] || {'k': <a>} || str([<a>, <a>]) || (lambda v=<a>: [v])() || f'{<a>!r}' || <a> is True || repr(<a>)?>)
<+T> = <T> * 2
...
<a> = <?True || 1 || 1.0 || 0.0 || -0.0 || False || None || 0 || complex(0.0, -0.0) || complex(-0.0, 0.0) || 'u' || np.float64(1) || np.float32(1) || Num.ONE || float('nan') || range(0, 5, 2) || range(0, 6, 2)?>""",
    """LOG.append([str(v) for v in (EQUAL.zero, EQUAL.complex, EQUAL.range, EQUAL.frozen, EQUAL.set, EQUAL.numpy, EQUAL.tuple, EQUAL.one, EQUAL.fn(), EQUAL.table, EQUAL.half)])
<+T> = <T> * 2
...
EQUAL.turn(<?'zero' || 'complex' || 'range' || 'frozen' || 'set' || 'numpy' || 'tuple' || 'one' || 'fn' || 'table' || 'half'?>)""",
    # ---------------------------------------------------------------- one tensor's properties, in each place
    """LOG.append([facts_of(t) for t in (PLACED.own, PLACED.list[0], PLACED.dict['k'], PLACED.fn(), PLACED.held(), PLACED.net.weight, PLACED.net.count, PLACED.slot.v)])
<+T> = <T> * 2
...
PLACED.put(<?'own' || 'list' || 'dict' || 'fn' || 'held' || 'weight' || 'count' || 'slot'?>, LIKE_ONES[<?'double' || 'parameter' || 'strided' || 'grad' || 'longer' || 'ones'?>])""",
    """# <a:?x || box.t || tens[0] || tabt['u'] || GT?>
LOG.append(facts_of(<a>))
<+T> = <T> * 2
...
<?<a> = LIKE_ONES[<?'double' || 'strided' || 'longer' || 'transposed' || 'turned' || 'conj' || 'neg' || 'plain' || 'imag' || 'infer' || 'meta' || 'parameter' || 'grad' || 'ones' || 'int' || 'scalar'?>] || <a>.requires_grad_(not <a>.requires_grad) || <a>.data = <a>.data.double() || <a>.data = torch.ones(3, 3).t()[0] || <a>.data = torch.ones(4)?>""",
    """# <a:?x || box.t || tens[0] || GT?>
LOG.append(facts_of(<a>))
<+T> = <T> * 2
...
<a> = LIKE_ONES['<?turned || transposed || turned || transposed || conj || plain || neg || ones || conj || plain?>']""",
    """# <a:?x || box.t || PARAM || NOTED.weight?>
LOG.append([str(<a>.<?mark || note?>) if hasattr(<a>, 'mark') else 'none', getattr(<a>, 'note', 4)])
<+T> = <T> * 2
<? || <a>.note = [<int>] || <a>.mark = <T>?>
...
<?<a>.mark = <int> || <a>.note = <int> || <a>.mark = 8 || del <a>.__dict__['mark'] || <a>.__dict__.update(mark=1, note=2) || <a>.__dict__.clear()?>""",
    # ---------------------------------------------------------------- containers of outside: what is asked, what changes
    """# <a:?items || GL || LISTS.p || BAGS.list || BAGS.stack?>
LOG.append(<?[*<a>] || len(<a>) || (5 in <a>) || bool(<a>) || <a>[-1:] || str(<a>) || (<a> == [1, 2]) || sorted(<a>) || [*reversed(<a>)] || sum(<a>) || (<a> + [8])[-1] || <a>.count(5) || [*enumerate(<a>)][-1:] || [*zip(<a>, <a>)] || <a> * 2?>)
<+T> = <T> + 1
...
<?<a>.append(5) || <a>.insert(0, 5) || <a>.clear() || <a>.reverse() || <a>[-1:] = [5] || <a>[:] = [2, 1] || <a>[:] = [1, 2] || <a>[:] = [True, 2.0] || <a>.append(-1)?>""",
    """# <a:?BAGS.queue || BAGS.bounded || BAGS.tuple || BAGS.named || BAGS.frozen || BAGS.set?>
LOG.append(<?sorted(<a>) || len(<a>) || (5 in <a>) || [*<a>][:1] if len(<a>) == 1 else sorted(<a>) || max(<a>, default=0) || (<a> == BAGS.same(<a>)) || type(<a>).__name__ || getattr(<a>, 'maxlen', 'none') || sum(<a>)?>)
<+T> = <T> + 1
...
BAGS.<?put(1, 2) || put(2, 1) || put(5, 2) || put(1) || put(1, 2, 5) || put(True, 2.0) || put() || swap()?>""",
    """# <a:?table || GD || BAGS.dict || BAGS.ordered || BAGS.default || BAGS.counts || BAGS.proxy?>
LOG.append(<?<a>.get('k') || ('k' in <a>) || len(<a>) || [*<a>] || [*<a>.items()] || <a>.get('u', 4) || ('u' not in <a>) || [*<a>.values()] || max(<a>, default=3) || bool(<a>) || (<a> == {'u': 1, 'w': 2}) || {**<a>, 'z': 1} || sorted(<a>) || str(dict(<a>)) || ('k' in <a>.keys()) || (('u', 1) in <a>.items()) || [*map(str, <a>)]?>)
<+T> = <T> + 1
...
BAGS.change(<a>, <?k=1 || k=None || u=None || u=5 || w=None || k=True || k=1.0 || u=1, w=2 || w=2, u=1?>)""",
    """# <k:?1 || (1, 2) || KEY || LEAF || torch.float32 || helper || frozenset({1}) || len?>
LOG.append((<?OBJECTS.get(<k>, 'none') || <k> in OBJECTS || len(OBJECTS) || str([*OBJECTS.values()]) || [k is KEY for k in OBJECTS] || [type(k).__name__ for k in OBJECTS]?>,))
<+T> = <T> * 2
<? || OBJECTS[<k>] = <int> || OBJECTS.pop(<k>, None)?>
...
<?OBJECTS[<k>] = 7 || OBJECTS.pop(<k>, None) || OBJECTS[<k>] = OBJECTS.pop(<k>, 3) || OBJECTS.clear() || OBJECTS[True] = OBJECTS.pop(1, 3) || OBJECTS[(True, 2)] = OBJECTS.pop((1, 2), 3) || OBJECTS[1.0] = OBJECTS.pop(1, 3)?>""",
    # ---------------------------------------------------------------- what is not there, and comes
    """LOG.append((hasattr(HOLDER, 'late'), getattr(LEAF, 'late', 1), getattr(Leaf, 'late', 2), GD.get('late'), 'late' in table, getattr(MOD, 'late', 3), hasattr(box, 'late')))
<+T> = <T> * 2
...
<?HOLDER.late = 5 || LEAF.late = 5 || Leaf.late = 5 || LeafBase.late = 6 || GD['late'] = 5 || a.table['late'] = 5 || MOD.late = 5 || a.box.late = 5?>""",
    """try:
    LOG.append(LATE_)
except NameError:
    LOG.append('none')
LOG.append((sorted([2, 1]), round(1.6), max(1, 2), ord('u')))
<+T> = <T> * 2
...
<?globals()['LATE_'] = <int> || globals().pop('LATE_', None) || globals()['sorted'] = lambda v: 'mine' || globals()['round'] = int || globals()['max'] = min || globals().pop('max', None) || globals()['ord'] = len?>""",
    """LOG.append(HOOKED.hook is None)
<+T> = <T> if HOOKED.hook is None else HOOKED.hook(<T>)
LOG.append(HOOKED.other(2) if HOOKED.other else 'none')
...
<?HOOKED.hook = None || HOOKED.other = None || HOOKED.hook = HOOKED.other = None || HOOKED.hook = lambda t: t * 7 || HOOKED.other = Times(3).apply || HOOKED.hook = torch.neg || HOOKED.other = abs?>""",
    """LOG.append((LATER.get(<int>), LATER.ask()))
<? || LATER.put(<int>) || LATER.drop()?>
<+T> = <T> * 2
<? || LOG.append(LATER.get(3)) || """ + BREAK + """?>
LOG.append(LATER.ask())
...
<?LATER.put(<int>) || LATER.put(7) || LATER.drop() || LATER.drop()?>""",
    # ---------------------------------------------------------------- classes and what they say of their objects
    """LOG.append((Kind.k, KIND.k, Kind.__name__, Kind.of(), KIND.size, Kind.tag, KIND.stat(), type(KIND).k, Kind.__doc__))
<+T> = <T> * 2
...
<?Kind.k = <int> + 9 || KindBase.k = 12 || KIND.k = <int> + 14 || Kind.__name__ = 'Other' || KindMeta.of = lambda cls: 9 || Kind.size = 8 || KindMeta.tag = property(lambda cls: 'new') || Kind.stat = staticmethod(lambda: 9) || Kind.__doc__ = 'new' || Kind.size = property(lambda self: 15) || KindBase.stat = staticmethod(lambda: 10) || KindMeta.__call__ = lambda cls: 3 || Kind.tag = 11?>""",
    """LOG.append((CHAINED.up(), CHAINED.seen, CHAINED.both(), type(CHAINED).made(), CHAINED.plain()))
<+T> = <T> * 2
...
<?Low.up = lambda self: 11 || Middle.up = lambda self: super(Middle, self).up() + 100 || Low.seen = property(lambda self: 12) || Middle.seen = property(lambda self: 13) || Middle.both = lambda self: 14 || Low.made = classmethod(lambda cls: 15) || Low.k = 16 || Middle.k = 17 || del Low.both || Middle.made = classmethod(lambda cls: 18) || CHAINED.up = lambda: 19 || High.__bases__ = (Middle2,) || CHAINED.__class__ = Middle?>""",
    """# <a:?WIDE_ || WIDES[0]?>
LOG.append((<a>.made, <a>.data, <a>.note, <a>.cached, <a>.twice(2), <a>.slot, <a>.get_()))
<? || <a>.data = <int> || <a>.slot = <int> || <a>.note = 5?>
<+T> = <T> * 2
...
<?vars(<a>)['made'] = 31 || vars(<a>)['data'] = 32 || vars(<a>)['note'] = 33 || vars(<a>)['cached'] = 34 || <a>.slot = 35 || <a>.inner = 36 || Wide_.data.k = 37 || Wide_.__dict__['note'].k = 38 || vars(<a>)['twice'] = lambda n: 39 || vars(<a>).pop('cached', None) || Plus.__get__ = lambda self, of, cls=None: 40 || Wide_.made = property(lambda self: 41) || vars(<a>)['get_'] = lambda: 42?>""",
    """# <a:?ASKED || HOOKED.asked?>
LOG.append((<a>.own, <a>.given, getattr(<a>, 'absent', 3), hasattr(<a>, 'absent'), <a>.failing))
<+T> = <T> * 2
...
<?<a>.given = 51 || <a>.own = 52 || <a>.absent = 53 || Asked.__getattr__ = lambda self, name: name + '!' || Asked.given = 54 || <a>.failing = 55 || Asked.absent = None || Asked.own = 56 || Asked.table['given'] = 57 || del Asked.__getattr__
Asked.given = Asked.failing = 2?>""",
    """LOG.append((Planet.EARTH.mass, Planet.EARTH.value, Planet.EARTH.name, Planet.EARTH.double(), Planet('b').mass, Planet['SUN'] is Planet.SUN, [p.name for p in Planet], Planet.EARTH is HOOKED.planet))
<+T> = <T> * HOOKED.planet.mass
...
<?HOOKED.planet = Planet.SUN || Planet.EARTH.mass = <int> + 7 || HOOKED.planet = Planet.EARTH || Planet.SUN.mass = 9 || HOOKED.planet = Planet['SUN']?>""",
    """LOG.append((isinstance(LEAF, <?Animal || (int, Animal) || Leaf || LeafBase || int | Animal?>), issubclass(Leaf, Animal), isinstance(HOLDER.leaf, Sized__), callable(LEAF), isinstance(HOLDER.leaf, collections.abc.Sized), type(LEAF) is Leaf))
<+T> = <T> * 2
...
<?Animal.register(Leaf) || Animal.register(LeafBase) || LEAF.__class__ = LeafBase || LEAF.__class__ = Leaf || HOLDER.leaf = Times(1) || HOLDER.leaf = Leaf() || del LeafBase.__call__ || Sized__.wanted = <int>?>""",
    # ---------------------------------------------------------------- a large module: what a walk along its dictionaries sees to
    """# <m:?RICH || HOOKED.net || NETS[0] || NETS[1]?>
<+T> = <m>(<T>)
...
<m>.<?a.bias.data = torch.zeros(3) || a.bias = torch.nn.Parameter(torch.full((3,), 3.0)) || a = Part(3) || b.k = 9 || b.fn = HELPER2 || b.fn.__defaults__ = (6,) || b.act = torch.nn.ReLU() || b.act = None || b.__class__ = Part2 || a.forward = lambda t: t - 9 || forward = lambda t: t - 7 || extra = 5 || b.items[0] = 8 || b.set.add(9) || b.slot.v = 4 || b.pair = (1, 5) || b.table['z'] = 3?>""",
    """# <m:?RICH || HOOKED.net || NETS[0] || NETS[1]?>
<+T> = <m>(<T>)
...
<?<m>.register_forward_hook(lambda m, args, out: out * 3) || <m>.a.register_forward_pre_hook(lambda m, args: (args[0] * 3,)) || Part.forward = lambda self, t: t * 11 || Rich.scale = lambda self, t: t * 12 || <m>.scale = lambda t: t * 13 || Rich.forward.__defaults__ = (4,) || <m>.a.weight_.requires_grad_(not <m>.a.weight_.requires_grad) || <m>.double() || <m>.float() || <m>.a.training = not <m>.a.training || Part.k = 4 || del <m>.b.k || <m>.b.__dict__['late'] = 3 || NETS.reverse() || <m>.more.append(Part(5)) || <m>.more[0] = Part(6) || <m>.b.fn.__code__ = HELPER2.__code__ || <m>.b.fn.__kwdefaults__ = {'j': 6} || <m>.a._buffers['buf'] = torch.full((3,), 4.0) || <m>.b = <m>.a || <m>.a, <m>.b = <m>.b, <m>.a?>""",
    """<+T> = PARTS[0](<T>) + PARTS[1](<T>)
<?LOG.append(PARTS[0].k + PARTS[1].k) || PARTS[0].k += 0 || PARTS[0].items.append(<int>)
LOG.append(sum(PARTS[1].items)) || for part_ in PARTS:
    <+T> = part_(<T>)?>
...
<?PARTS[1] = PARTS[0] || PARTS.reverse() || PARTS[1].k = 8 || PARTS[0].act = PARTS[1].act || PARTS[0] = Part(4) || PARTS[1].items = PARTS[0].items || PARTS[0] = Part2(1) || PARTS[1] = Part2(2)?>""",
    # ---------------------------------------------------------------- functions of outside, and what they are made of
    """LOG.append((PARTIAL(1), PARTIAL.func is adding, PARTIAL.args, PARTIAL.keywords, str(HALF_.keywords)))
<? || PARTIAL.keywords['c'] = <int> || PARTIAL.mark = <int>?>
<+T> = PARTIAL(<T>)
...
PARTIAL<?.keywords['c'] = <int> + 5 || .__setstate__((adding, (6,), {}, None)) || .__setstate__((HELPER2, (), {}, None)) ||  = functools.partial(adding, 7, c=8) ||  = functools.partial(HELPER2, 9) || .keywords.clear() || .__setstate__((adding, (1, 2), {}, None)) || .mark = <int>?>""",
    """LOG.append(<?MOD.fn(2) || MOD.fn(MOD.k) || MOD.Class().go() || MOD.table['u'] || MOD.nested(1)?>)
<? || MOD.k = <int> || MOD.table['u'] = <int> || MOD.bump()?>
<+T> = MOD.fn(<T>) + len(MOD.table)
LOG.append(<?MOD.k || MOD.fn(2)?>)
...
MOD.<?k = <int> + 7 || k = 0 || fn = lambda t: t * 21 || Class.go = lambda self: 22 || table = {'u': 9, 'k': 3} || table['u'] = 8 || inner = lambda v: 23 || fn.__defaults__ = (24,) || Class.v = 25 || bump()?>""",
    """LOG.append((TAKEN.note, TAKEN.__name__, TAKEN.__doc__, TAKEN.__defaults__, str(TAKEN.__kwdefaults__), TAKEN.__module__ is None, hasattr(TAKEN, 'late'), HOLDER.method.__name__, Times.apply.__qualname__, TAKEN.__closure__[0].cell_contents))
<? || TAKEN.note = <int> || TAKEN.late = <int>?>
<+T> = <T> * 2
...
TAKEN.<?note = <int> + 5 || __name__ = 'other' || __doc__ = 'new' || __defaults__ = (7,) || __kwdefaults__ = {'j': 6} || late = 1 || __closure__[0].cell_contents = <int> + 11 || __dict__.pop('late', None)?>""",
    """<+T> = <?memoized(<int>) * <T> || known(1).t * <T> || <T> + len(known(<int>).log) || memoized(2) * <T> || <T> + (known(1) is known(1)) || <T> + (known(1) is known(2)) || known(1).put(<int>) + <T>?>
LOG.append(<?memoized(<int>) || memoized(1) || known(2).log || str(VAR_.get()) || (DEAD() is None) || VAR_.get()?>)
...
<?known.cache_clear() || memoized.cache_clear() || known(1).t = torch.full((3,), 4.0) || known(2).log.append(2) || FACTOR[0] = <int> || VAR_.set(<int> + 4) || DEADLY.clear() || VAR_.set([<int>])?>""",
    """LOG.append((VAR_.get(), DEAD() is None, LIVING() is LEAF, LIVING().v))
<+T> = <T> * 2
...
<?VAR_.set(<int> + 4) || VAR_.set(True) || DEADLY.clear() || DEADLY.append(LEAF) || LEAF.v = <int> + 9 || LEAF = Leaf()?>""",
    # ---------------------------------------------------------------- objects made here that leave, or cross a break
    """<a:+O> = <?deque([1, <int>], maxlen=2) || deque([1, <int>], 3) || deque(maxlen=2) || defaultdict(list, u=[<int>]) || defaultdict(lambda: <int>) || defaultdict(None, u=1) || Counter('aab') || OrderedDict(u=1, w=<int>) || Stack([1, <int>]) || Defaulting(u=<int>) || frozenset({1, <int>}) || bytearray(b'ab') || TaggedTuple((1, <int>)) || Pair(<int>, [2]) || Grades({1, 2}) || SimpleNamespace(v=<int>, l=[1])?>
<? || <a>.mark = <int> || same(<a>, <a>)?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item() || print(<int>)?>
LOG.append(probe(<a>))
<+T> = <T> * 2
<? || <a>.append(9) || <a>['q'] = 9 || <a>['new'] || <a>.late = <int>?>
STATE['made'] = <a>
<? || return <T>, <a>, [<a>]?>
...
LOG.append(probe(STATE['made']))
use(STATE['made'])
LOG.append(probe(STATE['made']))""",
    """<a:+F> = <?(lambda t, k=<int>, *, j=2: (t, k, j)) || functools.partial(adding, <int>, c=4) || functools.partial(functools.partial(adding, 1), b=<int>) || noted(<int>) || Times(<int>).apply || [1, <int>].append || {'u': <int>}.get || 'ab'.replace || functools.partial(Times(2).apply) || LEAF.cls_ || LEAF.stat || operator.itemgetter(0) || dict.fromkeys || torch.sin || staticmethod(HELPER2) || functools.wraps(adding)(lambda t: t * 2) || THINGS.p.put || type(LEAF).up || documented(<int>) || annotated(<int>)?>
<? || <a>.mark = <int> || <a>.keywords['c'] = 8 || <a>.__name__ = 'mine' || <a>.__kwdefaults__['j'] = 6?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
LOG.append(describe_(<a>))
<+T> = <T> * 2
STATE['made'] = <a>
<? || return <T>, <a>?>
...
LOG.append(describe_(STATE['made']))""",
    """<a:+O> = <?Slots(<T>, <int>) || SlotChild(<T>, <int>) || Leaf() || Temp(<int>) || Thing() || Counted(<T>) || Ver(<int>) || Point(<T>, <int>) || Lined(<int>) || Lined(<int>) || Watched_(<int>) || Once(<T>) || Left(<T>) || Half(<int>)?>
<? || <a>.more = [<int>] || <a>.n = <int> || <a>.mark = <T> || <a>.own = 5
del <a>.own || <a>.__dict__['odd key'] = 3 || vars(<a>)['up'] = <int>?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item() || STATE['twice'] = [<a>, <a>]?>
LOG.append((type(<a>).__name__, getattr(<a>, 'n', 'no'), getattr(<a>, 'more', 'no'), [*getattr(<a>, '__dict__', ())]))
<+T> = <T> * 2
STATE['made'] = <a>
<? || return <T>, <a>, [<a>]?>
...
LOG.append(([*getattr(STATE['made'], '__dict__', ())], type(STATE['made']).__name__, getattr(STATE['made'], 'n', 'no'), getattr(STATE['made'], 'more', 'no')))""",
    """<a:+LI> = [1, <int>]
<?<b:+O> = {'l': <a>, 'm': <a>} || <b:+O> = [<a>, [<a>]] || <b:+O> = (<a>, <a>) || <b:+O> = SimpleNamespace(l=<a>)
<b>.me = <b> || <b:+O> = [<a>]
<b>.append(<b>) || <b:+O> = {'l': <a>}
<b>['me'] = <b> || <b:+O> = (lambda v=<a>: v) || <b:+O> = deque([<a>, <a>]) || <b:+O> = functools.partial(adding, <a>) || <b:+O> = <a>.append || <b:+O> = Pair(<a>, <a>) || <b:+O> = defaultdict(lambda: <a>, l=<a>) || <b:+O> = lambda: <a> || <b:+O> = MyError(<a>) || <b:+O> = iter(<a>) || <b:+O> = OrderedDict(l=<a>) || <b:+O> = Stack([<a>])
<b>.of = <a> || <b:+O> = zip(<a>, <a>)?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
<?<a>.append(<int>) || <a>[0] = <int> + 7 || <a> += [3]?>
<+T> = <T> * len(<a>)
STATE['l'], STATE['m'] = <a>, <b>
<? || return <T>, <a>, <b>?>
...
STATE['l'].append(5)
LOG.append(str(probe(STATE['m'])))""",
    """<a:+D> = {'u': <int>, 'w': 2, 'z': 3}
<b:+O> = <?<a>.keys() || <a>.items() || <a>.values() || iter(<a>) || iter(<a>.items()) || reversed(<a>) || types.MappingProxyType(<a>) || (k * 2 for k in <a>) || reversed(<a>.items())?>
<? || <a>['k'] = 4 || <a>.pop('u') || LOG.append(len(<b>))?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
<? || <a>['q'] = 5 || <a>['u'] = 7?>
try:
    LOG.append([*<b>])
except RuntimeError as err:
    LOG.append(str(err))
<+T> = <T> * len(<a>)
STATE['v'], STATE['d'] = <b>, <a>
<? || return <T>, <b>, <a>?>""",
    """<a:+O> = <?MyError(<int>) || KeyError(<int>) || ValueError('u', <int>) || Detailed(<int>, why='so') || OSError('gone') || StopIteration(<int>) || AttributeError('u', name='v') || ImportError('u', name='v') || SystemExit(<int>) || AssertionError()?>
<? || <a>.note = <int> || <a>.__cause__ = KeyError(1) || <a>.args = (<int>, 2) || <a>.add_note('n') || <a>.code = 8?>
<? || """ + BREAK + """ || try:
    raise <a>
except Exception as err:
    LOG.append(err is <a>)?>
LOG.append((type(<a>).__name__, <a>.args, str(<a>), repr(<a>), repr(<a>.__cause__), [*vars(<a>)], getattr(<a>, 'name', 'no'), getattr(<a>, 'code', 'no'), getattr(<a>, 'value', 'no')))
<+T> = <T> * 2
STATE['made'] = <a>
<? || return <T>, <a>?>
...
LOG.append((STATE['made'].args, str(STATE['made']), [*vars(STATE['made'])], getattr(STATE['made'], 'name', 'no'), getattr(STATE['made'], 'value', 'no'), repr(STATE['made'].__cause__)))""",
    # several at once: what is lost of one hides nothing of the others
    """shared_ = [<int>]
<a:+LI> = [deque([1, 2], 2), deque([1], maxlen=3), defaultdict(list, u=1), defaultdict(lambda: <int>), OrderedDict(u=1, w=2), Stack([1, <int>]), Defaulting(u=<int>), frozenset({1, 2}), TaggedTuple((1, <int>)), Pair(<int>, shared_), Counter('aab'), SimpleNamespace(v=1, l=shared_), shared_, slice(1, <int>), {'u': shared_}, {1, 2}, range(2), (shared_,)]
<? || <a>[5].mark = <int> || <a>[11].mark = <a>[5] || <a>[6]['w'] = <int> || <a>[0].append(3)?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item() || <+T> = <T> * 3?>
<+T> = <T> * 2
STATE['made'] = <a>
...
LOG.append([use(e) or probe(e) for e in STATE['made']])""",
    """n_ = <int>
<a:+LI> = [lambda t, k=n_, *, j=2: (t, k, j, n_), noted(<int>), documented(<int>), functools.partial(adding, <int>, c=4), functools.partial(functools.partial(adding, 1, c=2), c=n_), Times(<int>).apply, LEAF.cls_, [n_].append, 'ab'.replace, lambda *p, **o: (p, o), dict.fromkeys, LEAF.up]
<? || <a>[0].mark = <int> || <a>[1].__name__ = 'mine' || n_ += 5 || <a>[2].late = <a>[0]?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item() || <+T> = <T> * 3?>
LOG.append(str((<a>[0](1), <a>[0](1, 5, j=3), <a>[3](1), <a>[4](1), <a>[4](2, c=3), <a>[9](1, z=2))))
<+T> = <T> * 2
STATE['made'] = <a>
...
LOG.append([describe_(e) for e in STATE['made']])""",
    """<a:+LI> = [Slots(<T>, <int>), Leaf(), Temp(<int>), Lined(<int>), Half(<int>), Ver(<int>), Point(<T>, <int>), Left(<T>), MyError(<int>), KeyError('u', <int>), Detailed(<int>, why='so'), SimpleNamespace(n=1)]
<a>[1].more, <a>[11].of = <a>[3], <a>[1]
<? || <a>[1].mark = <T> || <a>[8].note = <int> || <a>[8].__cause__ = <a>[9] || <a>[3].odd = <a>[3].more || <a>[9].args = (<int>,)?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item() || <+T> = <T> * 3?>
LOG.append([(type(e).__name__, getattr(e, 'n', 'no'), [*getattr(e, '__dict__', ())], getattr(e, 'args', 'no'), str(getattr(e, 'code', 'no')), repr(getattr(e, '__cause__', 0))) for e in <a>])
<+T> = <T> * 2
STATE['made'] = <a>
...
LOG.append([(type(e).__name__, getattr(e, 'n', 'no'), [*getattr(e, '__dict__', ())], getattr(e, 'args', 'no'), str(getattr(e, 'code', 'no')), repr(getattr(e, '__cause__', 0))) for e in STATE['made']])""",
    # ---------------------------------------------------------------- operators of classes: who is asked, in which order
    """# <b:?Op(6) || Op(7, False) || SubOp(8, False) || 5 || [2]?>
<a:+O> = <?Op(1) || Op(2, False) || SubOp(3) || SubOp(4, False) || OPS[0] || InPlace(5) || InPlace(6) || OPS[1] || (1, 2) || 'u' || 7?>
<c:+O> = <a>
try:
    <a> <?+= || -= || +=?> <b>
except TypeError as err:
    LOG.append('no')
LOG.append((<a> is <c>, str(<a>), str(<c>)))
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- methods of containers: what they return, what they leave
    """<a:+LI> = <?[3, 1, 2] || [3, 1, 2, 1] || items || GL || Stack([3, 1, 2, 1]) || LISTS.p || [1, True, 1.0] || [2, 1, 2]?>
try:
    LOG.append(<?<a>.pop() || <a>.pop(0) || <a>.pop(-2) || <a>.insert(-1, 9) || <a>.insert(99, 9) || <a>.index(1) || <a>.index(1, 2) || <a>.remove(1) || <a>.remove(8) || <a>.sort(key=lambda e: -e) || <a>.sort(reverse=True) || <a>.extend((7, 8)) || <a>.extend(e for e in [5, 6]) || <a>.__setitem__(slice(None, None, 2), [8] * len(<a>[::2])) || <a>.__setitem__(slice(1, 1), [8, 9]) || <a>.__setitem__(slice(0, 2), ()) || <a>.__delitem__(slice(None, None, 2)) || <a>.__delitem__(-1) || <a>.__imul__(2) is <a> || <a>.__iadd__((4,)) is <a> || <a>.copy() is <a> || <a>.count(1) || <a>.reverse() || <a>.clear() || <a>[-2:] || <a>[::-2] || <a>.__add__([4]) || <a>.__mul__(0) || <a>.__contains__(2) || [*<a>.__reversed__()] || <a>.__eq__((3, 1, 2)) || <a>.__lt__([3, 2]) || <a>.append([]) || <a>.index(2, -1) || sorted(<a>, reverse=True) || <a>.__getitem__(True)?>)
except (ValueError, IndexError) as err:
    LOG.append(str(err))
LOG.append((type(<a>).__name__, [*<a>]))
<+T> = <T> * 2""",
    """<a:+Q> = <?deque([3, 1, 2]) || deque([3, 1, 2], maxlen=3) || deque([3, 1], maxlen=3) || deque([3, 1, 2], maxlen=2) || deque([], maxlen=0) || BAGS.queue || BAGS.bounded || STATE.setdefault('q', deque([1, 2], 2)) || STATE.setdefault('q', deque([1, 2], 2))?>
try:
    LOG.append(<?<a>.append(5) || <a>.appendleft(5) || <a>.extend([5, 6]) || <a>.extendleft([5, 6]) || <a>.rotate(1) || <a>.rotate(-1) || <a>.rotate() || <a>.pop() || <a>.popleft() || <a>.insert(1, 5) || <a>.remove(1) || <a>.index(1) || <a>.reverse() || <a>.copy().maxlen || (<a> + deque([9])).maxlen || (<a> * 2).maxlen || <a>.__iadd__([7]) is <a> || <a>.__imul__(2) is <a> || <a>.clear() || <a>.count(1) || <a>.maxlen || (<a> == [3, 1, 2]) || (<a> == deque([3, 1, 2])) || <a>[-1] || <a>.__setitem__(0, 9) || <a>.__delitem__(0) || [*reversed(<a>)] || (1 in <a>) || copy.copy(<a>).maxlen || deque(<a>).maxlen || deque(<a>, 1) == deque([2])?>)
except (ValueError, IndexError) as err:
    LOG.append(str(err))
<? || """ + BREAK + """ || <a>.append(6) || <a>.appendleft(7)?>
LOG.append((<a>.maxlen, [*<a>]))
<+T> = <T> * 2
STATE['q'] = <a>
...
<?STATE['q'].append(8) || STATE['q'] = deque([1, 2], 2) || STATE['q'] = deque([1, 2]) || STATE['q'].clear() || BAGS.swap()?>""",
    """<a:+D> = <?{'u': 1, 'w': 2, 'z': 3} || OrderedDict(u=1, w=2, z=3) || defaultdict(int, u=1, w=2) || Counter(u=1, w=2) || Defaulting(u=1, w=2) || table || STORE || GD || DICTS.p || BAGS.default || BAGS.counts || {1: 1, 'u': 2}?>
try:
    LOG.append(str(<?<a>.pop('u') || <a>.pop('q', None) || <a>.pop('q') || <a>.popitem() || <a>.setdefault('q') || <a>.setdefault('u', 9) || <a>.update([('u', 8), ('q', 7)]) || <a>.update({'w': 8}, v=7) || <a>.update(<a>) || <a>.get('q') || <a>.get('q', <int>) || <a>['q'] || <a> | {'u': 9, 'v': 8} || {'v': 8, 'u': 9} | <a> || (<a>.__ior__({'v': 3}) is <a>) || <a>.__ior__([('v', 3)]) || type(<a> | {}) || <a>.copy() || type(<a>.copy()) || <a>.fromkeys('ab') || <a>.fromkeys(['u'], []) || [*reversed(<a>)] || (<a> == {'w': 2, 'u': 1, 'z': 3}) || (<a> == OrderedDict(w=2, u=1, z=3)) || <a>.keys() & {'u', 'q'} || <a>.keys() - ['u'] || sorted(<a>.keys() | ['q']) || (('u', 1) in <a>.items()) || (1 in <a>.values()) || <a>.keys().isdisjoint(['q']) || (<a>.keys() == {'u', 'w', 'z'}) || <a>.__delitem__('u') || <a>.__delitem__('q') || <a>.__contains__('u') || <a>.setdefault('u') || <a>.clear() || {**<a>} || [*zip(<a>, <a>.values())] || dict(<a>, u=5) || sorted(<a>, key=<a>.get)?>))
except KeyError as err:
    LOG.append(err.args)
<?<a>['k'] = <int> || <a>['u'] = <a>.pop('u', 4) || LOG.append(len(<a>)) || <a>.update(u=3)?>
LOG.append((type(<a>).__name__, [*<a>.items()]))
<+T> = <T> * 2""",
    """<a:+D> = <?OrderedDict(u=1, w=2, z=3) || STORE || OrderedDict([('u', 1), ('w', 2)])?>
LOG.append(<?<a>.move_to_end('u') || <a>.move_to_end('w', last=False) || <a>.popitem(last=False) || <a>.popitem() || <a>.move_to_end('w', False) || (<a> == OrderedDict(w=2, u=1, z=3)) || (<a> == {'w': 2, 'u': 1, 'z': 3}) || [*reversed(<a>)] || [*reversed(<a>.items())] || <a>.popitem(False) || type(<a> | {'q': 1}).__name__ || str(<a>) || <a>.pop('u', 5)?>)
<?<a>['u'] = 9 || <a>['q'] = 9 || del <a>['w']
<a>['w'] = 7 || <a>.update(z=8) || <a>.move_to_end('w')?>
LOG.append([*<a>.items()])
<+T> = <T> * 2
...
<?STORE.move_to_end('w') || STORE.move_to_end('z', False) || STORE.update(u=1) || STORE.clear()
STORE.update(u=1, w=2, z=3)?>""",
    """<a:+D> = {<?1: 'u', True: 'w' || 0.0: 1, -0.0: 2 || True: 1, 1.0: 2 || (1, 2): 3, (True, 2.0): 4 || None: 1, 0: 2 || Num.ONE: 1, 1: 2 || LEAF: 1, KEY: 2 || frozenset({1}): 1, frozenset({True}): 2 || float('inf'): 1, float('inf'): 2 || int: 1, bool: 2 || (KEY, 1): 1, (KEY, True): 2 || b'u': 1, 'u': 2 || 1j: 1, 1: 2?>}
<?<a>[True] = <int> || <a>[1] = <int> || <a>[0.0] = <int> || <a>[(1.0, 2)] = <int> || <a>[1] = <a>.pop(True, 5) || <a>.setdefault(True, 5) || LOG.append(<a>.get(1.0)) || LOG.append(True in <a>) || <a>.update({1.0: 4}) || LOG.append(<a>.get(KEY)) || <a> |= {1.0: 4}?>
LOG.append([(str(k) if not hasattr(k, 'apply') and k is not LEAF else 'o', v) for k, v in <a>.items()])
LOG.append((len(<a>), [type(k).__name__ for k in <a>], len({*<a>, 1, True}), [*{*<a>, True, 1}][:0]))
<+T> = <T> * 2
STATE['d'] = <a>""",
    """<a:+S> = <?{1, 2} || {3, 1, 2} || set() || frozenset({1, 2}) || Grades({1, 2}) || BAGS.set || BAGS.frozen || STATE.setdefault('s', {1, 5})?>
try:
    LOG.append(<?<a>.add(5) || <a>.discard(1) || <a>.discard(9) || <a>.remove(9) || sorted(<a> | {7}) || sorted(<a> & {1, 9}) || sorted(<a> - {1}) || sorted(<a> ^ {1, 9}) || sorted(<a>.union([7], (8,))) || sorted(<a>.difference([1])) || sorted(<a>.symmetric_difference([1, 9])) || <a>.issubset([1, 2, 3]) || <a>.issuperset([1]) || <a>.isdisjoint([9]) || (<a> <= {1, 2}) || (<a> < {1, 2}) || (<a> == frozenset({1, 2})) || (<a> != {1}) || <a>.update([7], [8]) || <a>.intersection_update([1]) || <a>.difference_update([1]) || <a>.symmetric_difference_update([1, 9]) || <a>.clear() || (<a>.copy() is <a>) || type(<a> | {1}).__name__ || type(<a>.copy()).__name__ || (1.0 in <a>) || (True in <a>) || (<a> >= {True}) || len(<a>) || <a>.update(e + 6 for e in [1, 2]) || <a>.__ior__({4}) is <a> || <a>.__isub__(<a>) || <a>.__or__([1]) is NotImplemented || (<a> == [1, 2]) || sorted(<a>.intersection({1: 2})) || sorted({9} | <a>) || type({9} | <a>).__name__ || type(frozenset() | <a>).__name__ || hash(frozenset({1})) == hash(frozenset({True})) || <a>.update('ab') || [*map(type, <a>)] == [int] * len(<a>)?>)
except (KeyError, AttributeError) as err:
    LOG.append((type(err).__name__, str(err)))
<? || """ + BREAK + """ || <~O> = 1?>
LOG.append((type(<a>).__name__, sorted(map(str, <a>))))
<+T> = <T> * 2
STATE['s'] = <a>
...
<?STATE['s'] = {1, 5} || STATE['s'] = {True, 5} || STATE['s'] = frozenset({1, 5}) || STATE['s'] = {1, 2, 5} || BAGS.put(1, 5) || BAGS.put(1, 2.0)?>""",
    """<a:+LL> = [(1, 'a'), (0, 'b'), (1, 'c'), (0, 'd')]
try:
    LOG.append(<?sorted(<a>, key=lambda e: e[0]) || sorted(<a>, key=lambda e: e[0], reverse=True) || sorted(<a>, reverse=True) || max(<a>, key=lambda e: e[0]) || min(<a>, key=lambda e: e[0]) || sorted(<a>, key=lambda e: heard(e)[0]) || max(<a>, key=lambda e: heard(e)[1]) || <a>.sort(key=lambda e: -e[0]) || sorted(<a>, key=lambda e: (e[0], -ord(e[1]))) || sorted([Op(2), Op(1), Op(3)])[0].n || max(Op(1), Op(2)).n || <a>.sort(key=lambda e: 1 // e[0]) || sorted([3, 'u', 1]) || min([2, 1, 3], key=lambda e: -e) || max([], default=None) || max([], default=[1]) || min('ab', 'aa') || max([1, True], key=lambda e: 0) is True || sorted([True, 1, 0, False]) || sorted([0.0, -0.0]) || [1, 2] < [1, 2, 0] || sorted({'u': 2, 'w': 1}.items(), key=operator.itemgetter(1)) || [e for e in sorted([LEAF, LEAVES[1]], key=lambda e: e.v)][0] is LEAF || sorted([2, 1], key=functools.cmp_to_key(lambda p, q: q - p)) || sorted(telling([2, 1])) || max(telling([1, 3, 2]), default=0) || bisect.bisect([1, 2, 2, 3], 2) || bisect.bisect_left([1, 2, 2, 3], 2) || heapq.nsmallest(2, [3, 1, 2]) || bisect.insort(items, 2)?>)
except (TypeError, ZeroDivisionError, AttributeError) as err:
    LOG.append(type(err).__name__)
LOG.append([*<a>])
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- iterators: how far, in which order
    """<a:+It> = telling([1, <int>, 3])
<b:+It> = <?telling([4, 0, 6, 7]) || telling([4]) || telling([])?>
try:
    LOG.append([*itertools.islice(<?zip(<a>, <b>) || zip(<b>, <a>) || zip(<a>, <b>, strict=True) || itertools.chain(<a>, <b>) || map(heard, <a>, <b>) || itertools.zip_longest(<a>, <b>) || itertools.zip_longest(<b>, <a>, fillvalue='none') || filter(None, <b>) || enumerate(<a>, <int>) || itertools.starmap(heard, zip(<a>, <b>)) || itertools.pairwise(<a>) || itertools.takewhile(lambda e: e < 3, <a>) || itertools.dropwhile(lambda e: e > 3, <b>) || itertools.filterfalse(lambda e: e > 3, <b>) || itertools.accumulate(<a>) || itertools.accumulate(<a>, lambda p, q: p * q, initial=5) || itertools.chain.from_iterable([<a>, <b>]) || itertools.islice(<b>, 1, None, 2) || itertools.cycle(<b>) || itertools.product(<a>, <b>) || itertools.permutations(<b>, 2) || itertools.combinations(<b>, 2) || itertools.repeat(<a>, 2) || zip(<a>, <a>) || (heard(p) for p in <a>) || map(heard, <a>) || itertools.chain(<b>, (e for e in <a>)) || itertools.batched(<a>, 2) || itertools.groupby(<a>) || itertools.compress(<a>, <b>) || itertools.tee(<a>)[0]?>, <?2 || 9 || 0 || 1?>)])
except (ValueError, TypeError, AttributeError) as err:
    LOG.append((type(err).__name__, str(err)))
LOG.append((next(<a>, 'end'), [*<b>]))
<+T> = <T> * 2""",
    """# <a:?COUNTING || STATE.setdefault('it', iter([1, <int>, 3, 4, 5, 6])) || KEPT_GEN || STATE.setdefault('z', zip([1, 2, 3, 4], [5, 6, 7, 8])) || STATE.setdefault('m', map(heard, [1, 2, 3, 4]))?>
LOG.append(next(<a>, 'end'))
<+T> = <T> * 2
<?LOG.append(next(<a>, 'end')) || for item_ in <a>:
    LOG.append(item_)
    break || LOG.append([*itertools.islice(<a>, 2)]) || pass?>
<+T> = <T> * 3
...
<?next(<a>, None) || pass || pass?>""",
    """def <a:+FI>(n):
    LOG.append('begun')
    try:
        got = yield n
        LOG.append(str(got))
        <?yield n + 1 || yield from [n + 1, n + 2] || return n || yield got || raise MyError(n) || n = yield n + 5?>
    <?except MyError as err:
        LOG.append('my')
        yield err.code || except GeneratorExit:
        LOG.append('exit')
        raise || finally:
        LOG.append('over') || except (KeyError, MyError):
        return 8?>
<b:+It> = <a>(<int>)
<? || LOG.append(next(<b>)) || LOG.append(next(<b>))
LOG.append(next(<b>, 'end'))?>
<? || """ + BREAK + """?>
try:
    LOG.append(<?<b>.send(None) || <b>.send(<int>) || <b>.throw(MyError(3)) || <b>.throw(KeyError) || <b>.close() || next(<b>) || [*<b>] || <b>.throw(StopIteration(4)) || sum(<b>)?>)
    LOG.append(<?next(<b>, 'end') || <b>.send(4) || <b>.close() || <b>.throw(MyError(5)) || [*<b>] || <b>.close()?>)
except Exception as err:
    LOG.append((type(err).__name__, str(err), repr(err.__cause__), repr(err.__context__)))
LOG.append(next(<b>, 'end'))
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- the order in which parts are evaluated
    """<a:+D> = {'u': [1, 2], 'w': SimpleNamespace(v=<int>, l=[3])}
try:
    <?heard(<a>)[heard('u')][heard(0)] += heard(5) || heard(<a>['w']).v += heard(3) || <a>[heard('q')] = heard(1) || <a>[heard('u')], <a>[heard('w')] = heard(1), heard(2) || <a>['u'][heard(0)], *<a>['u'][heard(1):] = heard([7, 8, 9]) || del <a>[heard('u')], <a>[heard('q')] || <a>[heard('q')] += heard(1) || heard(<a>['w']).l += heard([4]) || heard(<a>['w']).q += heard(4) || <a>['u'][heard(5)] = heard(3) || <a>['u'][heard(0)] = 1 // (heard(0)) || for <a>['u'][heard(0)] in [heard(4), heard(5)]:
        LOG.append(<a>['u'][0]) || with Ctx('p') as <a>['p'], Ctx('q') as <a>[heard('q')]:
        LOG.append('in') || <a>['u'] += <a>['u'] || <a>['p'] = <a>['q'] = heard([]) || (<a>['p'], <a>['q']), <a>['r'] = heard([1, 2]), 3 || <a>['u'][:] = (heard(e) for e in <a>['u']) || assert heard(0), heard('why') || heard(<a>['w']).l[heard(0)] -= heard(1) || <a>['u'][1:1] = heard((5, 6)) || <a> |= heard({'u': 3}) || heard(<a>['u'])[heard(-1)] *= heard(3)?>
except (KeyError, AttributeError, ZeroDivisionError, IndexError, AssertionError) as err:
    LOG.append((type(err).__name__, str(err)))
LOG.append(str(<a>))
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- calls: arguments, defaults, what stars take
    # ---------------------------------------------------------------- writes to objects of outside: what is replayed, in which order, past which methods
    """# <a:?OUT.list || OUT.stack || OUT.traced?>
<?<a>.append(<int>) || <a>.extend([<T>, 2]) || <a>.insert(0, [<int>]) || <a>[0] = <int> + 7 || <a>[:] = [<int>] || <a>.clear() || <a>.pop() || <a>.reverse() || <a> += [3] || <a>.sort() || <a>.remove(1) || del <a>[1:] || <a>[5:] = <a> || LOG.append(len(<a>))
<a>.append(1) || <a>.append(<a>)?>
<? || LOG.append(len(<a>)) || """ + BREAK + """ || <a>.append(4) || LOG.append(OUT.more is <a>)?>
<+T> = <T> * 2
LOG.append(str(<a>[:1]))
...
OUT.<?swap() || list.append(8) || reset() || stack.clear() || more = OUT.list || more = OUT.traced?>""",
    """# <a:?OUT.dict || OUT.ordered || OUT.default || OUT.tdict || OUT.counts || OUT.missing?>
<?<a>['k'] = <int> || <a>['u'] = <T> || <a>.pop('u', None)
<a>['u'] = <int> || <a>.update(w=5, q=<int>) || <a>.clear() || <a>.setdefault('q', [])
<a>['q'] = [<int>] || del <a>['w'] || <a>.popitem() || <a>['new'] = <a>['absent'] if hasattr(type(<a>), '__missing__') else 5 || <a> |= {'u': 3, 'r': 4} || <a>['me'] = <a> || <a>['u'] = <a>['w'] = <a>['q'] = 9 || <a>['z'] = 1
del <a>['z'] || <a>.update({}) || <a>['w'] = <a>.pop('u')?>
<? || LOG.append(len(<a>)) || """ + BREAK + """ || <a>['r'] = [4] || LOG.append(<a>.get('k'))?>
<+T> = <T> * 2
LOG.append([*<a>])
<? || OUT.default.default_factory = <?list || None || lambda: <int>?>?>
...
<?OUT.reset() || <a>['q'] = 8 || <a>.pop('u', None) || LOG.append(str(OUT.default.default_factory)[:12])
OUT.default['fresh'] || LOG.append(OUT.default['fresh2'])?>""",
    """# <a:?OUT.thing || OUT.lined || OUT.temp || OUT.watched || OUT.fields || OUT.wide || OUT.module?>
<?<a>.n = <int> || <a>.n = <T> || <a>.deg = <int> + 8 || <a>.size = <int> || <a>.data = <int> || <a>.z, <a>.n = 1, 2 || <a>.__dict__['n'] = 5 || <a>.__dict__['data'] = 6 || vars(<a>).update(q=<int>, n=3) || setattr(<a>, 'odd name', <int>) || <a>.n = <a> || object.__setattr__(<a>, 'n', 8) || <a>.note = 7 || <a>.b = 1
<a>.c = 2
del <a>.b
<a>.b = 3 || <a>.l = [<int>]
OUT.list.append(<a>.l) || <a>.n = <int>
<a>.n = 4 || <a>.fn = lambda t: t * <int> || <a>.n = OUT.thing || <a>.x, <a>.y = <T>, <T> + 1?>
<? || """ + BREAK + """ || LOG.append(getattr(<a>, 'n', 'none') is None) || <a>.after = 5 || LOG.append([*vars(<a>)])?>
<+T> = <T> * 2
<?LOG.append(hasattr(<a>, 'n')) || LOG.append(str(getattr(<a>, 'n', 5))[:3])?>
...
<?LOG.append([*vars(<a>)]) || OUT.reset() || vars(<a>).pop('n', None) || vars(<a>)['n'] = 11?>""",
    """LOG.append(str(OUT.thing.seen))
<?OUT.list.append(<int>)
OUT.dict['k'] = OUT.list
OUT.thing.v = OUT.dict || OUT.thing.seen = OUT.list = [<int>]
OUT.list.append(OUT.thing.seen) || kept_ = [<int>]
OUT.dict['a'], OUT.thing.v = kept_, kept_
kept_.append(5) || OUT.list.append(OUT)
OUT.thing.v = OUT.list || OUT.thing, OUT.lined = OUT.lined, OUT.thing
OUT.lined.n = <int> || kept_ = SimpleNamespace(v=<int>)
kept_.me = kept_
OUT.dict['k'] = OUT.list[0] = kept_ || OUT.thing.v = Leaf()
OUT.thing.v.w = <T>
OUT.thing.v.own = OUT.thing || kept_ = OUT.dict.pop('u')
OUT.thing.v = kept_, OUT.dict || OUT.set.add(<int>)
OUT.list[0] = OUT.set || OUT.queue.append(<int>)
OUT.queue.append(OUT.dict) || OUT.dict.clear()
OUT.list.clear()
OUT.dict['l'] = OUT.list || OUT.thing.v = OUT.default['fresh']
OUT.thing.v.append(<int>) if OUT.thing.v == [] else None || OUT.list[:] = OUT.list[::-1]
OUT.stack[:] = OUT.list || OUT.thing.seen += OUT.thing.seen
OUT.list = OUT.thing.seen || OUT.fill = lambda v, into=OUT.list: into.append(v)
OUT.fill(<int>)?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
<+T> = <T> * 2
LOG.append(str(OUT.thing.seen))
...
<?OUT.list.append(3) || OUT.reset() || pass?>""",
    """global NEW_, LIMITS
<?NEW_ = <int> || NEW_ = <T> || NEW_ = 1
del NEW_ || LIMITS = {'low': <int>} || NEW_ = lambda v: v + GN
LOG.append(NEW_(<int>)) || LIMITS['low'] = <int>
NEW_ = LIMITS || def NEW_(v, k=[]):
    k.append(v)
    return k
LOG.append(str(NEW_(<int>))) || NEW_ = GL
GL = [<int>] || GN = GT = <int> || for NEW_ in range(3):
    pass || MOD.k = <int>
NEW_ = MOD.fn(2) || LIMITS |= {'top': <int>} || MOD.late = <int>
MOD.k += 1 || del MOD.inner
MOD.inner = abs || import math as NEW_ || with Ctx('g') as NEW_:
    LOG.append('in')?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
try:
    LOG.append(str(NEW_)[:9])
except NameError as err:
    LOG.append('none')
LOG.append((len(LIMITS), MOD.k))
<+T> = <T> * 2
...
<?globals().pop('NEW_', None) || globals()['NEW_'] = <int> || LIMITS['low'] = 7 || MOD.k = 3 || pass?>""",
    """<?TAKEN.note = <int> || TAKEN.late = [<int>] || TAKEN.__doc__ = 'new' || TAKEN.__name__ = 'new' || TAKEN.__dict__['odd'] = 3 || PARTIAL.mark = <int> || vars(PARTIAL)['mark'] = 4 || PARAM.mark = <int> || TAKEN.__closure__[0].cell_contents = <int> + 3 || KNOWN_ERROR.code = <int> || KNOWN_ERROR.args = (<int>,) || KNOWN_ERROR.__cause__ = KeyError(1) || del TAKEN.note
TAKEN.note = 8 || LATER.put(<int> + 8) || LATER.drop() || TAKEN.note += 0 || KNOWN_ERROR.late = [<int>] || LATER.put([<T>, <int>])?>
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
LOG.append((TAKEN.note, TAKEN.__doc__, TAKEN.__name__, getattr(PARAM, 'mark', 'no'), TAKEN(1), KNOWN_ERROR.code, getattr(PARTIAL, 'mark', 'no'), str(LATER.get(4))))
<+T> = <T> * 2
...
<?TAKEN.note = 5 || LATER.put(3) || LATER.drop() || KNOWN_ERROR.code = 4 || pass || PARAM.mark = 1?>""",
    # ---------------------------------------------------------------- objects of the program's own ways, made and looked at here
    """<a:+O> = <?Asked() || Wide_() || Fields(<int>) || Temp(<int>) || Proxy(Leaf()) || Watched(<T>) || Lined(<int>) || Once(<T>) || Leaf() || SimpleNamespace(own=1) || Cell_(<T>) || Borg(<int>)?>
try:
    LOG.append(str(<?<a>.given || <a>.failing || <a>.absent || <a>.own || <a>.made || <a>.cached + <a>.cached || <a>.note || <a>.data || <a>.twice(1) || <a>.size || <a>.deg || <a>.__class__.__name__ || <a>.__doc__ || <a>.secret || <a>.__dict__.get('own') || type(<a>).__mro__[1].__name__ || <a>.empty || <a>.value.sum() > 0 || hasattr(<a>, 'failing') || getattr(<a>, 'absent', <int>) || dir and <a>.__module__[:2] || <a>.n || isinstance(<a>, Asked) || <a>.__init__.__name__ || <a>.v || vars(<a>).keys() >= {'own'} || <a>.up.__self__ is <a> || <a>.up.__func__ is Leaf.up || <a>.up == <a>.up || (<a> == <a>, <a> != <a>) || <a> in [1, <a>] || <a>.__eq__(3) is NotImplemented || <a>.stat is Leaf.stat || <a>.cls_.__self__.__name__ || getattr(<a>, 'scaled_').sum() > 0 || <a>.k || bool(<a>) || <a>.__hash__ is None?>))
except AttributeError as err:
    LOG.append((str(err), err.name, err.obj is <a>))
<?<a>.given = 4 || <a>.own = 5 || <a>.data = 6 || <a>.cached = 7 || <a>.size = <int> || <a>.deg = 12 || del <a>.own || <a>.__dict__ = {'own': 8, 'inner': 9} || <a>.__class__ = LeafBase || <a>.up = abs || <a>.note = 3 || del <a>.absent || <a>.failing = 9 || object.__delattr__(<a>, 'own') || <a>.__dict__.clear()?>
LOG.append(str([getattr(<a>, name, 'no') for name in ('given', 'own', 'data', 'inner', 'size', 'deg', 'note', 'failing', 'w')]))
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- output: when, in which order, with what
    """out_ = io_.StringIO()
with contextlib.redirect_stdout(out_):
    print('inside', <int>)
    <? || """ + BREAK + """ || <+T> = <T> * 3?>
    print('again')
print('outside')
LOG.append(out_.getvalue())
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- errors: what is raised, seen, kept, let go
    """def <a:+F>(t):
    <?try:
        return t + 1
    finally:
        LOG.append('finally') || try:
        raise KeyError(1)
    except KeyError:
        return t * 2
    finally:
        LOG.append('over') || try:
        return t
    finally:
        return t * 3 || for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
        finally:
            LOG.append(i) || while True:
        try:
            return t
        finally:
            break || try:
        raise MyError(1)
    except MyError as err:
        kept = err
    try:
        err
    except UnboundLocalError:
        LOG.append('unbound')
    LOG.append(str(kept)) || with Ctx('a'), Ctx('b', swallow=True):
        raise KeyError(2)
    LOG.append('swallowed') || with Ctx('a', swallow=True):
        with Ctx('b'):
            raise KeyError(3) || try:
        try:
            raise KeyError(1)
        finally:
            raise MyError(2)
    except MyError as err:
        LOG.append(repr(err.__context__)) || try:
        raise MyError(1) from None
    except MyError as err:
        LOG.append((err.__suppress_context__, repr(err.__cause__))) || try:
        raise KeyError
    except (TypeError, KeyError) as err:
        LOG.append((err.args, err.__traceback__ is None)) || try:
        raise KeyError(1)
    except LookupError as err:
        try:
            raise
        except KeyError as again:
            LOG.append(again is err) || try:
        assert not t.dim(), ('why', 2)
    except AssertionError as err:
        LOG.append(err.args) || try:
        t.nothing
    except AttributeError as err:
        LOG.append(str(err)) || try:
        pass
    except KeyError:
        LOG.append('never')
    else:
        LOG.append('else')
    finally:
        LOG.append('last') || with Exits() as e:
        raise e?>
    return t * 5
<+T> = <a>(<T>)
<? || <+T> = <a>(<T>)?>""",
    """try:
    <?raise KNOWN_ERROR || raise KNOWN_ERROR from KeyError(2) || raise MyError || raise Detailed(1, why='w') || raise type('u', (ValueError,), {})(1) || raise 5 || raise KeyError(1) from 5 || with contextlib.suppress(KeyError) as s_:
        {}['u']
    LOG.append(s_) || with Ctx2_() as c_:
        1 // 0 || with 5:
        pass || with forgiving():
        raise MyError(<int>) || with managed(2) as m_:
        raise MyError(m_) || with contextlib.ExitStack() as stack_:
        stack_.callback(LOG.append, 'called')
        stack_.enter_context(Ctx('s'))
        raise KeyError(<int>) || raise next(e for e in [MyError(4)]) || raise StopIteration(3) || raise SystemError || picky(99) || retry(99).__next__() || linked(1) || again(99) || raise BaseException(1) || raise GeneratorExit || raise (KeyError, 5)?>
except (Exception, GeneratorExit) as err:
    LOG.append((type(err).__name__, err.args, repr(err.__cause__), repr(err.__context__), err.__suppress_context__, isinstance(err, ValueError), err is KNOWN_ERROR))
except BaseException as err:
    LOG.append('base')
<? || LOG.append(repr(sys.exc_info()[1]))?>
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- a break in the midst of something
    """<a:+D> = {'u': [1, 2], 'w': Leaf()}
<?<a>['u'][broken(0)] += 3 || <a>['w'].v = broken(4) || <a>[broken('q')] = <T> || <a>['u'][0], b_ = broken([1, 2])
LOG.append(b_) || del <a>[broken('u')] || for e_ in broken([1, 2]):
    LOG.append(e_) || with broken(Ctx('b')) as c_:
    LOG.append(c_) || with Ctx('c'), broken(Ctx('d')):
    <+T> = <T> * 3 || if broken(1) and broken(0):
    LOG.append('both')
else:
    LOG.append('else') || while broken(len(<a>)) > 1:
    <a>.popitem() || try:
    broken(1) // 0
except ZeroDivisionError as err:
    LOG.append(str(err)) || try:
    LOG.append('try')
finally:
    LOG.append(broken(1)) || def in_(v=broken(2), *, w=broken(3)):
    return v, w
LOG.append(in_()) || match broken([1, {'k': 2}]):
    case [1, {'k': v_}]:
        LOG.append(v_) || p_, *q_ = broken([1, 2, 3])
LOG.append(q_) || assert broken(1), 'why' || <a>['w'].own += broken(3) || g_ = (broken(e) for e in [1, 2])
LOG.append(next(g_))
""" + BREAK + """
LOG.append([*g_]) || LOG.append([v_ * broken(2) for v_ in [1, 2] if broken(v_) > 1]) || try:
    raise broken(MyError(2))
except MyError as err:
    LOG.append(err.code) || with Ctx('r', swallow=True):
    raise broken(KeyError(1)) || for e_ in [1, 2]:
    if broken(e_) == 2:
        break
else:
    LOG.append('not reached') || k_ = lambda: <a>
""" + BREAK + """
<a> = {'u': 5}
LOG.append(k_()) || with torch.no_grad():
    <+T> = y * broken(2)
    LOG.append(torch.is_grad_enabled()) || try:
    with Ctx('i'):
        broken(1)
        raise MyError(broken(3))
except MyError as err:
    LOG.append(err.args) || <a>['u'] += broken([3])?>
LOG.append(str([*<a>]))
<+T> = <T> * 2""",
    """v1_, v2_, v3_, v4_, v5_, v6_, v7_, v8_, v9_ = range(9)
<? || def in_(k):
    nonlocal v1_
    v1_ += k
    return v1_ + v9_ || in_ = lambda k: v2_ + k || del v3_?>
<?""" + BREAK + """ || <+float> = <T>.sum().item() || for v4_ in range(2):
    """ + BREAK + """ || print(v5_) || with Ctx('m'):
    """ + BREAK + """
    v6_ += 1?>
w1_, w2_, w3_, w4_, w5_, w6_, w7_, w8_ = v9_, v8_, v7_, v6_, v5_, v4_, v2_, v1_
<? || v1_, v2_ = v2_, v1_ || w1_ += w2_ || LOG.append(in_(2) if 'in_' in [*[]] else 0)?>
<? || """ + BREAK + """?>
try:
    LOG.append(v3_)
except UnboundLocalError as err:
    LOG.append('unbound')
LOG.append((v1_, v2_, v4_, v5_, v6_, v7_, v8_, v9_, w1_, w2_, w3_, w4_, w5_, w6_, w7_, w8_))
<+T> = <T> * w1_""",
    """<+T> = <?Brk(<int>).one(<T>) || Brk(<int>).two(<T>, 1, k=2, z=3) || Brk(<int>).three(<T>) || Brk.four(<T>) || Brk(<int>).five(<T>) || BRK.one(<T>) || BRK.three(<T>) || BRK.two(<T>, *[4], z=5) || Brk(<int>)(<T>) || Brk(<int>).six(<T>) || Brk(2).seven(<T>) || BRK.six(<T>)?>
LOG.append(str(vars(BRK)))""",
    # ---------------------------------------------------------------- switches of torch: who sets them, who sees them, who puts them back
    """# <w:?torch.set_grad_enabled(MODES[0]) || torch.no_grad() || torch.autocast('cpu', dtype=CASTS[0]) || torch.autocast('cpu', enabled=MODES[0]) || torch.enable_grad()?>
<?with <w>:
    LOG.append(modes_())
    <+T> = y * <T> || with <w>:
    with torch.autocast('cpu', enabled=False):
        LOG.append(modes_())
    LOG.append(modes_()) || @<w>
def held_(t):
    LOG.append(modes_())
    return t * y
LOG.append(held_(<T>).requires_grad) || with <w>:
    try:
        raise KeyError(1)
    except KeyError:
        LOG.append(modes_()) || try:
    with <w>:
        <+T> = <T> * 3
        {}['k']
except KeyError:
    LOG.append(modes_()) || with <w>, torch.no_grad():
    torch.set_grad_enabled(True)
    LOG.append(modes_()) || mode_ = <w>
if hasattr(mode_, '__enter__'):
    mode_.__enter__()
    LOG.append(modes_())
    mode_.__exit__(None, None, None) || for e_ in [1, 2]:
    with <w>:
        LOG.append(modes_())
        if e_ == 1:
            continue || def gen_():
    with <w>:
        yield modes_()
    yield modes_()
LOG.append([*gen_()]) || torch.set_grad_enabled(MODES[0])
LOG.append(modes_())
<+T> = y * 5
torch.set_grad_enabled(True)?>
LOG.append((modes_(), (y * 2).requires_grad))
<+T> = y * <T>
...
<?MODES.reverse() || CASTS.reverse() || pass?>""",
    """with <w:?torch.set_grad_enabled(MODES[0]) || torch.autocast('cpu', dtype=CASTS[0]) || torch.autocast('cpu', enabled=MODES[0]) || torch.inference_mode(MODES[0]) || (Tells() if MODES[0] else contextlib.nullcontext()) || torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH) || torch.autograd.graph.saved_tensors_hooks(heard, heard) if MODES[0] else contextlib.nullcontext()?>:
    <?""" + BREAK + """ || LOG.append(broken(<int>)) || <+float> = y.detach().sum().item()?>
    <?made_ = torch.ones(3) + 1 || made_ = y * 2 || made_ = torch.eye(3) @ torch.ones(3, 3)?>
    LOG.append((str(made_.device), str(made_.dtype), made_.requires_grad, modes_()))
    <? || """ + BREAK + """ || <+float> = y.detach().sum().item()?>
LOG.append(modes_())
<+T> = y * <T>
...
<?MODES.reverse() || MODES.reverse() || CASTS.reverse()?>""",
    """<? || GT.mul_(1) || <+T> = <T> * 3?>
LOG.append((modes_(), <?torch.is_grad_enabled() || torch.is_autocast_enabled('cpu') || str(torch.get_autocast_dtype('cpu')) || str(torch.get_default_dtype()) || torch.is_autocast_cache_enabled() || torch.backends.cuda.math_sdp_enabled() || torch.is_anomaly_enabled() || torch._C._get_cudnn_enabled()?>))
<?torch.set_autocast_cache_enabled(<bool>)
LOG.append(torch.is_autocast_cache_enabled()) || torch._C._set_grad_enabled(False)
LOG.append(modes_())
torch._C._set_grad_enabled(True) || with torch.autocast('cpu', cache_enabled=False):
    LOG.append(torch.is_autocast_cache_enabled()) || pass?>
torch.set_autocast_cache_enabled(True)
<+T> = torch.ones(3) * <T>
...
<?torch.set_autocast_cache_enabled(not torch.is_autocast_cache_enabled()) || torch.backends.cuda.enable_math_sdp(not torch.backends.cuda.math_sdp_enabled()) || torch.set_grad_enabled(not torch.is_grad_enabled()) || torch.set_anomaly_enabled(not torch.is_anomaly_enabled()) || torch.set_autocast_dtype('cpu', torch.float16 if torch.get_autocast_dtype('cpu') is torch.bfloat16 else torch.bfloat16)?>""",
    """<+T> = torch.sin(<T>) + torch.nn.functional.softplus(<T>) + NOTED.seq(<T>).detach() + <T>.tanh()
LOG.append((math.floor(1.6), string.capwords(<str>), operator.add(2, 3), [*itertools.pairwise([1, 2])], Counter('ab').most_common(1), heapq.nlargest(1, [1, 2])))
...
<?patch(math, 'floor', math.ceil) || patch(torch, 'sin', torch.cos) || patch(torch.nn.ReLU, 'forward', lambda self, t: t * 9) || patch(torch.nn.functional, 'softplus', torch.exp) || patch(torch.Tensor, 'tanh', torch.Tensor.exp) || patch(string, 'capwords', lambda v: 'mine') || patch(Counter, 'most_common', lambda self, n: n) || patch(heapq, 'nlargest', lambda n, v: v) || patch(torch.nn.Sequential, 'forward', lambda self, t: t - 7) || unpatch() || unpatch()?>""",
    # ---------------------------------------------------------------- tensors: which are one object, share memory, know their history
    """<a:+T> = <?x || y || box.t || <T>.clone() || torch.ones(3) || GT || x.detach() || x[:2] || torch.ones(2, 3)?>
<b:+O> = <?<a>.view(-1) || <a>.float() || <a>.contiguous() || <a>.to(torch.float32) || <a>.clone() || <a>.detach() || <a>.reshape(<a>.shape) || <a>[...] || <a>[:] || <a>.T || <a>.expand(<a>.shape) || <a>.data || <a>.add(0) || <a>.to('cpu') || <a>.type(torch.float32) || <a>.squeeze() || <a>.requires_grad_(<a>.requires_grad) || torch.as_tensor(<a>) || <a>.flatten() || torch.stack([<a>])[0] || <a>.unbind(0)[0] || torch.atleast_1d(<a>) || <a>.real || <a>.mul(1) || torch.broadcast_to(<a>, <a>.shape) || copy.copy(<a>) || +<a> || <a>.as_strided(<a>.shape, <a>.stride()) || torch.dropout(<a>, 0.0, False) || <a>.chunk(1)[0] || <a>.to(<a>) || torch.nn.Identity()(<a>) || <a>.squeeze(0).unsqueeze(0)[0] || <a>.half().float()?>
LOG.append((<b> is <a>, <b>.requires_grad, tuple(<b>.shape), <b>.stride(), <b>.is_contiguous()))
<? || <b>.detach().add_(1) || with torch.no_grad():
    <b>.mul_(2) || """ + BREAK + """ || <+float> = <b>.detach().sum().item()?>
<+T> = <b>.sum() * <T>
STATE['a'], STATE['b'] = <a>, <b>
<? || return <T>, <a>, <b>, <a>.detach()?>
...
<?STATE['b'].detach().add_(3) || GT.add_(1) || pass?>""",
    """<a:+T> = <?<T>.clone() || torch.ones(3) || x || box.t || GT || torch.arange(3.0)?>
<b:+T> = <a>
try:
    <?<a> += 1 || <a> *= <T> || <a>[0] = <float> || <a>[1:] = <a>[:-1].clone() || <a>[<a> > 0] = <float> || <a>[[0, 2]] = torch.tensor([7.0, 8.0]) || <a>[torch.tensor([True, False, True])] += 1 || <a>.add_(<T>).mul_(2) || torch.add(<a>, 1, out=<a>) || <a>.data = <a>.data * 3 || <a>.copy_(<T>) || <a>[...] = 5 || <a>[None, 1] = 4 || <a> /= 2 || <a> -= <a> || <a> **= 2 || <a>[-1] += <a>[0] || <a>.view(3, 1)[0] = 9 || <a>.fill_(<float>) || <a>.index_add_(0, torch.tensor([0, 0]), torch.ones(2)) || <a>.scatter_(0, torch.tensor([1]), 6.0) || <a>.masked_fill_(<a> > 0, 2) || <a>.unsqueeze_(0).squeeze_(0) || <a>.clamp_(0, 1) || <a>[::2] *= 3 || <a>.swapaxes_(0, 0) || <a>.sub_(<T>, alpha=2) || <a> = <a> + 1 || <a> //= 2 || <a>.zero_().add_(y.detach()) || <a>[1] = y[0].detach() || <a>.t_() || torch.relu_(<a>) || torch.nn.functional.relu(<a>, inplace=True) || <a>.set_(torch.ones(3)) || <a>.resize_(2) || <a>.add_(y)?>
except (RuntimeError, IndexError) as err:
    LOG.append(type(err).__name__)
LOG.append((<a> is <b>, <a>.requires_grad, tuple(<a>.shape)))
<+T> = <a>.sum() + <b> + <T>
STATE['a'], STATE['b'] = <a>, <b>
...
<?STATE['a'].detach().add_(1) || pass?>""",
    """<a:+O> = <?torch.max(<T>.view(-1), 0) || torch.ones(2, 3).max(1) || torch.ones(3).sort() || <T>.view(-1).topk(1) || torch.ones(3).split(1) || torch.ones(3).chunk(2) || torch.ones(2, 3).unbind() || torch.ones(2, 3).shape || <T>.size() || torch.ones(3).unique(return_counts=True) || torch.std_mean(torch.ones(3)) || torch.broadcast_tensors(<T>, torch.ones(3)) || torch.meshgrid(torch.ones(2), torch.ones(3), indexing='ij') || torch.linalg.qr(torch.eye(2)) || torch.where(torch.ones(3) > 0) || torch.aminmax(<T>) || torch.ones(2, 3)[0].shape + (1,) || torch.frexp(torch.ones(2)) || torch.tensor_split(torch.ones(3), 2) || torch.ones(2, 3).stride() || torch.ones(1, 3).shape[1:] || torch.linalg.slogdet(torch.eye(2))?>
LOG.append((type(<a>).__name__, len(<a>), isinstance(<a>, tuple), isinstance(<a>, torch.Size), hasattr(<a>, 'values'), [type(e).__name__ for e in <a>], type(<a>[:1]).__name__, type(<a> * 2).__name__, type(<a>[0]).__name__, hasattr(<a>, 'numel'), <a>[0] is <a>[0]))
<? || """ + BREAK + """ || <+float> = <T>.sum().item()?>
first_, *rest_ = <a>
LOG.append((type(<a>).__name__, type(rest_).__name__))
<+T> = <T> + first_
STATE['a'] = <a>
<? || return <T>, <a>, first_?>
...
LOG.append(type(STATE['a']).__name__)""",
    """# <p:?PARAM || NOTED.weight || y || NET.scale?>
<?LOG.append((isinstance(<p>, torch.nn.Parameter), type(<p>).__name__, <p>.is_leaf, <p>.requires_grad, <p>.grad_fn is None)) || LOG.append([type(v).__name__ for v in (<p> * 2, <p>.detach(), <p>.data, <p>[0], <p>.clone())]) || with torch.no_grad():
    <p>.add_(1) || with torch.no_grad():
    <p>.copy_(<p> * 2)
    LOG.append(<p>.requires_grad) || <p>.data.mul_(2) || <p>.grad = torch.ones(3)
<p>.grad.add_(1) || <p>.grad = None
LOG.append(<p>.grad is None) || kept_ = <p>.detach()
with torch.no_grad():
    <p>.mul_(3)
LOG.append((kept_ is <p>, kept_.requires_grad)) || LOG.append(torch.is_tensor(<p>)) || LOG.append((<p>.grad is <p>.grad, <p>.grad is None)) || <p>.grad = <p>.grad || if <p>.grad is not None:
    with torch.no_grad():
        <p>.sub_(<p>.grad, alpha=0.5) || kept_ = <p>.grad
<p>.grad = None
LOG.append(kept_ is None)?>
<+T> = <p> * <T>
LOG.append(getattr(<p>, 'tag', 'no'))
...
<?<p>.grad = torch.full((3,), 2.0) || <p>.grad = None || <p>.data = torch.full((3,), 4.0) || <p>.grad = torch.ones(3) if <p>.grad is None else None || <p>.tag = 3 || pass?>""",
    # ---------------------------------------------------------------- functions with gradients of their own
    """<a:+T> = <?y || y * 2 || <T> || PARAM * 1 || y.detach()?>
<+O> = got_ = <?Own.apply(<a>, SCALES[0]) || Own.apply(<a>, <float>) || Multi.apply(<a>, <T>) || Multi.apply(y, PARAM) || Setup.apply(<a>, <int>) || Same.apply(<a>) || Unused.apply(<a>, y) || Own.apply(Own.apply(<a>, 2.0), 3.0)?>
<b:+T> = got_[0] if isinstance(got_, tuple) else got_
LOG.append((isinstance(got_, tuple), <b> is <a>, <b>.requires_grad))
<? || (<b> * 2).sum().backward() || <b> = <b> * y || with torch.no_grad():
    LOG.append(Own.apply(y, 2.0).requires_grad)?>
<+T> = <b> * y
...
<?SCALES[0] = <int> + 5.0 || SCALES[1] = <int> + 6.0 || Own.power = 4 || Own.backward = staticmethod(lambda ctx, g: (g * 11, None)) || SCALES.reverse()?>""",
    """<+T> = <?torch.utils.checkpoint.checkpoint(lambda t: t * y * SCALES[0], <T>, use_reentrant=False) || torch.utils.checkpoint.checkpoint(scaled_twice, <T>, y, use_reentrant=False) || torch.utils.checkpoint.checkpoint(scaled_twice, y, by=<int>, use_reentrant=False) || sum(torch.utils.checkpoint.checkpoint(lambda t: (t * 2, t + y), y, use_reentrant=False)) || torch.nn.functional.dropout(y, 0.5, training=MODES[0]) || torch.utils.checkpoint.checkpoint(NOTED, y, use_reentrant=False) || torch.nn.functional.dropout(y, 0.5, MODES[0]) + torch.nn.functional.dropout(y, 0.5, not MODES[0])?>
LOG.append(<T>.requires_grad)
...
<?SCALES[0] = <int> + 5.0 || SCALES.reverse() || MODES.reverse()?>""",
    """<+T> = (<?-1 || -2.0 || -<int> || 2 || <float>?>) <?** || - || / || * || % || //?> (<T> + <?0 || 1?>)
LOG.append(<T>.dtype)""",
    # ---------------------------------------------------------------- numbers and arrays of NumPy
    """<a:+O> = <?np.float32(1.5) || np.float64(2.5) || np.int64(3) || np.array([1.0, 2.0, 3.0]) || np.arange(3) || NPS[0] || NPV[0] || np.bool_(True) || np.float16(2) || np.int8(-2) || np.uint64(3) || np.zeros(3, dtype=np.float32)?>
try:
    <+T> = <?<T> * float(<a>.sum()) || torch.tensor(<a>) + <T> || torch.as_tensor(<a>) * <T> || <T> + torch.from_numpy(np.asarray([1.0, 2.0, 3.0])) || <T> * <a> || <a> ** <T> || torch.arange(3) * <a> || torch.tensor([<a>, <a>]).sum() + <T> || torch.full((3,), <a>) || <T> + int(np.prod([2, 3])) || <T> * np.sqrt(4.0) || torch.tensor(NPV[0]) + <T>?>
except (TypeError, RuntimeError, ValueError) as err:
    LOG.append(type(err).__name__)
LOG.append((type(<a>).__name__, str(<a>), str(<a> + 1), type(<a> + 1).__name__, str(<a>.dtype), type(<a> * 2.0).__name__, type(<a>.sum()).__name__, str(<a> > 2), getattr(<a>, 'shape', 'no')))
<? || """ + BREAK + """ || STATE['np'] = <a> || <+float> = <T>.sum().item()?>
LOG.append(type(<a>).__name__)
<+T> = <T> * 2
...
<?NPS[0] = NPS[1] || NPS[0] = 1.0 || NPV[0][0] = 5 || NPV[0] = np.ones(3) || NPS[0] = NPS[2] || NPS[0] = NPS[-1] || pass?>""",
    # ---------------------------------------------------------------- text
    # ---------------------------------------------------------------- patterns
    """match <?[1, <int>, 3] || (1, 2) || {'u': <int>, 'w': 2} || LEAF || Point(<T>, <int>) || Vec(<T>, <int>) || Pair(<T>, <int>) || 'ab' || <int> || None || True || 1.0 || b'ab' || OrderedDict(u=1) || deque([1, 2]) || range(2) || Planet.EARTH || Box(<int>, <T>) || <T> || [] || Fixed(<int>) || Stack([1, 2]) || Text('u') || {'u': {'w': [1]}} || types.MappingProxyType({'u': 4}) || Defaulting(w=1)?>:
    case [1, e_, *r_]:
        LOG.append((e_, r_))
    case {'u': {'w': [e_]}, **r_} | {'u': [e_], **r_}:
        LOG.append(('deep', e_, r_))
    case {'u': int(e_), **r_}:
        LOG.append((e_, r_))
    case {'w': e_}:
        LOG.append(('w', e_))
    case Leaf(own=e_, v=1):
        LOG.append(e_)
    case Point(n=e_) | Box(value=e_):
        LOG.append(('n', e_))
    case Vec(_, e_) | Pair(_, b=e_):
        LOG.append(('vec', e_))
    case str('ab' | 'u' as e_):
        LOG.append(('str', e_))
    case Planet.EARTH:
        LOG.append('planet')
    case None | True:
        LOG.append('one of')
    case bool() | 3:
        LOG.append('bool')
    case int(e_) | float(e_) if e_ > <int>:
        LOG.append(('number', e_))
    case torch.Tensor(shape=e_):
        LOG.append(('tensor', e_))
    case [] | ():
        LOG.append('empty')
    case (_, e_):
        LOG.append(('two', e_))
    case e_:
        LOG.append(type(e_).__name__)
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- names: scopes, cells, comprehensions
    """e_, k_ = <int>, 'k'
<?LOG.append([e_ for e_ in [1, 2]]) || fs_ = [lambda: e_ for e_ in [1, 2]]
LOG.append([fn() for fn in fs_]) || fs_ = [lambda e_=e_: e_ for e_ in [1, 2]]
LOG.append([fn() for fn in fs_]) || fs_ = []
for e_ in [1, 2]:
    fs_.append(lambda: e_)
LOG.append([fn() for fn in fs_]) || def in_():
    def deep():
        nonlocal k_
        k_ += 'x'
        return k_
    return deep() + k_
LOG.append(in_()) || LOG.append({e_: [e_ for e_ in 'ab'] for e_ in [1]}) || def in_(e_=e_):
    e_ += 5
    return e_
LOG.append((in_(), in_(1), e_)) || def in_():
    yield e_
    yield e_
it_ = in_()
LOG.append(next(it_))
e_ = 77
LOG.append(next(it_)) || it_ = (v * e_ for v in [1, 2])
e_ = 10
LOG.append([*it_]) || def in_(n):
    return n if n < 2 else in_(n - 1) * n
kept_, in_ = in_, lambda n: 5
LOG.append(kept_(4)) || LOG.append([y_ := e_, [y_ := v for v in [3, 4]], y_]) || del e_
try:
    e_
except UnboundLocalError:
    e_ = 'unbound' || def in_(*, n=[e_]):
    n.append(k_)
    return n
LOG.append([*in_()])
LOG.append(in_() is in_()) || def make_():
    n = e_
    def up():
        nonlocal n
        n += 1
        return n
    return up, lambda: n
up_, get_ = make_()
up2_, get2_ = make_()
LOG.append((up_(), up_(), up2_(), get_(), get2_())) || in_ = lambda *p, q=k_, **o: (p, q, o)
k_ = 'changed'
LOG.append(in_(1, r=2)) || for e_, k_ in zip([1, 2], 'ab'):
    pass
LOG.append(e_) || def in_(fn, n):
    return fn(fn, n)
LOG.append(in_(lambda fn, n: 1 if n < 2 else n * fn(fn, n - 1), 4)) || import math as k_
k_ = k_.pi || with Ctx('s') as k_:
    e_ = k_ || try:
    1 // 0
except ZeroDivisionError as e_:
    k_ = str(e_)
e_ = 'gone'?>
<? || """ + BREAK + """?>
LOG.append((e_, k_))
STATE['fn'] = lambda: (e_, k_)
<? || e_ = 'last'?>
<+T> = <T> * 2
...
LOG.append(STATE['fn']())""",
    # ---------------------------------------------------------------- classes: methods of all kinds, through object, class and super()
    """# <k:?{'b': 5} || {'b': 5, 'c': 6} || OrderedDict(c=6, b=5) || Asks(1) || {} || Defaulting(b=7) || types.MappingProxyType({'b': 8}) || ChainMap({'c': 1}, {'b': 2})?>
try:
    LOG.append(str(<?adding(2, **<k>) || takes_all(1, 2, 3, k=4, **<k>) || takes_all(*[1], *(2, 3), z=1, **<k>) || takes_all(*iter([1, 2]), **<k>) || (lambda *p, **o: (p, o))(*'ab', **<k>) || (lambda p, /, **o: (p, o))(1, p=2, **<k>) || takes_all(**<k>) || functools.partial(adding, 1, **<k>)(c=9) || functools.partial(takes_all, 1, k=2)(5, k=3, **<k>) || dict(<k>, q=1) || (lambda p, q=[], *, k=None: (p, q, k))(1) || keeps(1) || (keeps(2), keeps(3)) || adding(1, *[2], c=3) || adding(*(1, 2, 3)) || takes_all(k=None) || takes_all(*()) || (lambda *, b=1, c: (b, c))(c=3, **{}) || type('u', (), {}) and 1 || adding(1, b=5, **<k>) || Point(<T>, **{'n': 3}).n || Pair(**{'b': 1, 'a': 2}) || (lambda self, cls: (self, cls))(self=1, cls=2) || print(*'ab', **{'sep': '-'})?>))
except TypeError as err:
    LOG.append('no')
<+T> = <T> * 2
<?LOG.append(keeps(<int>)) || pass?>""",
    """<?print(<int>, 'u', sep='-') || print('u', end='') || print() || print(*[1, 'u', None, 2.5], sep='') || print([1, {'u': (2,)}], {3}) || print('at', end=';', flush=True) || print(f'{<float>:.1f}', <bool>) || print(<LI>) || print(Asks(3)) || print('u\\n', 'w') || print(None, sep=None, end=None) || print(torch.float32, <T>.shape) || print(1, file=None) || noisy(<int>) || print(print('in')) || [print(e) for e in [1, 2]] || print(-0.0, 1e20, 1j) || print(LIMITS) || print(items) || items.append(9)
print(items)
items.pop()?>
<? || OUT.list.append(<int>) || LOG.append('between') || """ + BREAK + """ || GL.append(3)?>
<+T> = <T> * 2
<?print('then', <int>) || if <T>.sum() > <float>:
    print('more') || try:
    print('last', 1 // 0)
except ZeroDivisionError:
    print('caught') || for e in [1, 2]:
    print(e, <T>.dim())?>""",
    # ---------------------------------------------------------------- what is printed, when it was printed
    """<a:+O> = <?[1] || {'u': 1} || [[1]] || [1, <int>] || {1} || Leaf()?>
for <b:.int> in (2, 3):
    <?touch(<a>) || vars(<a>)['w'] = <b> || <a>.v = <b> || <a>[0].append(<b>) || <a>[<b>] = 'w' || <a>.appendleft(<b>) || <a>.update({<b>: 0}) || <a>.add(<b>)?>
    <?print(<a>) || print('seen', <a>, <b>) || print({'u': <a>}) || print((<a>, <b>)) || print([<a>], sep='') || print(str(<a>)) || print(*[<a>, <b>]) || print(<a>)?>
    <+T> = <T> * <b>
<? || """ + BREAK + """ || <a> = 3 || touch(<a>)?>""",
    # ---------------------------------------------------------------- what a generator returns, however little it is
    """def <a:+FI>(n):
    yield n
    <? || if n > 1:
        return <float>
    yield n + 1?>
    return <?0 || False || [] || () || '' || 0.0 || {} || None || -0.0 || set() || n || <T>?>
def <b:+FI>():
    back = yield from <a>(<int>)
    LOG.append((str(back), back is None))
    yield 'then'
<?LOG.append([*<b>()]) || for item_ in <b>():
    LOG.append(item_) || LOG.append(len(list(<b>()))) || <c:+It> = <a>(1)
LOG.append([*zip(<c>, 'abc')])?>
<d:+It> = <a>(2)
try:
    while True:
        LOG.append(next(<d>))
except StopIteration as err:
    LOG.append((str(err.value), len(err.args)))
<+T> = <T> + 1""",
    # ---------------------------------------------------------------- generators left half way
    """def <a:+FI>(n):
    <?yield 0 || pass || yield from (0, 5) || if n > 1:
        yield 0?>
    <?try:
        yield 1
        yield 2
    finally:
        LOG.append('closed') || with Ctx('left'):
        yield 1
        yield 2 || try:
        yield 1
        yield 2
    except GeneratorExit:
        LOG.append('exit')
        raise || for item_ in (1, 2):
        try:
            yield item_
        finally:
            LOG.append(('over', item_)) || try:
        yield 1
    except ValueError:
        yield 7
    finally:
        LOG.append('done')
    yield 2?>
    <?yield 3 || LOG.append('end') || return 4?>
<?for got_ in <a>(<int>):
    LOG.append(got_)
    if got_ == <?0 || 1 || 1 || 2 || 3?>:
        break || it_ = <a>(1)
LOG.append(next(it_))
LOG.append(next(it_, 'end'))
<?del it_ || it_ = None || it_.close() || STATE['left'] = it_ || pass?> || LOG.append([e for e, _ in zip(<a>(<int>), range(<?1 || 2 || 3?>))]) || LOG.append(any(e == <?0 || 1 || 2?> for e in <a>(2))) || first_, second_, *_ = <a>(3) || def leaves_():
    for e in <a>(2):
        if e:
            return e
LOG.append(leaves_()) || LOG.append(next(iter(<a>(2)))) || LOG.append(1 in <a>(3))?>
LOG.append('after')
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- iterators that have ended stay so
    """<a:+O> = <?[1, 2] || [1, 2] || [2] || [7] || [3, 4] || [9] || deque([1, 2]) || [] || Stack([1, 2]) || GL?>
<b:+It> = <?iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || iter(<a>) || enumerate(<a>) || zip(<a>, [7, 8, 9, 10, 11]) || map(lambda e: e + 1, <a>) || (e for e in <a>) || filter(None, <a>) || itertools.chain(<a>) || reversed(<a>) || itertools.islice(<a>, 9)?>
<?LOG.append([*<b>]) || for item_ in <b>:
    LOG.append(item_) || LOG.append(sum(1 for _ in <b>)) || while next(<b>, None) is not None:
    pass || LOG.append(any(False for e in <b>)) || LOG.append(99 in <b>) || LOG.append([next(<b>, 'end'), next(<b>, 'end'), next(<b>, 'end'), next(<b>, 'end')])?>
<? || """ + BREAK + """ || STATE['ended'] = <b>?>
<a>.extend([5, 6, 7, 8])
LOG.append(<?[*<b>] || next(<b>, 'end') || list(zip(<b>, 'ab')) || [e for e in <b>] || sum(1 for _ in <b>)?>)
<+T> = <T> * 2""",
    # ---------------------------------------------------------------- what folding made is made anew at each call
    """<a:+T> = <?torch.tensor(np.ones(3)) || torch.as_tensor(np.arange(3)) || torch.from_numpy(np.zeros(3)) || torch.tensor(np.float32(2)) || torch.asarray(np.full(3, 2.0)) || torch.tensor(np.array([1.0, 2.0])) || torch.tensor(np.int64(<int>))?>
LOG.append(str(<a>))
STATE['made'] = <a>
<? || || <a>.mul_(2) || """ + BREAK + """?>
<+T> = <T> * 2
...
touch(STATE.get('made', STATE))""",
    """<a:+O> = <?'q k v'.split() || 'u-w'.split('-') || b'u w'.split() || 'u w'.rsplit() || 'a-b'.rsplit('-', 1) || 'u\\nw'.splitlines() || sorted('ba') || name.split() || 'a b'.split(None, 1)?>
LOG.append(str(<a>))
STATE['made'] = <a>
<?touch(<a>) || pass || pass || """ + BREAK + """?>
<+T> = <T> * len(<a>)
...
touch(STATE.get('made', STATE))""",
    """<a:+O> = <?sorted((3, 1, 2)) || list('ab') || dict(zip('ab', (1, 2))) || re.findall('[a-z]', 'a1b') || re.split(',', 'u,w') || json.loads('[1, {"u": 2}]') || set('aa') || [*range(3)] || list(map(str, (1, 2))) || copy.copy([1, 2]) || copy.deepcopy([[1]]) || dict.fromkeys('ab', 1) || Counter('aab') || [1, 2] * 2 || [1] + [2] || list(divmod(7, 2)) || [*map(ord, 'ab')] || sorted({'u': 1, 'w': 2}) || [e for e in (1, 2)] || vars(SimpleNamespace(u=1)) || list({'u': 1}.items()) || bytearray(b'ab') || math.modf(2.5) and [2.5] || itertools.chain([1]).__reduce__() and [1] || functools.reduce(lambda p, q: p + q, ([1], [2])) || list(itertools.accumulate((1, 2))) || heapq.nsmallest(2, (3, 1, 2)) || operator.add([1], [2])?>
LOG.append(str(<a>))
STATE['made'] = <a>
<?touch(<a>) || pass || pass || """ + BREAK + """?>
<+T> = <T> * len(<a>)
...
touch(STATE.get('made', STATE))""",
    # ---------------------------------------------------------------- how an argument came about
    """LOG.append((<?y.is_leaf || y.is_leaf, x.is_leaf || y.is_leaf, y.requires_grad || y.is_leaf and y.requires_grad || y.grad_fn is None || (y * 2).is_leaf, y.is_leaf || y.is_leaf, y.grad is None || isinstance(y, torch.nn.Parameter), y.is_leaf || y.retains_grad, y.is_leaf?>))
<+T> = <?y * 2 || y if y.is_leaf else y * 3 || y.detach() if not y.is_leaf else y + 1 || x * y || y * 2?>
...
a.y = <?a.y * 2 || a.y * 3 || a.y.sin() || a.y.detach() || a.y.clone() || a.y.detach().clone().requires_grad_() || torch.nn.Parameter(a.y.detach().clone()) || a.y + 0 || a.y.detach().exp()?>""",
    # ---------------------------------------------------------------- random numbers drawn again where they are recomputed
    """def <a:+FI>(t, *rest):
    <?return torch.nn.functional.dropout(t * 2, 0.5) || return t * torch.rand(3) || t = t * torch.rand(3)
    return torch.nn.functional.dropout(t, 0.5) + sum(rest) || return torch.rand_like(t) * t * t || return t * torch.bernoulli(torch.full((3,), 0.5))?>
<+T> = torch.utils.checkpoint.checkpoint(<a>, <?y || y * 2 || y, 3?>, use_reentrant=False<? || , preserve_rng_state=True || , determinism_check='none'?>)
<? || || <+T> = <T> * torch.rand(3)?>""",
    # ---------------------------------------------------------------- three things, of which two may be one
    """# <d:?TRIO || FLOATS || LEAVES || FLOATS?>
<?if <d>.p is <d>.q:
    LOG.append('first')
if <d>.p is <d>.r:
    LOG.append('second') || LOG.append((<d>.p is <d>.q, <d>.p is <d>.r)) || LOG.append((<d>.p is <d>.q) + 2 * (<d>.p is not <d>.r)) || LOG.append([<d>.r is <d>.p, <d>.q is <d>.p, <d>.r is <d>.q]) || LOG.append(<d>.q is <d>.r or <d>.p is <d>.r)?>
<+T> = <T> * 2
...
<d>.turn(<?3 || 3 || 1 || 2?>)""",
    """<?if x is <a:?tens[0] || tens[1] || y?>:
    LOG.append('x is the first')
if x is <b:?tens[1] || tens[-1] || y?>:
    LOG.append('x is the second')
if y is tens[1]:
    LOG.append('y') || LOG.append((x is y, x is tens[0], x is tens[1], y is tens[1])) || LOG.append([e is x for e in (y, *tens)]) || LOG.append((items is table, y is x, any(e is y for e in tens)))?>
<+T> = <T> * 2
...
<?a.tens[0] = a.y || a.tens[1] = a.x || a.y = a.x || a.tens.reverse() || a.tens[1] = a.y || a.x = a.tens[1] || a.tens.append(a.x)?>""",
    # ---------------------------------------------------------------- instances that are there already
    """<a:+O> = <?Known('u') || Known('w') || Known.of('u')?>
LOG.append((<a>.uses, <a>.name, <a> is Known('u')))
<?<a>.uses += 5 || <a>.extra = <int> || pass || LOG.append(sorted(Known.known))?>
<+T> = <T> * <a>.uses
...
<?Known('u') || Known.known.clear() || Known.known.pop('u', None) || Known.known['u'] = object.__new__(Known)?>""",
    # ---------------------------------------------------------------- which handler it is
    """try:
    <?raise LookupError(<int>) || raise Exception('u') || raise ArithmeticError || raise LookupError || raise ValueError(3) || raise OSError || raise KeyError('q') || [][2] || 1 // 0 || raise UnicodeError('u')?>
except <?(KeyError, ZeroDivisionError, FileNotFoundError, UnicodeError) || (KeyError, ZeroDivisionError, UnicodeError) || KeyError || ZeroDivisionError || IndexError?>:
    LOG.append('narrow')
except <?LookupError || ArithmeticError || (OSError, LookupError) || ValueError || Exception?> as err:
    LOG.append(('middle', repr(err)))
except Exception as err:
    LOG.append(('wide', repr(err)))
else:
    LOG.append('none')
<+T> = <T> * 2""",
]

# ---------------------------------------------------------------- many small questions: several in one program
QUESTIONS = [
    """# <a:?Op(1) || Op(2, False) || SubOp(3) || SubOp(4, False) || 5 || [1] || 'u' || 2.5?> <b:?Op(6) || Op(7, False) || SubOp(8) || SubOp(9, False) || SubOp(9) || 5?>
try:
    LOG.append(str(<?<a> + <b> || <a> - <b> || <b> + <a> || <a> < <b> || <a> == <b> || <a> != <b> || <a> >= <b> || <b> - <a> || <b> in [<a>] || max(<a>, <b>) || sum([<a>], <b>) || operator.add(<a>, <b>) || (<a>, 1) < (<b>, 2) || [<a>] == [<b>]?>))
except TypeError as err:
    LOG.append('no')
<+T> = <T> * 2""",
    """try:
    LOG.append(<?bool(Asks(<int>)) || len(Asks(<int>)) || (3 in Asks(<int>)) || [*Asks(2)] || [*Seq_(<int>)] || (2 in Seq_(3)) || [*reversed(Seq_(3))] || [9, 8, 7][Asks(1)] || str(Asks(<int>)) || f'{Asks(3):>4}' || f'{Asks(2)!r}' || int(Asks(<int>)) || float(Asks(<int>)) || ~Asks(<int>) || -Asks(<int>) || round(Asks(2)) || divmod(Asks(7), 2) || Asks(3)['k'] || Asks(3)[1:2] || Asks(<int>)(2, k=3) || [1, 2, 3][Asks(0):Asks(2)] || {Asks(1): 2}[Asks(1)] || (not Asks(<int>)) || next(iter(Seq_(<int>)), 'none') || dict(Asks(2)) || [*map(str, Seq_(2))] || 'ab' * Asks(2) || abs(Asks(-3)) || range(Asks(3))[-1] || isinstance(Asks(1), collections.abc.Sized) || hash(Asks(4)) || '%s' % Asks(2) || '%d' % 3 || list(zip(Seq_(2), Seq_(3))) || sorted(Seq_(3), key=lambda e: -e) || min(Seq_(3)) || tuple(Seq_(2)) || {**Asks(2)} || named(**Asks(2)) || math.floor(Asks(3)) || Asks(3) @ 2 || pow(Asks(3), 2) || chr(Asks(97)) || sum(Seq_(3))?>)
except Exception as err:
    LOG.append((type(err).__name__, str(err)))
<+T> = <T> * 2""",
    """try:
    LOG.append(<?Wrong().__len__() || len(Wrong()) || bool(Wrong()) || str(Wrong()) || int(Wrong()) || hash(Wrong()) || [*Wrong()] || f'{Wrong()}' || [1][Wrong()] || float(Wrong()) || (1 in Wrong()) || next(Wrong()) || {Wrong(): 1} || Wrong() + 1 || Wrong()(1) || Wrong().nothing || repr(Wrong()) || -Wrong() || Wrong()[0] || len([*reversed(Wrong())]) || sorted([Wrong(), Wrong()]) || Wrong() < Wrong() || issubclass(Wrong(), int) || isinstance(1, Wrong()) || abs(Wrong()) || sum([Wrong()]) || max(Wrong(), Wrong()) || set([[]]) || {}[[]]?>)
except Exception as err:
    LOG.append((type(err).__name__, str(err).split(' at 0x')[0]))
<+T> = <T> * 2""",
    """try:
    LOG.append(<?len(<int>) || [][1] || {}['q'] || int('x') || next(iter([])) || [].remove(3) || (1).x || deque().pop() || {}.popitem() || set().pop() || max([]) || '%d' % 'u' || [1, 2].index(5) || 'a'.index('b') || {1}.remove(2) || (1, 2).index(5) || [1] + (1,) || ord('ab') || [3, 'u'].sort() || dict([1]) || dict([(1, 2, 3)]) || float('u') || deque([1], 1).insert(0, 2) || OrderedDict().popitem() || OrderedDict(u=1).move_to_end('w') || [1, 2][:1:0] || range(1, 2, 0) || zip([1], [1, 2], strict=True).__next__() || [*zip([1], [1, 2], strict=True)] || ''.join([1]) || setattr(5, 'u', 1) || getattr(5, 'u') || Color('none') || Color['none'] || Pair(1) || Pair(1, 2).c || Ver(1).up(3) || itertools.islice([1], -1) || bytes([300]) || 5 % 0 || math.sqrt(-1) || hash([]) || frozenset().add(1) || tuple(5) || [*5] || adding() || adding(1, a=2) || kwonly() || kwonly(1, skale=2) || (lambda *, k: k)() || Ver(1) < 3 || [] < 3 || {} | [] || 'u' + 1 || torch.ones(2)[5] || torch.ones(2) @ torch.ones(3) || torch.zeros(3).view(2) || min(1, 'u') || sum(['u']) || memoryview(5) || next(5) || iter(5) || reversed(5) || enumerate(5) || map(5, [1]).__next__() || super(Child, 5) || random.choice([])?>)
except Exception as err:
    LOG.append((type(err).__name__, str(err).split(' at 0x')[0]))
<+T> = <T> * 2""",
    """LOG.append(str(<?[*itertools.count(<int>, 2)] if 0 else next(itertools.count(<int>, 2)) || [*zip(itertools.count(1, -1), 'ab')] || [*itertools.repeat('u', 2)] || [*itertools.accumulate([1, 2, 3], initial=<int>)] || [*itertools.accumulate([3, 1, 2], max)] || [*itertools.islice('abcdef', 1, 5, 2)] || [*itertools.islice('abc', None)] || [*itertools.product('ab', repeat=2)] || [*itertools.permutations('abc')][:4] || [*itertools.combinations('abc', 2)] || [*itertools.zip_longest('ab', 'a', fillvalue=<int>)] || [*enumerate('ab', start=<int>)] || functools.reduce(lambda p, q: p - q, [1, 2, 3]) || functools.reduce(lambda p, q: p - q, [], <int>) || functools.reduce(lambda p, q: [p, q], [1, 2], None) || sum([0.1] * 10) || sum([1e16, 1.0, -1e16]) || sum([True, 2]) || sum([[1], [2]], [<int>]) || sum([0.1] * 3, <int>) || sum([1, 2.5], start=<int>) || [*map(lambda *e: e, 'ab', 'abc')] || [*map(None.__class__, ())] || [*filter(lambda e: e % 2, range(5))] || any([]) || all([]) || any([0, None, 3]) || min(3, 1, 2) || [*reversed(range(1, 6, 2))] || [*zip()] || [*zip('ab')] || dict(zip('ab', range(3))) || ''.join(map(str, [1, 2])) || [*range(5, 0, -2)] || range(9)[2:7:2] || divmod(-7, 2) || pow(2, -1) || pow(7, 2, 5) || round(2.5) || round(-0.5) || round(1234, -2) || int('1_0', 0) || math.prod([2, 3], start=<int>) || [*itertools.starmap(pow, [(2, 3), (3, 2)])] || next(itertools.cycle([<int>])) || [*itertools.chain.from_iterable(['ab', [1]])] || operator.methodcaller('count', 1)([1, 1]) || operator.attrgetter('v', 'w')(LEAF) || operator.itemgetter(1, 0)('ab') || [*itertools.pairwise([1, 2, 3])] || max('ab', key=lambda e: -ord(e)) || abs(-0.0) || sorted('ba', key=str.upper)?>))
<+T> = <T> * 2""",
    """LOG.append(str(<?[heard(1), heard(2)][heard(0)] || {heard(1): heard(2), heard(3): heard(4)} || adding(heard(1), c=heard(2), b=heard(3)) || adding(*[heard(1)], **{'b': heard(2)}) || (heard(1) < heard(2) < heard(0) < heard(9)) || (heard(0) or heard(2) or heard(3)) || (heard(1) and heard(0) and heard(3)) || (heard(1) if heard(0) else heard(3)) || f'{heard(1)}{heard(2)!r}' || heard(heard)(heard(3)) || (heard(1), *[heard(2)], heard(3)) || {**{heard(1): 2}, heard(1): heard(3)} || [heard(e) for e in [heard(1), 2] if heard(e)] || heard([1, 2, 3])[heard(0):heard(2)] || (lambda p=heard(1), *, q=heard(2): p + q)() || (kept_ := heard(1)) + heard(kept_) || heard(2) ** heard(1) ** heard(2) || (not heard(0)) || -heard(1) + heard(2) || (heard(1) in [heard(2), heard(1)]) || {heard(1), heard(1)} || [*map(heard, [1, 2])] or heard(3) || heard(<T>).shape[heard(0)] || (heard(3) != heard(3) != heard(4)) || named(**{'z': heard(1)}, y=heard(2), **{'x': heard(3)}) || slice(heard(1), heard(2)) || [p + q for p in [heard(1), 2] for q in [heard(3)]] || (heard(0) or None) || ([] or heard({})) || (heard('') and 5)?>))
<+T> = <T> * 2""",
    """LOG.append(<?f'{<int>:05d}|{<float>:+.2e}|{True!s:>6}|{None!r}' || f'{[1, "u"]}{(1,)}{{}}' || f'{LEAF.v!r:>{<int> + 3}}' || '%s %r %05.1f %x %%' % ('u', 'w', <float>, 255) || '%(u)s' % {'u': <int>} || '{0}{1!r}{0:>3}'.format('a', 'b') || '{u.v}{i[0]}'.format(u=LEAF, i=[<int>]) || format(<float>, '.3f') || format(True) || str(<LI>) || repr({'u': (1, 2.0)}) || str({1: [None, ...]}) || str(slice(1, <int>)) || str(range(<int>)) || str(torch.float32) || str(torch.Size([1, 2])) || str(Pair(1, 'u')) || str(Ver(1, 2)) || str(Color.RED) || f'{Color.RED}{Num.ONE}{Mode.A | Mode.B}' || repr(OrderedDict(u=1)) || repr(deque([1], 2)) || repr(Counter('ab')) || repr(defaultdict(int, u=1)) || str(frozenset({1})) || str(b'u') || ascii('é') || str(1e16) + str(-0.0) || str(float('nan')) || f'{x.shape} {x.dtype}' || f'{x.dim():>3}' || 'u'.join(map(str, [1, 2.0, None])) || str(KeyError('u')) + repr(MyError(1)) || str(int) + str(Leaf.__name__) || str([Asks(1), 'u']) || f'{Asks(2)} {Asks(3)!r} {Asks(4):w}' || str((Asks(1),)) || str({Asks(1): Asks(2)}) || '%s %r' % (Asks(1), Asks(2)) || 'ab'.center(<int> + 4, '-') || 'a,b'.split(',') || 'Ab'.swapcase() || 'ab'.translate({97: 'x'}) || 'u=%s' % [1] || '%s' % (None,) || 'ab'.partition('b') || '\\t'.expandtabs(<int>) || string.Template('$u').substitute(u=<int>) || str(Text('u')) + Text('w') || type(Text('u') + 'w').__name__ || Text('u').upper() || str(Fixed(3)) + str(Num.TWO + 1) || type(Fixed(1) + 1).__name__ || str(Fixed(2) * 2.5) || type(-Num.ONE).__name__ || Num(2).name || (Mode.A | Mode.B).value || Mode.A in (Mode.A | Mode.B) || bool(Mode(0)) || f'{x.sum().item():.2f}'?>)
<+T> = <T> * 2""",
    """LOG.append(str(<?Kin(<int>).all_() || Kin.build(<int>).n || Kin(<int>).build(2).n || Kin.helper(<int>) || Kin(1).helper(2) || KinBase.show(Kin(<int>)) || super(Kin, Kin(<int>)).show() || super(Kin, Kin).build(4).n || Kin(2).prop + KinBase.prop.fget(Kin(3)) || Kin(<int>) + 1 || 1 + Kin(<int>) || Kin(<int>) == Kin(<int>) || Kin.counter || Kin(1).bump() || [Kin.bump() for _ in 'ab'] or 1 || Kin(4).lazy + Kin(5).lazy || Kin(1).table['k'] || Kin(3)(2) || Kin.__name__ + Kin(1).__class__.__name__ || Kin.__mro__[1] is KinBase || isinstance(Kin(1), KinBase) || [m(2) for m in (Kin(1).plus, Kin.helper)] || getattr(Kin(2), 'pl' + 'us')(5) || Kin(6).partial_(1) || Kin.nested.v || Kin(1).nested().v || Kin(2).chain().chain().n || [k.n for k in map(Kin, [1, 2])] || sorted([Kin(3), Kin(1)], key=lambda k: k.n)[0].n || hash(Kin(3)) == hash(Kin(3)) || {Kin(1): 2} and 1 || str(Kin(4)) || f'{Kin(5)}' || Kin(1).missing || Kin(2).__dict__ || vars(Kin(3)) || Kin(5).plus.__name__ || Kin(5).plus.__self__.n || Kin(3).of_gen() || len(Kin(3)) || Kin(2)[5] || [*Kin(3)] || 2 in Kin(2) || bool(Kin(0)) || -Kin(2) || Kin.create(n=3).n || dataclasses.asdict(Ver(1, 2)) || Ver(1) < Ver(2) || Ver(3).up() || Point(x, 2).n || dataclasses.replace(Ver(1), minor=5) || Pair(1, 2)._asdict() || Pair(1, 2)._replace(a=3) || Pair._make([1, 2]) || Pair(1, 2) == (1, 2) || Pair(1, 2) + (3,) || type(Pair(1, 2)[:1]).__name__ || Pair._fields || (lambda a, b: a - b)(*Pair(5, 3)) || dataclasses.fields(Ver)[0].name || dataclasses.astuple(Ver(1, 2))?>))
LOG.append((Kin.counter, [*Kin.made]))
<+T> = <T> * 2""",
    """LOG.append(str(<?[1, broken(2), 3] || adding(1, broken(2), 3) || {'u': broken(1), 'w': 2} || f'{broken(1)}-{2}' || (broken(0) or 5) || (broken(1) and 6) || (7 if broken(0) else 8) || [4, 5][broken(1)] || takes_all(1, *broken([2]), k=3, **{'z': 4}) || takes_all(broken(1), k=broken(2)) || LEAF.up(broken(2)) || broken(LEAF).up(3) || (1 < broken(2) < 3) || (lambda v=broken(3): v)() || [broken(e) for e in [1, 2]] || {broken(e): 1 for e in [1, 2]} || sum(broken(e) for e in [1, 2]) || [*broken([1, 2]), 3] || {**broken({'u': 1}), 'w': 2} || 'ab'.join(broken(['u', 'w'])) || (broken(1), broken(2)) || not broken(1) || -broken(2) + 3 || Pair(broken(1), 2)._replace(b=broken(3)) || [1, 2, 3][broken(1):] || (kept_ := broken(4)) + kept_ || len(broken([1])) + len([2]) || max(1, broken(3)) || Leaf().up(broken(2)) || functools.partial(adding, broken(1))(2) || super(Child, Child(1, x)).describe()[broken(0):3] || print(broken(1)) || isinstance(broken(1), int) || getattr(LEAF, broken('v')) || next(iter(broken([5]))) || [*map(broken, [1, 2])] || sorted([2, 1], key=broken) || (await_ if broken(0) else 3) || (1 if broken(None) is None else 2) || torch.add(x, broken(2)).dim()?>))
<+T> = <T> * 2""",
]
for _question in QUESTIONS:
    _lines, _, _last = _question.rpartition("\n")
    REVEALING.append("\n".join([*[_lines] * 5, _last]))

DEFINITIONS = {
    "Brittle": """class Brittle:
    __match_args__ = ('v',)
    kind = <?ValueError || AttributeError || KeyError?>
    @property
    def v(self):
        raise self.kind('v')
""",
    "Broken": """class Broken(Brittle):
    kind = <?ValueError || AttributeError || KeyError?>
    def __getattr__(self, name):
        return 5
""",
    "Slot_": """class Slot_:
    __slots__ = ('v',)
    def __init__(self, v):
        self.v = v
""",
    "MOD": """MOD = types.ModuleType('mod_of_the_program')
exec('''
k = 2
table = {'u': 1}
def inner(v):
    return v + k
def fn(t, by=3):
    return t * k + by
def nested(v):
    return [inner(v) for _ in range(2)]
def bump():
    global k
    k += 1
class Class:
    v = 5
    def go(self):
        return self.v + k
''', vars(MOD))
""",
    "Places": """class Places:
    klass = None
    def __init__(self, one, other):
        cell = one
        def held():
            return cell
        def hold(v):
            nonlocal cell
            cell = v
        self.held, self.hold = held, hold
        self.fn, self.kw = (lambda v=one: v), (lambda *, v=one: v)
        self.list, self.queue, self.dict, self.slot = [one, 9], deque([one, 9]), {'k': one, 'z': 9}, Slot_(one)
        self.default, self.ordered = defaultdict(int, k=one), OrderedDict(k=one)
        self.stack, self.module, self.shown = Stack([one]), types.ModuleType('m'), {'k': one}
        self.proxy, self.deep = types.MappingProxyType(self.shown), [(1, {'k': one})]
        space = {'k': one}
        exec('def other():\\n    return k', space)
        self.other, self.bearer = space['other'], SimpleNamespace(v=one)
        self.ways = {}
        for name in 'own list tuple dict queue named slot fn kw held part kwpart method klass default ordered stack module other proxy deep'.split():
            self.ways[name] = [other, one]
            self.turn(name)
    def turn(self, name):
        self.ways[name].reverse()
        v = self.ways[name][0]
        if name in ('list', 'queue', 'stack'):
            getattr(self, name)[0] = v
        elif name in ('dict', 'default', 'ordered'):
            getattr(self, name)['k'] = v
        elif name == 'tuple':
            self.tuple = (v, 9)
        elif name == 'named':
            self.named = Pair(v, 9)
        elif name == 'slot':
            self.slot.v = v
        elif name == 'fn':
            self.fn.__defaults__ = (v,)
        elif name == 'kw':
            self.kw.__kwdefaults__ = {'v': v}
        elif name == 'held':
            self.hold(v)
        elif name == 'part':
            self.part = functools.partial(as_it_is, v)
        elif name == 'kwpart':
            self.kwpart = functools.partial(as_it_is, v=v)
        elif name == 'method':
            self.method = types.MethodType(v_of, SimpleNamespace(v=v))
        elif name == 'klass':
            Places.klass = v
        elif name == 'module':
            self.module.k = v
        elif name == 'other':
            self.other.__globals__['k'] = v
        elif name == 'proxy':
            self.shown['k'] = v
        elif name == 'deep':
            self.deep[0][1]['k'] = v
        else:
            self.own = v
""",
    "as_it_is": """def as_it_is(v):
    return v
""",
    "v_of": """def v_of(self):
    return self.v
""",
    "PLACES": "PLACES = Places(<?1, True || 0.0, -0.0 || 1, 1.0 || False, 0 || complex(0.0, 0.0), complex(0.0, -0.0) || range(0, 5, 2), range(0, 6, 2) || np.float32(1), np.float64(1) || (1, 2), (True, 2) || (0.0, 1), (-0.0, 1) || 'u', 'w' || b'u', b'w' || torch.float32, torch.float64 || frozenset({1}), frozenset({True}) || {1}, {1.0} || 2 ** 70, 2 ** 70 + 1 || ..., None || int, bool || len, abs || None, False || Num.ONE, 1 || Num.ONE, Num.TWO || slice(0, 1), slice(0, True) || float('inf'), float('-inf') || torch.Size([1]), (1,) || [1, 2], [2, 1] || {'u': 1, 'w': 2}, {'w': 2, 'u': 1} || (1, (2, 3)), (1, (2, 4)) || np.int64(1), np.int32(1) || float('nan'), 1.0?>)\n",
    "EQUAL": """class Equal:
    def __init__(self):
        self.ways = dict(
            zero=[0.0, -0.0], complex=[complex(0.0, 0.0), complex(0.0, -0.0)], range=[range(0, 5, 2), range(0, 6, 2)],
            frozen=[frozenset({1}), frozenset({True})], set=[{1}, {1.0}], numpy=[np.float32(1), np.float64(1)],
            tuple=[(1, (0.0, 2)), (1, (-0.0, 2))], one=[1, True], fn=[2, 2.0], table=[{1: 2}, {True: 2}], half=[True, 1.0])
        self.fn = lambda v=None: v
        for name in self.ways:
            self.turn(name)
    def turn(self, name):
        self.ways[name].reverse()
        if name == 'fn':
            self.fn.__defaults__ = (self.ways[name][0],)
        else:
            setattr(self, name, self.ways[name][0])
EQUAL = Equal()
""",
    "facts_of": """def facts_of(t):
    return (str(t.dtype), tuple(t.shape), t.stride(), t.requires_grad, isinstance(t, torch.nn.Parameter), t.is_conj(), t.is_neg(), str(t.device), t.is_contiguous())
""",
    "LIKE_ONES": """LIKE_ONES = dict(
    ones=torch.ones(3), double=torch.ones(3, dtype=torch.float64), strided=torch.ones(6)[::2], longer=torch.ones(4), scalar=torch.ones(()),
    grad=torch.ones(3, requires_grad=True), parameter=torch.nn.Parameter(torch.ones(3)), int=torch.ones(3, dtype=torch.int64),
    turned=torch.ones(3, 3).t(), transposed=torch.ones(3, 3), conj=torch.ones(3, dtype=torch.complex64).conj(),
    plain=torch.ones(3, dtype=torch.complex64), neg=torch._neg_view(torch.ones(3)), imag=torch.ones(3, dtype=torch.complex64).conj().imag,
    meta=torch.ones(3, device='meta'), infer=torch.inference_mode()(torch.ones)(3))
""",
    "PLACED": """class Placed:
    def __init__(self):
        held = torch.ones(3)
        def get():
            return held
        self.own, self.list, self.dict, self.slot = torch.ones(3), [torch.ones(3)], {'k': torch.ones(3)}, Slot_(torch.ones(3))
        self.fn, self.held, self.net = (lambda t=torch.ones(3): t), get, torch.nn.Linear(3, 3)
        self.net.weight = torch.nn.Parameter(torch.ones(3))
        self.net.register_buffer('count', torch.ones(3))
    def put(self, name, t):
        if name == 'own':
            self.own = t
        elif name == 'list':
            self.list[0] = t
        elif name == 'dict':
            self.dict['k'] = t
        elif name == 'fn':
            self.fn.__defaults__ = (t,)
        elif name == 'held':
            self.held.__closure__[0].cell_contents = t
        elif name == 'weight':
            self.net.weight = torch.nn.Parameter(t.detach().clone())
        elif name == 'count':
            self.net.count = t
        else:
            self.slot.v = t
PLACED = Placed()
""",
    "BAGS": """class Bags:
    def __init__(self):
        self.list, self.stack, self.default, self.ordered = [1, 2], Stack([1, 2]), defaultdict(int, u=1, w=2), OrderedDict(u=1, w=2)
        self.dict, self.counts, self.under = {'u': 1, 'w': 2}, Counter(u=1, w=2), {'u': 1, 'w': 2}
        self.proxy = types.MappingProxyType(self.under)
        self.ways = ['tuple', 'list']
        self.put(1, 2)
    def put(self, *items):
        self.queue, self.bounded, self.tuple = deque(items), deque(items, 3), items
        self.named = Pair(*items) if len(items) == 2 else Pair(7, 8)
        self.frozen, self.set = frozenset(items), {*items}
    def swap(self):
        self.queue, self.bounded, self.tuple = deque([1, 2], 4), deque([1, 2]), Pair(1, 2)
        self.named, self.frozen, self.set = (1, 2), {1, 2}, frozenset({1, 2})
    def same(self, of):
        return type(of)(1, 2) if isinstance(of, Pair) else type(of)([1, 2])
    def change(self, of, **items):
        of = self.under if of is self.proxy else of
        for key, value in items.items():
            of.pop(key, None)
            if value is not None:
                of[key] = value
BAGS = Bags()
""",
    "KEY": "KEY = Times(1)\n",
    "OBJECTS": "OBJECTS = {1: 1, (1, 2): 2, KEY: 3, LEAF: 4, torch.float32: 5, helper: 6}\n",
    "LATER": """class Later:
    def __init__(self):
        def get(default):
            try:
                return late
            except NameError:
                return default
        def ask():
            try:
                return late
            except NameError as err:
                return 'unbound'
        def put(v):
            nonlocal late
            late = v
        def drop():
            nonlocal late
            late = 1
            del late
        self.get, self.ask, self.put, self.drop = get, ask, put, drop
        if <bool>:
            late = <int>
LATER = Later()
""",
    "Kind": """class KindMeta(type):
    tag = property(lambda cls: 'tag')
    def of(cls):
        return cls.k
class KindBase(metaclass=KindMeta):
    k = 1
    @staticmethod
    def stat():
        return 2
class Kind(KindBase):
    'what it is'
    size = 3
""",
    "KIND": "KIND = Kind()\n",
    "CHAINED": """class Low:
    k = 1
    def up(self):
        return self.k
    @property
    def seen(self):
        return self.k + 1
    def both(self):
        return 3
    @classmethod
    def made(cls):
        return cls.k + 4
class Middle(Low):
    pass
class Middle2(Low):
    def up(self):
        return 50
class High(Middle):
    def up(self):
        return super().up() + 10
    @property
    def seen(self):
        return super().seen + 10
    def both(self):
        return getattr(super(), 'both', lambda: 30)() + 10
    @classmethod
    def made(cls):
        return super().made() + 10
    def plain(self):
        return super().k
CHAINED = High()
""",
    "Plus": """class Plus:
    def __init__(self, k):
        self.k = k
    def __get__(self, of, cls=None):
        return self if of is None else self.k + of.inner
class PlusData(Plus):
    def __set__(self, of, to):
        LOG.append('set')
        of.inner = to
""",
    "Wide_": """class WideBase:
    __slots__ = ('slot', '__dict__')
class Wide_(WideBase):
    data, note = PlusData(1), Plus(2)
    def __init__(self):
        self.slot, self.inner = 3, 4
    made = property(lambda self: self.inner + 5)
    @functools.cached_property
    def cached(self):
        return self.inner + 6
    def add_(self, k, n):
        return self.inner + k + n
    twice = functools.partialmethod(add_, 7)
    def get_(self):
        return self.inner
""",
    "WIDE_": "WIDE_ = Wide_()\n",
    "WIDES": "WIDES = [Wide_(), Wide_()]\n",
    "Asked": """class Asked:
    table = {'given': 1, 'failing': 2}
    def __init__(self):
        self.own = 3
    @property
    def failing(self):
        raise AttributeError('failing')
    @failing.setter
    def failing(self, to):
        Asked.table['failing'] = to
    def __getattr__(self, name):
        if name in Asked.table:
            return Asked.table[name]
        raise AttributeError(name)
""",
    "ASKED": "ASKED = Asked()\n",
    "Planet": """class Planet(enum.Enum):
    EARTH = 'a'
    SUN = 'b'
    def __init__(self, letter):
        self.mass = ord(letter) - 95
    def double(self):
        return self.mass * 2
""",
    "Animal": """class Animal(abc.ABC):
    pass
""",
    "Sized__": """class SizedMeta(type):
    def __instancecheck__(cls, v):
        return len(vars(v)) == cls.wanted
class Sized__(metaclass=SizedMeta):
    wanted = 1
""",
    "Part": """class Part(torch.nn.Module):
    k = 2
    def __init__(self, n):
        super().__init__()
        self.bias, self.weight_ = torch.nn.Parameter(torch.ones(3) * n), torch.nn.Parameter(torch.ones(3) + n)
        self.register_buffer('buf', torch.ones(3))
        self.fn, self.act, self.items, self.set = (lambda t, m=2, *, j=1: t * m + j), torch.nn.Tanh(), [1, 2], {1, 2}
        self.slot, self.pair, self.table, self.k = Slot_(2), (1, 2), {'u': 1}, n
    def forward(self, t):
        t = self.fn(t) * self.bias + self.weight_ * self.buf + self.k + self.slot.v + self.pair[1] + len(self.table)
        t = t + self.items[0] * 2 + (9 in self.set) + getattr(self, 'late', 4)
        return t if self.act is None else self.act(t) * (2 if self.training else 3)
class Part2(Part):
    def forward(self, t):
        return super().forward(t) - 30
""",
    "Rich": """class Rich(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b, self.more = Part(n), Part(n + 1), torch.nn.ModuleList([Part(2)])
    def scale(self, t):
        return t * 2
    def forward(self, t, by=1):
        for part in self.more:
            t = part(t)
        return self.scale(self.a(t) + self.b(t) * by) + (3 if hasattr(self, 'extra') else 0)
class Rich2(Rich):
    def scale(self, t):
        return t * 9
""",
    "RICH": "RICH = Rich(1)\n",
    "PARTS": "PARTS = [Part(1), Part(2)]\n",
    "NETS": "NETS = [Rich(1), Rich(2)]\n",
    "adding": """def adding(a, b=1, c=2):
    'adds'
    return a if isinstance(a, list) else a + b * c
""",
    "PARTIAL": "PARTIAL = functools.partial(adding, 2, c=<int>)\n",
    "HALF_": "HALF_ = functools.partial(PARTIAL, b=<int>)\n",
    "TAKEN": """def taking(n):
    def taken(t, k=1, *, j=2):
        'takes'
        return t * k + j + n
    taken.note = <int>
    return taken
TAKEN = taking(3)
""",
    "FACTOR": "FACTOR = [2]\n",
    "cached_": """def cached_(fn):  # out of sight: calls of a cache are counted
    inner = functools.lru_cache(fn)
    def outer(n):
        return inner(n)
    outer.cache_clear = inner.cache_clear
    return outer
""",
    "memoized": """@cached_
def memoized(n):
    return n * 3
""",
    "known": """class Known:
    def __init__(self, n):
        self.t, self.log = torch.ones(3) * n, [n]
    def put(self, n):
        self.log.append(n)
        return len(self.log)
@cached_
def known(n):
    return Known(n)
""",
    "HOOKED": "HOOKED = SimpleNamespace(hook=lambda t: t * 5, asked=Asked(), planet=Planet.EARTH, net=Rich(2), other=Times(2).apply)\n",
    "VAR_": "VAR_ = contextvars.ContextVar('var_', default=3)\n",
    "DEADLY": "DEADLY = [Leaf()]\n",
    "DEAD": "DEAD = weakref.ref(DEADLY[0])\n",
    "LIVING": "LIVING = weakref.ref(LEAF)\n",
    "TaggedTuple": """class TaggedTuple(tuple):
    label = 1
""",
    "Grades": """class Grades(set):
    label = 2
""",
    "probe": """def probe(made, depth=0):
    about = [type(made).__name__]
    for name in ('maxlen', 'mark', 'late', 'label', 'of', 'l'):
        found = getattr(made, name, None)
        about.append(len(found) if isinstance(found, list) else str(found))
    about.append(hasattr(made, 'default_factory') and (made.default_factory is None or str(made.default_factory())))
    if depth > 2:
        return about
    if isinstance(made, dict):
        about += [(k, probe(v, depth + 1)) for k, v in made.items()]
    elif isinstance(made, (set, frozenset)):
        about += sorted(made)
    elif isinstance(made, (list, tuple, deque, bytearray)):
        about += [probe(v, depth + 1) if isinstance(v, (list, dict, tuple)) else str(v) for v in made]
    elif callable(made):
        about.append(str(made.__defaults__) if hasattr(made, '__defaults__') else type(made).__name__)
    elif isinstance(made, BaseException):
        about.append(str(made.args))
    return about
""",
    "use": """def use(made):
    if hasattr(made, 'append'):
        made.append(7)
    elif hasattr(made, 'default_factory') and made.default_factory is not None:
        made['missing']
    elif isinstance(made, dict):
        made['added'] = made['absent'] if hasattr(type(made), '__missing__') else 1
    elif isinstance(made, set):
        made.add(8)
    elif hasattr(made, '__dict__'):
        made.used = 1
""",
    "describe_": """def describe_(fn):
    about = [type(fn).__name__]
    for name in ('__name__', '__qualname__', '__doc__', '__module__', '__defaults__', '__kwdefaults__', '__annotations__', 'mark', 'args', 'keywords'):
        found = str(getattr(fn, name, None))[:30]
        about.append(found if name != '__module__' else found.startswith('<program'))
    about.append(sorted(getattr(fn, '__dict__', ())))
    about.append([str(c.cell_contents) for c in getattr(fn, '__closure__', None) or ()])
    about.append(getattr(getattr(fn, 'func', None), '__name__', None))
    about.append(getattr(getattr(fn, '__wrapped__', None), '__name__', None))
    return about
""",
    "noted": """def noted(n):
    def inner(t, k=[1], *, j=n):
        return t * n
    inner.mark = n
    return inner
""",
    "documented": """def documented(n):
    def inner(t):
        'what it does'
        return t * n
    return inner
""",
    "annotated": """def annotated(n):
    def inner(t: int, *, k: str = 'k') -> list[int]:
        return [t, k]
    return inner
""",
    "Thing": """class Thing:
    def __init__(self):
        self.v, self.t, self.seen = 1, 2, [1]
""",
    "Lined": """class Lined:
    __slots__ = ('n', 'empty', '__dict__', '__weakref__')
    def __init__(self, n):
        self.n, self.more = n, [n]
""",
    "Watched_": """class Watched_:
    def __init__(self, n):
        self.n = n
    def __setattr__(self, name, to):
        LOG.append('set ' + name)
        object.__setattr__(self, name, to)
""",
    "Known": """class Known:
    known = {}
    def __new__(cls, name):
        if name not in cls.known:
            cls.known[name] = super().__new__(cls)
        return cls.known[name]
    def __init__(self, name):
        self.name, self.uses = name, getattr(self, 'uses', 0) + 1
    @classmethod
    def of(cls, name):
        return cls(name)
""",
    "Trio": """class Trio:
    def __init__(self, make):
        self.make = make
        self.turn(0)
    def turn(self, n):
        ALIVE.append(getattr(self, 'all', None))
        made = [self.make() for _ in range(3)]
        if n % 4:
            made[n % 4 % 3] = made[n % 4 - 1]
        self.p, self.q, self.r = self.all = made
""",
    "TRIO": "TRIO = Trio(lambda: [1])\n",
    "FLOATS": "FLOATS = Trio(lambda: torch.ones(2))\n",
    "LEAVES": "LEAVES = Trio(<?Leaf || object || object?>)\n",
    "Half": """class Half:
    def __new__(cls, n):
        made = super().__new__(cls)
        made.n = n * 2
        return made
    def __init__(self, n):
        self.more = [n]
""",
    "Op": """class Op:
    def __init__(self, n, answers=True):
        self.n, self.answers = n, answers
    def told(self, name, other):
        LOG.append((name, self.n))
        return (name, self.n, getattr(other, 'n', other)) if self.answers else NotImplemented
    def __add__(self, other):
        return self.told('add', other)
    def __radd__(self, other):
        return self.told('radd', other)
    def __sub__(self, other):
        return self.told('sub', other)
    def __lt__(self, other):
        return self.n < other.n if isinstance(other, Op) and self.answers else self.told('lt', other)
    def __gt__(self, other):
        return self.told('gt', other)
    def __eq__(self, other):
        return self.told('eq', other)
    def __le__(self, other):
        return self.told('le', other)
    def __str__(self):
        return f'op {self.n}'
    __repr__, __hash__ = __str__, object.__hash__
class SubOp(Op):
    def __radd__(self, other):
        return self.told('sub radd', other)
    def __rsub__(self, other):
        return self.told('rsub', other)
    def __ge__(self, other):
        return self.told('ge', other)
    def __ne__(self, other):
        return self.told('ne', other)
class InPlace(Op):
    def __iadd__(self, other):
        LOG.append('iadd')
        self.n += 1
        return self if self.n % 2 else NotImplemented
    def __isub__(self, other):
        return other
""",
    "OPS": "OPS = [Op(11), InPlace(12)]\n",
    "Asks": """class Asks:
    def __init__(self, n):
        self.n = n
    def __bool__(self):
        return self.n > 1
    def __len__(self):
        return self.n
    def __contains__(self, e):
        return e
    def __iter__(self):
        return iter([('b', self.n), ('c', 2)])
    def keys(self):
        LOG.append('keys')
        return ['c', 'b']
    def __getitem__(self, key):
        LOG.append(('item', str(key)))
        return self.n
    def __index__(self):
        return self.n
    def __str__(self):
        return f'asks {self.n}'
    def __repr__(self):
        return f'Asks({self.n})'
    def __format__(self, spec):
        return f'<{spec}>'
    def __int__(self):
        return self.n + 10
    def __float__(self):
        return self.n + 0.5
    def __invert__(self):
        return -self.n
    def __neg__(self):
        return self.n + 20
    def __round__(self, digits=None):
        return (self.n, digits)
    def __divmod__(self, other):
        return self.n, other
    def __call__(self, *p, **o):
        return self.n, p, o
    def __abs__(self):
        return self.n + 30
    def __floor__(self):
        return self.n + 40
    def __matmul__(self, other):
        return self.n + other
    def __pow__(self, other, mod=None):
        return self.n, other, mod
    def __hash__(self):
        return 5
    def __eq__(self, other):
        return isinstance(other, Asks)
""",
    "Seq_": """class Seq_:
    def __init__(self, n):
        self.n = n
    def __getitem__(self, i):
        LOG.append(i)
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i * 2
    def __len__(self):
        return self.n
""",
    "Wrong": """class Wrong:
    def __len__(self):
        return -1
    def __str__(self):
        return 5
    def __int__(self):
        return 'u'
    def __bool__(self):
        return 1
    def __iter__(self):
        return 5
    def __next__(self):
        raise StopIteration('why')
    __repr__ = __index__ = __float__ = __add__ = __neg__ = __str__
    __format__ = lambda self, spec: 3
    __eq__ = lambda self, other: NotImplemented
    __hash__ = __contains__ = __call__ = __reversed__ = None
""",
    "COUNTING": "COUNTING = itertools.count(<int>, 2)\n",
    "KEPT_GEN": "KEPT_GEN = (e * 2 for e in [1, 2, 3, 4, 5, 6, 7])\n",
    "takes_all": """def takes_all(*p, k=1, **o):
    p += (9,)
    o['own'] = k
    return p, k, o
""",
    "keeps": """def keeps(n, seen=[], *, by={}):
    seen.append(n)
    by[n] = len(by)
    return [*seen], dict(by)
""",
    "OUT": """class Out:
    def __init__(self):
        self.reset()
    def reset(self):
        self.list, self.stack, self.traced, self.more = [1, 2], Stack([1, 2]), Traced([1, 2]), None
        self.dict, self.ordered, self.default = {'u': 1, 'w': 2}, OrderedDict(u=1, w=2), defaultdict(list, u=1, w=2)
        self.tdict, self.counts, self.missing = TracedDict(u=1, w=2), Counter(u=1, w=2), Defaulting(u=1, w=2)
        self.thing, self.lined, self.temp, self.watched = SimpleNamespace(n=1, v=2, seen=[1]), Lined(1), Temp(1), Watched_(1)
        self.fields, self.wide, self.module = Fields(1), Wide_(), torch.nn.ReLU()
        self.set, self.queue = {1, 2}, deque([1, 2], 2)
    def swap(self):
        self.list, self.stack = self.stack, self.list
OUT = Out()
""",
    "KNOWN_ERROR": "KNOWN_ERROR = MyError(3)\n",
    "io_": "import io as io_\n",
    "Ctx2_": """class Ctx2_:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        LOG.append((kind.__name__, str(error), type(error) is kind, trace is None))
        raise MyError(5)
""",
    "Exits": """class Exits(Exception):
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        LOG.append((kind is Exits, error is self, trace is not None))
        return [0]
""",
    "broken": """def broken(v):
    torch._dynamo.graph_break()
    return v
""",
    "Brk": """class BrkBase:
    def three(self, t, k=1):
        torch._dynamo.graph_break()
        return t * k + self.n
    @classmethod
    def four(cls, t):
        torch._dynamo.graph_break()
        return t + len(cls.__name__)
class Brk(BrkBase):
    def __init__(self, n):
        torch._dynamo.graph_break()
        self.n = n
    def one(self, t):
        torch._dynamo.graph_break()
        self.late = t
        return t + self.n
    def two(self, t, *rest, k=0, **named):
        torch._dynamo.graph_break()
        named['own'] = k
        return t + len(rest) + sum(named.values())
    def three(self, t):
        found = super().three(t, k=2)
        torch._dynamo.graph_break()
        return super().three(found) + 1
    @classmethod
    def four(cls, t):
        t = super().four(t)
        torch._dynamo.graph_break()
        return t + len(cls.__name__)
    @property
    def prop(self):
        torch._dynamo.graph_break()
        return self.n + 5
    def five(self, t):
        return t + self.prop * self.prop
    def __call__(self, t):
        for i in range(2):
            t = t + i
            torch._dynamo.graph_break()
        return t * 2
    def six(self, t):
        def inner(v):
            nonlocal t
            torch._dynamo.graph_break()
            t = t + v + self.n
            return v
        inner(1)
        return t * inner(2)
    def seven(self, t):
        def gen():
            for i in range(3):
                yield t * i
                torch._dynamo.graph_break()
        return sum(gen(), t)
""",
    "BRK": "BRK = Brk(<int>)\n",
    "modes_": """def modes_():
    return torch.is_grad_enabled(), torch.is_autocast_enabled('cpu'), str(torch.get_autocast_dtype('cpu')), torch.is_inference_mode_enabled()
""",
    "Tells": """class Tells(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        LOG.append(getattr(func, '__name__', 'slot'))
        return func(*args, **(kwargs or {}))
""",
    "SCALES": "SCALES = [2.0, 3.0]\n",
    "Own": """class Own(torch.autograd.Function):
    power = 2
    @staticmethod
    def forward(ctx, t, by):
        ctx.by, ctx.made = by, t * by
        ctx.save_for_backward(t)
        return t * by * SCALES[1]
    @staticmethod
    def backward(ctx, g):
        t, = ctx.saved_tensors
        return g * ctx.by * Own.power + t * SCALES[1] + ctx.made, None
""",
    "Multi": """class Multi(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, q):
        ctx.save_for_backward(p, q)
        LOG.append(ctx.needs_input_grad)
        return p * q, p + q
    @staticmethod
    def backward(ctx, g, h):
        p, q = ctx.saved_tensors
        return g * q + h, (g * p + h * 3 if ctx.needs_input_grad[1] else None)
""",
    "Setup": """class Setup(torch.autograd.Function):
    @staticmethod
    def forward(t, n):
        return t * n
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]
    @staticmethod
    def backward(ctx, g):
        return g * ctx.n * 5, None
""",
    "Same": """class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t
    @staticmethod
    def backward(ctx, g):
        return g * 7
""",
    "Unused": """class Unused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, q):
        ctx.set_materialize_grads(True)
        return p.clone(), q * 2
    @staticmethod
    def backward(ctx, g, h):
        return g + h.sum(), h * 2 + 1
""",
    "scaled_twice": """def scaled_twice(t, u=2, *, by=3):
    return t * u * by * SCALES[0]
""",
    "NPS": "NPS = [np.float32(1), np.float64(1), np.int64(1)]\nNPS.append(NPS[0])\n",
    "NPV": "NPV = [np.array([1.0, 2.0, 3.0])]\n",
    "Kin": """class KinBase:
    counter, made, table = 0, [], {'k': 1}
    def __init__(self, n):
        self.n = n
    def show(self):
        return f'base {self.n}'
    @classmethod
    def build(cls, n):
        return cls(n + 1)
    @property
    def prop(self):
        return self.n * 2
    def plus(self, k):
        return self.n + k
    def of_gen(self):
        return [v for v in self.each()]
    def each(self):
        yield self.n
class Kin(KinBase):
    class nested:
        v = 8
    def __init__(self, n):
        super().__init__(n)
        self.late = [n]
    def show(self):
        return 'kin ' + super().show()
    @classmethod
    def build(cls, n):
        made = super().build(n)
        made.n += 10
        return made
    @staticmethod
    def helper(n):
        return n * 3
    @property
    def prop(self):
        return super().prop + 1
    @classmethod
    def bump(cls):
        return cls.counter + 1
    def all_(self):
        return self.show(), self.prop, self.helper(2), self.plus(1), self.build(0).n, self.late
    def __add__(self, other):
        return self.n + other
    __radd__ = __add__
    def __eq__(self, other):
        return self.n == other.n
    def __hash__(self):
        return self.n
    def __call__(self, k, *, by=2):
        return self.n * k * by
    @functools.cached_property
    def lazy(self):
        LOG.append('lazy')
        return self.n
    partial_ = functools.partialmethod(KinBase.plus)
    def chain(self):
        self.n += 1
        return self
    def __str__(self):
        return f'<{self.n}>'
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return name * 2
    def each(self):
        yield from super().each()
        yield self.n + 1
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        if i > 6:
            raise IndexError
        return i * self.n
    def __neg__(self):
        return Kin(-self.n).n
    @classmethod
    def create(cls, **named):
        return cls(**named)
""",
    "patch": """def patch(of, name, to):
    patch.done.append((of, name, getattr(of, name)))
    setattr(of, name, to)
patch.done = []
""",
    "unpatch": """def unpatch():
    while patch.done:
        setattr(*patch.done.pop())
""",
}
