"""The questions of the chapter: each is a function, and prints the answer."""

from minicompiler.capture import frame_hook


def noting(seen):
    """A callback that only notes names: None lets the frame run as Python would."""

    def note(code, function, vector):
        seen.append(code.co_name)

    return note


def called_from_c():
    """`sorted` is a C function and has no frame, so it is not offered. But what it calls back is
    Python, and starts as every Python function does: in the evaluator."""

    def key(n):
        return -n

    def f():
        return sorted([1, 2, 3], key=key)

    seen = []
    frame_hook.run(noting(seen), None, f)
    print(seen)


def once_or_each_time():
    """The callback is asked whenever no recorded entry fits, so this one is asked at every call.
    `frame_hook.skip` makes the answer final, and so does recording an entry."""

    def f(n):
        return n and f(n - 1)

    seen = []
    frame_hook.run(noting(seen), None, f, 3)
    print(len(seen), "times")


def generators():
    """`squares` is offered to nobody: a generator's frame is left and entered again many times, and
    ends in no return. A compiler would meet it in `f`, which consumes it, and evaluate it there;
    this callback answers None, so that Python runs both."""

    def squares(n):
        for i in range(n):
            yield i * i

    def f(n):
        return sum(squares(n))

    seen = []
    frame_hook.run(noting(seen), None, f, 3)
    print(seen)


def what_the_callback_calls():
    """While the callback is asked the hook is off: a compiler is Python, too, and would otherwise
    be offered its own frames, for ever."""

    def busy(code, function, vector):
        seen.append(code.co_name)
        helper()

    def helper():
        return 1

    def f():
        return helper() + 1

    seen = []
    frame_hook.run(busy, None, f)
    print(seen)


def another_function_with_the_same_code():
    """Both closures run one code object, and entries belong to the code: the second finds what was
    recorded for the first. So a compiler has to guard what differs, here the cell: it is the last
    part of the vector, behind the arguments."""

    def times(k):
        def inner(x):
            return k * x

        return inner

    def always_two(code, function, vector):
        if code.co_name == "inner":
            print("vector:", [getattr(v, "cell_contents", v) for v in vector])
            replacement = lambda x, cell: 2 * x
            frame_hook.skip(replacement.__code__)
            frame_hook.replace(code, [("mine", (), replacement)])  # no guard at all
            return replacement

    twice, thrice = times(2), times(3)
    print(frame_hook.run(always_two, "mine", twice, 10), "and", end=" ")
    print(frame_hook.run(always_two, "mine", thrice, 10))


def an_error_in_a_guard():
    """A guard runs in the place of the user's call, so its error is the user's to see. Ours are
    generated and do not raise; what a guard must never do is swallow."""

    def f(x):
        return x

    def guard(x):
        return x.missing

    frame_hook.replace(f.__code__, [("mine", (guard,), None)])
    try:
        frame_hook.run(noting([]), "mine", f, 1)
    except AttributeError as error:
        print(error)


if __name__ == "__main__":
    from telling import tell

    tell(__file__)
