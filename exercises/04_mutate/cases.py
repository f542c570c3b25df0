"""Faults in the guards, each of which some change between two calls shows."""

GUARDS = "minicompiler/capture/guards.py"
FACTS = "minicompiler/capture/facts.py"
EVALUATOR = "minicompiler/capture/evaluator.py"
CONVERT = "minicompiler/capture/convert.py"

WANTED = 8

FAULTS = [
    {
        "file": GUARDS,
        "old": 'return f"type({x}) is {scope.const(cls)} and {x} == {text}"',
        "new": 'return f"{x} == {text}"',
        "what": "a number is compared without its type",
    },
    {
        "file": FACTS,
        "old": 'return cls, struct.pack("<dd", value.real, value.imag)',
        "new": "return cls, value",
        "what": "0.0 and -0.0 count as one",
    },
    {
        "file": GUARDS,
        "old": "lambda x, n, scope: f\"{scope.method(x, '__len__')}({x}) == {n}\"",
        "new": "lambda x, n, scope: f\"{scope.method(x, '__len__')}({x}) >= {n}\"",
        "what": "a list may have grown",
    },
    {
        "file": GUARDS,
        "old": "({x}, {s.const(e[0])}) is {e[1]}",
        "new": "({x}, {s.const(e[0])}) in (True, False)",
        "what": "a key that was not there may have come",
    },
    {
        "file": FACTS,
        "old": "if key is not want and key_form(key) != want:",
        "new": "if key_form(key) not in expected:",
        "what": "the keys of a dictionary may have another order",
    },
    {
        "file": EVALUATOR,
        "old": 'self.assume("ALIASED", source, known.source)',
        "new": "pass",
        "what": "two names of one object may be of two objects",
    },
    {
        "file": CONVERT,
        "old": 'ev.guards.add("DISTINCT", None, sources, frame.where())',
        "new": "pass",
        "what": "two objects, of which one is written, may be one",
    },
    {
        "file": EVALUATOR,
        "old": """\
            if source is not None:
                self.assume("EQUALS", source, real)
            python""",
        "new": "            python",
        "what": "a set may hold something else",
    },
    {
        "file": "minicompiler/capture/binding.py",
        "old": "rows = [g for g in rows if not g.alone]",
        "new": "rows = [g for g in rows if not g.alone and g.kind != 'TYPE']",
        "what": "an object may be of another class",
    },
    {
        "file": GUARDS,
        "old": 'if k not in ("ABC", "SDP"))',
        "new": 'if k not in ("ABC", "SDP", "DEFAULT_DTYPE"))',
        "what": "the default dtype may be another",
    },
]
