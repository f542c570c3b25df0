"""Faults that are planted in the compiler, one at a time: each loses or repeats an effect."""

CAPTURE = "minicompiler/capture/"
WANTED = 8
FAULTS = [
    {
        "file": CAPTURE + "emit.py",
        "old": "        t.after.append(t.call(of))\n        return\n",
        "new": "        return\n",
        "what": "what is printed is not printed",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": 't.after.append(f"{base}.extend({name}, ({t.items(of.held)}))")',
        "new": "pass",
        "what": "what is appended to a list is not there",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": 'f"{base}.clear({name})"] * (of.unread is None)',
        "new": 'f"{base}.clear({name})"] * 0',
        "what": "a list that is changed in place keeps its old items before the new ones",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": 't.after.append(f"{content} = {t.value(of.content)}" if of.content',
        "new": 't.after.append("pass" if of.content',
        "what": "a nonlocal variable keeps its value",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": "for step, on in of.steps]",
        "new": "for step, on in of.steps[:1]]",
        "what": "only the first of several things done to a set is done",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": "    for key, value in [map(t.value, of.items[k]) for k in of.stored]:\n",
        "new": "    for key, value in [map(t.value, of.items[k]) for k in of.stored][:1]:\n",
        "what": "only the first key written to a dictionary, or attribute of an object, is written",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": "if k not in items]:\n        kind.__delitem__(of, key)\n",
        "new": "if k not in items]:\n        pass\n",
        "what": "the last key of a dictionary stays when it is deleted",
    },
    {
        "file": CAPTURE + "emit.py",
        "old": "any(a is not b for a, b in zip(kind.keys(of), items))",
        "new": "False",
        "what": "a key that is deleted and written again stays where it was",
    },
    {
        "file": CAPTURE + "data_model.py",
        "old": "ev.graph.call(ev, operator.setitem, [of, key, value], keep=True)",
        "new": "ev.graph.call(ev, operator.add, [of, value])",
        "what": "x[i] = y does not write to x",
    },
    {
        "file": CAPTURE + "side_effects.py",
        "old": "        self.order[id(call)] = call\n",
        "new": "        self.order[id(call)] = call\n        self.order[id(self)] = call\n",
        "what": "what is printed last is printed twice",
    },
]
