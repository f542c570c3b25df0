"""Faults that are planted in the evaluator, one at a time."""

CAPTURE = "minicompiler/capture/"
WANTED = 8
FAULTS = [
    {
        "file": CAPTURE + "data_model.py",
        "old": "at = i if way is iter else last - i",
        "new": "at = i",
        "what": "reversed() goes through a sequence in its own order",
    },
    {
        "file": CAPTURE + "values/functions.py",
        "old": "found = None if self.exhausted else self.read(self.index)",
        "new": "found = self.read(self.index)",
        "what": "an iterator that was at its end goes on when its list has grown",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "f.stack += reversed([*first, List(items[:rest]), *items[rest:]])",
        "new": "f.stack += reversed([*first, List(items[: rest + 1]), *items[rest:]])",
        "what": "in a, *b, c = ... the starred name takes one item too many",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "    if len(items) != inst.arg:\n",
        "new": "    items = items[: inst.arg]\n    if len(items) != inst.arg:\n",
        "what": "unpacking drops items that have no name, instead of raising",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "any(c in f.stack[-1].cls.__mro__ for c in classes)",
        "new": "bool(classes)",
        "what": "an except clause catches exceptions of other classes, too",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "    f.ev.handled = handled.previous\n",
        "new": "",
        "what": "after an except clause inside another, raise raises the inner exception again",
    },
    {
        "file": CAPTURE + "container_rules.py",
        "old": "keys[-1 if model.truth(ev, last) else 0]",
        "new": "keys[0]",
        "what": "popitem() takes the first item of a dict",
    },
    {
        "file": CAPTURE + "data_model.py",
        "old": "            it.frame.push(value)\n",
        "new": "            it.frame.push(NONE)\n",
        "what": "what is sent into a generator does not arrive",
    },
    {
        "file": CAPTURE + "container_rules.py",
        "old": "key=by(ev, key), reverse=down)\n",
        "new": "key=by(ev, key))[:: -1 if down else 1]\n",
        "what": "sorting in reverse turns the order of equal items around",
    },
    {
        "file": CAPTURE + "data_model.py",
        "old": "    return args.at(ev, 0) if isinstance(args, Tuple) and len(args) else NONE\n",
        "new": "    return NONE\n",
        "what": "yield from does not give what its generator returns",
    },
]
