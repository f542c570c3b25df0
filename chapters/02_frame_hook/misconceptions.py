"""What is often said of frame hooks, and a run that shows what is so."""

import torch

import minicompiler
from minicompiler.capture import frame_hook


def the_decorated_function_is_rewritten():
    """The function stays as it is, its `__code__` too. What is compiled lies beside the code
    object, and is taken only where a compiled function is being called."""

    def helper(x):
        return x * 2

    def f(x):
        return helper(x) + 1

    before = f.__code__, helper.__code__
    compiled = minicompiler.compile(f, backend="eager")
    compiled(torch.ones(2))
    print((f.__code__, helper.__code__) == before, minicompiler.stats()["graphs"])
    helper(torch.ones(2))  # not called from compiled code: runs as ever
    print(minicompiler.stats()["frames"])


def every_call_in_the_process_is_slower():
    """Outside of the region no evaluator is installed, so nothing is paid. `evaluating` says which
    function CPython calls for a frame: its own, or ours."""
    import ctypes

    interpreter = ctypes.pythonapi.PyInterpreterState_Get
    interpreter.restype = ctypes.c_void_p
    get = ctypes.pythonapi._PyInterpreterState_GetEvalFrameFunc
    get.argtypes, get.restype = [ctypes.c_void_p], ctypes.c_void_p
    evaluating = lambda: get(interpreter())
    outside = evaluating()
    inside = frame_hook.run(lambda *frame: None, None, evaluating)
    print(inside != outside, evaluating() == outside)


def a_hook_slows_every_operation():
    """The hook is asked once a call of a Python function. What happens inside the frame, here a
    thousand additions, is CPython's as ever."""
    asked = []

    def f(n):
        total = 0
        for i in range(n):
            total += i
        return total

    print(frame_hook.run(lambda code, *_: asked.append(code.co_name), None, f, 1000), asked)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)
