# teaches: a global is what it was at the first call
import torch

scale = 1.0


def branch(x, given):
    if x.sum() > 0:
        return x * 2
    return x - 1


def asserts(x, given):
    assert x.sum() > 0
    return x * 2


def raises(x, given):
    if (x < 0).any():
        raise ValueError("negative")
    return x * 2


def value(x, given):
    return x * x.item() if x.numel() == 1 else x


def size(x, given):
    return x.new_ones(2) * x.shape[0]


def number(x, given):
    return x * given["number"], given["number"] / 2


def text(x, given):
    return x * 2, str(given["number"])


def uses_global(x, given):
    return x * scale


def loop(x, given):
    for n in given["numbers"]:
        x = x + n
    return x


def key(x, given):
    return x * 2 if "extra" in given else x - 1


PROGRAMS = (branch, asserts, raises, value, size)


def observed(f, x, given):
    try:
        return str(f(x, given))
    except Exception as error:
        return type(error).__name__


def check(compile, rng):
    global scale
    for program in PROGRAMS:
        compiled = compile(program)
        given = {"number": 2, "numbers": [1]}
        for call in range(5):
            scale = float(call)
            given["number"] = (2, 2.0, 3, 4.5, 2)[call]
            given["numbers"].append(call)
            if call == 2:
                given["extra"] = 1
            for sign in (1, -1):
                for size in (1, 2 + call):
                    x = torch.full((size,), sign * (1.0 + call))
                    expected, found = observed(program, x, given), observed(compiled, x, given)
                    assert found == expected, f"{program.__name__}: {found}, not {expected}"
