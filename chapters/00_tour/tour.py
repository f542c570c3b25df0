"""What the tour shows: one call of `explain`, and a part of what each stage made."""

import re

import torch
from running import Block, step

import minicompiler

explained = minicompiler.explain(step, Block(), torch.randn(4, 8))
forward = next(r for r in explained.records if r.name == "Block.forward")


def frames():
    for record in explained.records:
        made = record.stages
        if "guards" in made:  # others were looked at and left to Python
            nodes = len(made["graph"][0].graph.nodes) if "graph" in made else 0
            kernels = sum(map(len, made.get("kernels", ())))
            print(f"{record.name:34} {nodes:2} nodes, {kernels} kernels")


def graph():
    for node in forward.stages["graph"][0].graph.nodes:
        if node.op.startswith("call"):
            name = node.target if isinstance(node.target, str) else node.target.__name__
            print(f"{node.name:10} = {name}({', '.join(map(str, node.all_input_nodes))})")


def first_break():
    print(explained.breaks.split("\n\n")[1])


def guards():
    rows = list(map(str, forward.stages["guards"][0].rows))
    print(len(rows), "guards, among them")
    print(*(row for row in rows if re.search(r"seen 0|L\['x'\]|G\['F'\]", row)), sep="\n")


def replacement():
    print(forward.stages["replacement"][0])


def joint():
    made = forward.stages
    halves = made["partition"][0]
    graphs = {"captured": made["graph"][0], "joint": made["joint"][0]}
    graphs |= {"forward": halves.forward, "backward": halves.backward}
    for name, module in graphs.items():
        calls = [node for node in module.graph.nodes if node.op.startswith("call")]
        print(f"{name:8} {len(calls):2} operations")
    print("kept for the backward:", forward.counts["saved_bytes"], "bytes")


def one_loop():
    text = repr(forward.stages["program"][0])
    print(re.search(r"    # [^\n]*erf_default.*?(?=\n    # |\Z)", text, re.DOTALL)[0])


def kernel():
    text = forward.stages["kernels"][0][-1].text
    print(text[text.index('extern "C"') :])


def wrapper():
    lines = forward.stages["wrapper"][0].splitlines()
    told = re.compile("def call| fused_.*\\(|torch.ops|reuse|return")
    print(*(line for line in lines if told.search(line) and "#" not in line), sep="\n")


def later():
    minicompiler.reset()
    block, compiled = Block(), minicompiler.compile(step)
    for batch in 4, 4, 8:
        compiled(block, torch.randn(batch, 8))
        counted = minicompiler.stats()
        print("batch", batch, "graphs", counted["graphs"], "recompiles", counted["recompiles"])
    for reason in counted["recompile_reasons"]:
        print(re.sub(r" \(.*?\)(?=:)| \(assumed.*", "", reason))


def no_graph_of_the_whole_step():
    """Twice the branch on a value is in the way, once in `forward` and once for `step`, which calls
    it; then `backward`, and a write to `p.grad`. What lies between is compiled. The last frame is
    one of torch's, which the loop over the parameters calls."""
    for text in explained.breaks.split("\n\n"):
        print(text)


def compiled_ahead():
    """Nothing is compiled when `compile` is called, as the types and sizes are not known yet."""
    minicompiler.reset()
    compiled = minicompiler.compile(step)
    print(minicompiler.stats()["graphs"], "graphs")
    compiled(Block(), torch.randn(4, 8))
    print(minicompiler.stats()["graphs"], "graphs")


def another_program():
    """Weights, loss and counter are those of eager after five steps, up to rounding. What cannot be
    proven to be so is not compiled."""
    results = []
    for run in step, minicompiler.compile(step):
        torch.manual_seed(0)
        block = Block()
        for _ in range(5):
            loss = run(block, torch.randn(4, 8))
        results.append([loss, *block.parameters(), torch.tensor(block.seen)])
    print(all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*results)))


if __name__ == "__main__":
    from telling import tell

    tell(__file__)
