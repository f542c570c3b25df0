import torch


def backwards(x, items):
    return x + 1, list(reversed(items)), [k for k, _ in enumerate(reversed(tuple(items)))]


def grows(x, items):
    it = iter(items)
    seen = list(it)
    items.extend((7, 8, 9))
    return x + 1, seen, list(it)


def starred(x, items):
    a, *b, c = items
    (d, e), *f = [(a, c), *b]
    return x * a, b, c, d, e, f


def too_many(x, items):
    y = x * 2
    try:
        a, b = items
    except ValueError:
        return y, "raised"
    return y, a, b


def other(x, items):
    class_of = {0: IndexError, 1: KeyError}
    y = x * 3
    try:
        raise class_of[len(items) % 2]("here")
    except ValueError:
        return y, "ValueError"
    except KeyError:
        return y, "KeyError"
    except LookupError as error:
        return y, type(error).__name__


def again(x, items):
    y = x * 4
    try:
        try:
            raise ValueError("outer")
        except ValueError:
            try:
                raise KeyError("inner")
            except KeyError:
                y = y + 1
            raise
    except (ValueError, KeyError) as error:
        return y, type(error).__name__


def last(x, items):
    table = {k: str(k) for k in items}
    table[items[0]] = "first"
    return x * 5, table.popitem(), list(table.items())


def inner(items):
    got = []
    for k in items:
        got.append((yield k))
    return got


def outer(items):
    found = yield from inner(items)
    yield found


def sends(x, items):
    g = outer(items)
    return x * 6, [next(g)] + [g.send(10 + k) for k in items]


def stable(x, items):
    pairs = [(k % 2, k) for k in items]
    return x * 7, sorted(pairs, key=lambda p: p[0], reverse=True), sorted(pairs)


PROGRAMS = (backwards, grows, starred, too_many, other, again, last, sends, stable)


def observed(f, x, items):
    try:
        return str(f(x, list(items)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(compile, rng):
    for program in PROGRAMS:
        compiled = compile(program)
        for _ in range(2):
            items = [rng.randrange(10) for _ in range(rng.randrange(4, 7))]
            expected = observed(program, torch.ones(2), items)
            found = observed(compiled, torch.ones(2), items)
            assert found == expected, f"{program.__name__} of {items}: {found}, not {expected}"
