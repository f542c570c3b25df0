# teaches: through the steps that the program took
from minicompiler.capture.emit import Text, replay_dict, set_slot
from minicompiler.capture.side_effects import Call
from minicompiler.capture.source import builtin_of
from minicompiler.capture.values import Cell, Dict, List, Obj, Set


def replay(t: Text, of: Obj | Call) -> None:
    """The lines that bring an outside object into its final state."""
    if isinstance(of, Call):
        t.after.append(t.call(of))
        return
    if isinstance(of, Dict):
        replay_dict(t, of)
    name = t.value(of) if of.written or not isinstance(of, Dict) else ""
    if isinstance(of, Cell):
        content = f"{name}.cell_contents"
        t.after.append(f"{content} = {t.value(of.content)}" if of.content else f"del {content}")
    elif isinstance(of, Set):
        t.after += [f"{t.const(set)}.{step}({t.items([of, *on])})" for step, on in of.steps[:1]]
    elif isinstance(of, List) and of.changed:
        base = t.const(builtin_of(of.cls))
        t.after += [f"{base}.clear({name})"] * (of.unread is None)
        t.after.append(f"{base}.extend({name}, ({t.items(of.held)}))")
    t.after += [set_slot(t, name, field, of.fields[field]) for field in of.written]
