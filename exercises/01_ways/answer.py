ANSWERS = {
    "trace_branch": [-6.0, 2.0],
    "trace_size": [2.0, 4.0],
    "trace_loop": [3.0, 3.0],
    "trace_counter": 1,
    "symbolic_branch": "TraceError",
    "symbolic_global": [2.0, 6.0],
    "symbolic_counter": 1,
    "bytecode_branch": 3,
    "bytecode_global": [5.0, 15.0, 2],
    "bytecode_counter": [3, 1],
}
