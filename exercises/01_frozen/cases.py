"""Faults that are planted in the compiler, one at a time: each freezes something."""

CAPTURE = "minicompiler/capture/"
WANTED = 8
FAULTS = [
    {
        "file": CAPTURE + "data_model.py",
        "old": '        refuse("branches on the value of a tensor", '
        '"use torch.where, or move the branch outside")\n',
        "new": "        return True\n",
        "what": "a branch on the value of a tensor always takes the side for True",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "                f.ev.graph.call(f.ev, torch._assert_async, [holds])\n",
        "new": "",
        "what": "what an assertion says of a tensor is believed, and never looked at",
    },
    {
        "file": CAPTURE + "opcodes.py",
        "old": "holds = value if answer else f.ev.graph.call(f.ev, torch.logical_not, [value])",
        "new": "holds = value if answer else f.ev.graph.call(f.ev, torch.ones_like, [value])",
        "what": "`if bad: raise` on the value of a tensor never raises",
    },
    {
        "file": CAPTURE + "torch_calls.py",
        "old": '            refuse(f"Tensor.{name} {REFUSED_METHODS[name]}", '
        '"keep a tensor, or do it outside")\n',
        "new": '            if name == "item" and args[0].real is not ABSENT:\n'
        "                return ev.wrap_fresh(args[0].real.item())\n"
        '            refuse("")\n',
        "what": "item() of an argument is the number that it was at the first call",
    },
    {
        "file": CAPTURE + "evaluator.py",
        "old": '        return "TENSOR", source, real\n',
        "new": '        return "TYPE", source, type(real)\n',
        "what": "the size of a tensor is that of the first call",
    },
    {
        "file": CAPTURE + "evaluator.py",
        "old": 'self.assume("ID" if isinstance(real, Enum) else "EQUALS", source, real)',
        "new": 'self.assume("TYPE", source, type(real))',
        "what": "a number is the one of the first call, as long as its type is the same",
    },
    {
        "file": CAPTURE + "evaluator.py",
        "old": "        source = of.source\n        if source is None:\n",
        "new": "        source = of.source\n"
        "        if source is None or isinstance(source, sources.Globals):\n",
        "what": "a global is what it was at the first call",
    },
    {
        "file": CAPTURE + "evaluator.py",
        "old": '                self.assume("LENGTH", source, len(items))\n',
        "new": "                pass\n",
        "what": "a list is as long as it was at the first call",
    },
    {
        "file": CAPTURE + "guards.py",
        "old": 'return f"type({x}) is {scope.const(cls)} and {x} == {text}"',
        "new": 'return f"{x} == {text}"',
        "what": "2 and 2.0 are taken for the same",
    },
    {
        "file": CAPTURE + "values/containers.py",
        "old": '                ev.assume("HAS_KEY", self.source, (raw, False))\n',
        "new": "                pass\n",
        "what": "a key that a dictionary did not have at the first call is never looked for again",
    },
]
