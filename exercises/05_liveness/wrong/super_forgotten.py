# teaches, until 3.11: super() reads the first argument
from minicompiler.capture.decode import FAST, Code


def live(self: Code) -> list[frozenset[str]]:
    none = frozenset[str]()
    live, before = [none] * (len(self.instructions) + 1), [none]
    while live != before:
        before = list(live)
        for i, inst in reversed(list(enumerate(self.instructions))):
            handler = self.handler(i)
            after = [*self.successors(i), *([handler.target] if handler else [])]
            live[i] = none.union(*(live[j] for j in after))
            names = inst.argval if isinstance(inst.argval, tuple) else (inst.argval,)
            for does, name in reversed(list(zip(FAST.findall(inst.opname), names))):
                if (name in self.code.co_cellvars) != ("DEREF" in inst.opname):
                    continue  # 3.13 loads the cell itself; a variable of another function
                live[i] = live[i] - {name} if does == "STORE" else live[i] | {name}
    return live
