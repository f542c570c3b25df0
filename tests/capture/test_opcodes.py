"""Every opcode of the running Python has an answer."""

import dis
import sys

import pytest

from minicompiler.capture.decode import EITHER_WAY, PREFIXES, decode
from minicompiler.capture.opcodes import HANDLERS, REFUSED

NEVER_MET = PREFIXES | set(
    # of the interpreter itself, or put in by it
    "RESERVED INTERPRETER_EXIT ENTER_EXECUTOR EXIT_INIT_CHECK BINARY_OP_INPLACE_ADD_UNICODE "
    # generators and coroutines are not evaluated as the outermost frame, nor awaited
    "ASYNC_GEN_WRAP BEFORE_ASYNC_WITH END_ASYNC_FOR GET_AITER GET_ANEXT "
    "GET_AWAITABLE "
    # bodies of classes and modules
    "IMPORT_STAR LOAD_LOCALS LOAD_NAME STORE_NAME DELETE_NAME LOAD_FROM_DICT_OR_DEREF "
    "LOAD_FROM_DICT_OR_GLOBALS LOAD_CLASSDEREF PRINT_EXPR SETUP_ANNOTATIONS "
    "ANNOTATIONS_PLACEHOLDER "
    # behind one that is refused
    "BUILD_INTERPOLATION PREP_RERAISE_STAR".split()
)

# Other Pythons that this project runs on; their opcodes are in the tables as well.
NEWER = {
    (3, 12): "END_FOR END_SEND RETURN_CONST LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK BINARY_SLICE "
    "STORE_SLICE LOAD_SUPER_ATTR CALL_INTRINSIC_1 CALL_INTRINSIC_2 CLEANUP_THROW",
    (3, 13): "TO_BOOL CALL_KW FORMAT_SIMPLE FORMAT_WITH_SPEC CONVERT_VALUE SET_FUNCTION_ATTRIBUTE "
    "LOAD_FAST_LOAD_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST",
    (3, 14): "LOAD_SMALL_INT LOAD_SPECIAL LOAD_COMMON_CONSTANT POP_ITER NOT_TAKEN LOAD_FAST_BORROW "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW BUILD_TEMPLATE BUILD_INTERPOLATION",
}


def real_opcodes():
    pseudo = {name for name, code in dis.opmap.items() if code > 255}
    instrumented = {name for name in dis.opmap if name.startswith("INSTRUMENTED_")}
    return {EITHER_WAY.sub("", name) for name in set(dis.opmap) - pseudo - instrumented}


def test_every_opcode_is_handled_refused_or_never_met():
    assert real_opcodes() <= set(HANDLERS) | set(REFUSED) | NEVER_MET
    assert not set(HANDLERS) & set(REFUSED)
    assert not set(HANDLERS) & NEVER_MET


@pytest.mark.parametrize("version", NEWER)
def test_opcodes_of_newer_pythons(version):
    missing = set(NEWER[version].split()) - set(HANDLERS) - set(REFUSED) - NEVER_MET
    assert not missing


def test_refusals_are_sentences():
    assert all(len(reason.split()) > 1 for reason in REFUSED.values())


def example(a, *, b=2):
    for i in range(a):
        try:
            print(i, end=b)
        except ValueError:
            continue
    while a:
        a -= 1
    return a


def test_decoding():
    code = decode(example.__code__)
    # though from 3.12 on the handler that continues the first loop lies behind the second
    first, second = code.loops
    assert first.stop <= second.start
    assert len(first) > 1 and len(second) > 1
    assert code.live[0] == {"a", "b"}
    assert code.live[len(code.instructions) - 1] <= {"a"}
    call = next(
        i for i in code.instructions if i.opname.startswith("CALL") and code.handler(i.index)
    )
    handler = code.handler(call.index)
    assert handler is not None and handler.depth == 1  # the iterator of the loop stays
    if sys.version_info < (3, 13):
        assert call.kwnames == ("end",)
