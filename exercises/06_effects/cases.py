"""Faults in the replay of writes, and in making objects."""

EMIT = "minicompiler/capture/emit.py"
SIDE = "minicompiler/capture/side_effects.py"

WANTED = 8

FAULTS = [
    {
        "file": EMIT,
        "old": '[f"{base}.clear({name})"] * (of.unread is None)',
        "new": "[]",
        "what": "a list keeps its old items below the new ones",
    },
    {
        "file": EMIT,
        "old": "if not items or any(a is not b for a, b in zip(kind.keys(of), items)):",
        "new": "if not items:",
        "what": "a dictionary whose order has changed keeps the old order",
    },
    {
        "file": EMIT,
        "old": "for key in [k for k in kind.keys(of) if k not in items]:",
        "new": "for key in ():",
        "what": "a key that was deleted stays",
    },
    {
        "file": EMIT,
        "old": "        if id(v) not in self.made:\n",
        "new": "        if id(v) not in self.made or isinstance(v, List):\n",
        "what": "a list that is met again is made anew",
    },
    {
        "file": EMIT,
        "old": "for step, on in of.steps]",
        "new": "for step, on in of.steps[:1]]",
        "what": "of several changes of a set only the first is made",
    },
    {
        "file": EMIT,
        "old": "[set_slot(t, name, field, of.fields[field]) for field in of.written]",
        "new": "[set_slot(t, name, field, of.fields[field]) for field in [*of.written][:1]]",
        "what": "of several slots only the first is written",
    },
    {
        "file": EMIT,
        "old": 'setter = f"{t.const(object)}.__setattr__" if owner',
        "new": "setter = t.const(setattr) if owner",
        "what": "the program's __setattr__ runs a second time",
    },
    {
        "file": EMIT,
        "old": "plain = of.cls is dict and not owner",
        "new": "plain = not owner",
        "what": "the __setitem__ of a subclass runs a second time",
    },
    {
        "file": EMIT,
        "old": "        t.cells.append(v)\n",
        "new": "        t.cells[:] = [v]\n",
        "what": "of several variables that closures share one is left unbound",
    },
    {
        "file": EMIT,
        "old": 'f"{t.const(skipped)}({made}, {v.index})" if v.index else made',
        "new": "made",
        "what": "an iterator begins again",
    },
]
