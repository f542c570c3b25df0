/* The frame hook: runs compiled code in place of a Python frame (PEP 523), Python 3.11 to 3.14.

   While a region is active on this thread, each Python function that starts is looked up in a
   holder that hangs on its code object. An entry whose guard accepts the arguments gives the
   replacement, which is called instead; the original frame then ends without having run. Where no
   entry fits, the region's callback is asked. Everything else is Python's business.

   The GIL protects all state here that is not per thread. */
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1 /* frames are internal to CPython; see "versions" below */
#include <Python.h>

#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#include <internal/pycore_ceval.h>
#include <opcode.h>

/* in the static TLS block: one load instead of a call */
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))

typedef struct _PyInterpreterFrame Frame;

/* ---- versions: how to look into a frame, and how to end one that never ran ---- */

#if PY_VERSION_HEX >= 0x030E0000
#define CODE(f) _PyFrame_GetCode(f)
#define FUNCTION(f) _PyFrame_GetFunction(f)
#define LOCAL(f, i) PyStackRef_AsPyObjectBorrow((f)->localsplus[i])
#elif PY_VERSION_HEX >= 0x030D0000
#define CODE(f) ((PyCodeObject *)(f)->f_executable)
#define FUNCTION(f) ((PyFunctionObject *)(f)->f_funcobj)
#elif PY_VERSION_HEX >= 0x030C0000
#define CODE(f) ((f)->f_code)
#define FUNCTION(f) ((PyFunctionObject *)(f)->f_funcobj)
#else
#define CODE(f) ((f)->f_code)
#define FUNCTION(f) ((f)->f_func)
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#endif

#if PY_VERSION_HEX >= 0x030C0000
#define ERROR_FETCH PyObject *error = PyErr_GetRaisedException()
#define ERROR_RESTORE if (error) PyErr_SetRaisedException(error)
#endif

/* Ends frame f, which has not run an instruction, with `result`: a new reference, or NULL with an
   exception set. The one who called the frame expects it popped on 3.12 and later. */
static PyObject *finish(PyThreadState *ts, Frame *f, PyObject *result)
{
#if PY_VERSION_HEX >= 0x030D0000
    ERROR_FETCH; /* clearing a frame runs finalizers */
    _PyEval_FrameClearAndPop(ts, f);
    ERROR_RESTORE;
    return result;
#elif PY_VERSION_HEX >= 0x030C0000
    /* RETURN_VALUE pops the frame for us: push what it shall return, and run just that. An error
       cannot be thrown into the frame (tracers would see events of code that never ran), so the
       frame returns None and the error is set again. co_stacksize >= 1 is checked before. */
    static _Py_CODEUNIT only_return[2] = {{.op = {.code = NOP}}, {.op = {.code = RETURN_VALUE}}};
    ERROR_FETCH;
    f->localsplus[f->stacktop++] = result ? result : Py_NewRef(Py_None);
    f->prev_instr = only_return;
    result = _PyEval_EvalFrameDefault(ts, f, 0);
    if (error) Py_CLEAR(result);
    ERROR_RESTORE;
    return result;
#else
    return result; /* 3.11: the caller clears the frame */
#endif
}

/* A new reference to `held`, or to what it refers to weakly; NULL (no error) when that is dead. */
static PyObject *alive(PyObject *held)
{
    if (!PyWeakref_CheckRefExact(held)) return Py_NewRef(held);
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *target;
    return PyWeakref_GetRef(held, &target) > 0 ? target : NULL;
#else
    PyObject *target = PyWeakref_GET_OBJECT(held);
    return target == Py_None ? NULL : Py_NewRef(target);
#endif
}

/* Where a number stands that changes whenever an item is set or deleted; at 0 where Python does not
   tell. */
static const uint64_t *version_of(PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030D0000
    static const uint64_t none = 0;
#endif
#if PY_VERSION_HEX >= 0x030E0000
    return &none;
#else
#if PY_VERSION_HEX >= 0x030D0000 /* attributes stored inside the object change without notice */
    if (((PyDictObject *)dict)->ma_values) return &none;
#endif
    _Py_COMP_DIAG_PUSH
    _Py_COMP_DIAG_IGNORE_DEPR_DECLS
    return &((PyDictObject *)dict)->ma_version_tag;
    _Py_COMP_DIAG_POP
#endif
}

/* ---- what is known about a code object ---- */

enum { MAY_RUN = 0, SKIP_FRAME = 1, SKIP_CALLS = 2 }; /* SKIP_CALLS: nor anything called from it */

typedef struct {
    int skip;
    int running;       /* skipped calls of this code under way: more than a few is recursion */
    PyObject *globals; /* borrowed, only compared: entries are for functions with these globals */
    PyObject *entries; /* NULL, or tuple (region, (guard...), replacement) * n; replaced, never
                          changed, so that whoever walks it is safe while guards run */
} Holder;

static Py_ssize_t extra_index;

/* One holder per code object for its whole life: setting another would free this one under us. */
static void holder_free(void *memory)
{
    Holder *h = memory;
    if (!h) return;
    Py_XDECREF(h->entries);
    PyMem_Free(h);
}

static Holder *holder_of(PyCodeObject *code, int create)
{
    void *found = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, extra_index, &found) < 0) PyErr_Clear();
    if (found || !create) return found;
    Holder *h = PyMem_Calloc(1, sizeof(Holder));
    if (!h) { PyErr_NoMemory(); return NULL; }
    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index, h) == 0) return h;
    PyMem_Free(h);
    return NULL;
}

/* The entry at i has just been used: the next call likely needs it again. */
static void move_to_front(Holder *h, PyObject *entries, Py_ssize_t i)
{
    Py_ssize_t n = PyTuple_GET_SIZE(entries);
    PyObject *moved = PyTuple_New(n);
    if (!moved) { PyErr_Clear(); return; }
    for (Py_ssize_t to = 0; to < n; to++) {
        Py_ssize_t from = to < 3 ? i + to : to < i + 3 ? to - 3 : to;
        PyTuple_SET_ITEM(moved, to, Py_NewRef(PyTuple_GET_ITEM(entries, from)));
    }
    if (h->entries == entries) Py_SETREF(h->entries, moved); /* else: changed while we allocated */
    else Py_DECREF(moved);
}

/* ---- when the hook is on ---- */

typedef struct {
    PyObject *callback; /* owned; NULL: the hook is off on this thread */
    PyObject *region;   /* owned; entries of other regions are not seen */
    int internal;       /* off because the compiler itself is at work */
} State;

PER_THREAD State here;
PER_THREAD Frame *passed_on; /* the frame just given to a foreign evaluator */

static Py_ssize_t active;             /* how many regions, of all threads, are on */
static _PyFrameEvalFunction foreign;  /* the evaluator found at installing, NULL: CPython's own */

static PyObject *hook(PyThreadState *ts, Frame *f, int throwflag);

/* An installed evaluator makes every Python call use the C stack (RecursionError comes early), so
   it is installed only while a region is active somewhere. */
static void count_active(int change)
{
    PyInterpreterState *interp = PyInterpreterState_Get();
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(interp);
    active += change;
    if (active && now != hook) {
        foreign = now == _PyEval_EvalFrameDefault ? NULL : now;
        _PyInterpreterState_SetEvalFrameFunc(interp, hook);
    } else if (!active && now == hook) {
        _PyInterpreterState_SetEvalFrameFunc(interp, foreign ? foreign : _PyEval_EvalFrameDefault);
    }
}

/* Replaces this thread's state; takes over the references in `to` and gives away those returned. */
static State switch_to(State to)
{
    State from = here;
    int change = (to.callback != NULL) - (from.callback != NULL);
    here = to;
    if (change) count_active(change);
    return from;
}

static void state_clear(State s) { Py_XDECREF(s.callback); Py_XDECREF(s.region); }

/* ---- running frames ---- */

/* The frame as Python would run it, calls from it hooked if the hook is on. */
static PyObject *plainly(PyThreadState *ts, Frame *f, int throwflag)
{
    if (!foreign || here.internal || f == passed_on) { /* passed on: a chain may lead back to us */
        passed_on = NULL;
        return _PyEval_EvalFrameDefault(ts, f, throwflag);
    }
    passed_on = f;
    PyObject *result = foreign(ts, f, throwflag);
    passed_on = NULL;
    return result;
}

#define DEEP 64 /* calls of one skipped function, one in another, before the hook goes off */

static PyObject *skipping(PyThreadState *ts, Frame *f, PyCodeObject *code, Holder *h)
{
    PyObject *result;
    Py_INCREF(code); /* and with it h */
    if (h->skip == SKIP_CALLS || h->running >= DEEP) {
        State before = switch_to((State){NULL, NULL, here.internal});
        result = plainly(ts, f, 0);
        switch_to(before);
    } else {
        h->running++;
        result = plainly(ts, f, 0);
        h->running--;
    }
    Py_DECREF(code);
    return result;
}

/* Does a guard hold? -1: it raised. Where it answers with a tuple, not True, the replacement takes
   that (`last`, a new reference) as its last argument. */
static int holds(PyObject *guard, PyObject *const *vector, Py_ssize_t n, PyObject **last)
{
    PyObject *check = alive(guard);
    if (!check) return 0;
    PyObject *answer = PyObject_Vectorcall(check, vector, n, NULL);
    Py_DECREF(check);
    if (!answer) return -1;
    Py_CLEAR(*last);
    if (PyTuple_CheckExact(answer)) *last = answer;
    else Py_DECREF(answer); /* True and False outlive this */
    return answer == Py_True || *last;
}

/* The replacement of the first entry whose guards hold (new reference), Py_None to run eagerly, or
   NULL: with an error when a guard raised, without when no entry fits. */
static PyObject *look_up(Holder *h, PyObject *const *vector, Py_ssize_t n, PyObject **last)
{
    PyObject *entries = Py_NewRef(h->entries), *found = NULL;
    State before = here;
    here = (State){NULL, NULL, 1}; /* a guard is a Python function; it shall not be hooked */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); i += 3) {
        PyObject *guards = PyTuple_GET_ITEM(entries, i + 1);
        int held = PyTuple_GET_ITEM(entries, i) == before.region;
        for (Py_ssize_t k = 0; held > 0 && k < PyTuple_GET_SIZE(guards); k++)
            held = holds(PyTuple_GET_ITEM(guards, k), vector, n, last);
        if (held < 0) break;
        if (!held || !(found = alive(PyTuple_GET_ITEM(entries, i + 2)))) continue;
        if (i && PyTuple_GET_SIZE(guards)) move_to_front(h, entries, i);
        break;
    }
    here = before;
    if (!found || found == Py_None) Py_CLEAR(*last); /* it may have died while a guard ran */
    Py_DECREF(entries);
    return found;
}

static PyObject *ask(PyCodeObject *code, PyFunctionObject *function, PyObject *const *vector,
                     Py_ssize_t n)
{
    PyObject *arguments = PyTuple_New(n), *answer;
    if (!arguments) return NULL;
    for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(arguments, i, Py_NewRef(vector[i]));
    State before = switch_to((State){NULL, NULL, 1});
    answer = PyObject_CallFunctionObjArgs(before.callback, code, function, arguments, NULL);
    switch_to(before);
    Py_DECREF(arguments);
    return answer;
}

/* Frames that are no plain function call, and on 3.12 those that `finish` could not end. */
static int unsuitable(PyCodeObject *code)
{
    int kind = code->co_flags & (CO_OPTIMIZED | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
    return kind != CO_OPTIMIZED || code->co_stacksize < 1;
}

static PyObject *hook(PyThreadState *ts, Frame *f, int throwflag)
{
    if (!here.callback || throwflag || f->owner != FRAME_OWNED_BY_THREAD || f == passed_on)
        return plainly(ts, f, throwflag);
    PyCodeObject *code = CODE(f);
    Holder *h = holder_of(code, 0);
    if (h && h->skip) return skipping(ts, f, code, h);
    /* nor is an audit hook or a tracer, which listens meanwhile, part of the program */
    if (unsuitable(code) || ts->tracing) return plainly(ts, f, 0);

    /* the vector: arguments in the order of localsplus, then the cells of the closure. As no
       instruction has run, arguments that will live in cells are still plain. */
    PyFunctionObject *function = FUNCTION(f);
    PyObject *closure = function->func_closure;
    Py_ssize_t n_args = code->co_argcount + code->co_kwonlyargcount +
                        !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
    Py_ssize_t n = n_args + (closure ? PyTuple_GET_SIZE(closure) : 0);
    PyObject *copied[n + 1], **vector = copied;
#ifndef LOCAL /* localsplus is an array of objects: no need to copy */
#define LOCAL(f, i) ((f)->localsplus[i])
    if (n == n_args) vector = f->localsplus;
    else
#endif
    {
        for (Py_ssize_t i = 0; i < n_args; i++) vector[i] = LOCAL(f, i);
        for (Py_ssize_t i = n_args; i < n; i++) vector[i] = PyTuple_GET_ITEM(closure, i - n_args);
    }

    PyObject *replacement = NULL, *result = NULL, *last = NULL;
    if (h && h->entries && (!h->globals || h->globals == function->func_globals))
        replacement = look_up(h, vector, n, &last);
    if (!replacement && !PyErr_Occurred()) replacement = ask(code, function, vector, n);
    if (replacement == Py_None) {
        Py_DECREF(replacement);
        h = holder_of(code, 1);
        return h ? skipping(ts, f, code, h) : finish(ts, f, NULL);
    }
    if (replacement) {
        if (last && vector != copied) vector = memcpy(copied, vector, n * sizeof(PyObject *));
        if (last) vector[n++] = last;
        result = PyObject_Vectorcall(replacement, vector, n, NULL);
        Py_DECREF(replacement);
    }
    Py_XDECREF(last);
    return finish(ts, f, result);
}

/* ---- the module's functions ---- */

static PyObject *m_run(PyObject *module, PyObject *const *a, Py_ssize_t n, PyObject *keywords)
{
    if (n < 3) return PyErr_Format(PyExc_TypeError, "run(callback, region, function, ...)");
    State before = switch_to((State){a[0] == Py_None ? NULL : Py_NewRef(a[0]), Py_NewRef(a[1]), 0});
    PyObject *result = PyObject_Vectorcall(a[2], a + 3, n - 3, keywords);
    state_clear(switch_to(before));
    return result;
}

static PyObject *m_enter(PyObject *module, PyObject *args)
{
    PyObject *callback, *region;
    int internal = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &callback, &region, &internal)) return NULL;
    State to = {callback == Py_None ? NULL : Py_NewRef(callback), Py_NewRef(region), internal};
    State from = switch_to(to);
    PyObject *was = Py_BuildValue("(OOi)", from.callback ? from.callback : Py_None,
                                  from.region ? from.region : Py_None, from.internal);
    state_clear(from);
    return was;
}

static PyObject *m_set(PyObject *module, PyObject *args)
{
    PyObject *code, *entries, *globals = NULL;
    int skip;
    if (!PyArg_ParseTuple(args, "O!iO|O", &PyCode_Type, &code, &skip, &entries, &globals))
        return NULL;
    int given = PyTuple_Check(entries);
    for (Py_ssize_t i = 0; given && i < PyTuple_GET_SIZE(entries); i += 3)
        if (i + 3 > PyTuple_GET_SIZE(entries) || !PyTuple_Check(PyTuple_GET_ITEM(entries, i + 1)))
            return PyErr_Format(PyExc_ValueError, "entries are region, guards, replacement");
    Holder *h = holder_of((PyCodeObject *)code, 1);
    if (!h) return NULL;
    if (skip >= 0) h->skip = skip;
    if (globals) h->globals = globals == Py_None ? NULL : globals;
    if (given) Py_XSETREF(h->entries, PyTuple_GET_SIZE(entries) ? Py_NewRef(entries) : NULL);
    return h->entries ? Py_NewRef(h->entries) : PyTuple_New(0);
}

/* Calls `run` and all that it calls with the hook off; tuples among the arguments are spread. */
static PyObject *call_graph(PyObject *run, PyObject *const *a, Py_ssize_t n)
{
    Py_ssize_t total = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        total += PyTuple_CheckExact(a[i]) ? PyTuple_GET_SIZE(a[i]) : 1;
    PyObject *flat[total + 1], **to = flat;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyTuple_CheckExact(a[i])) *to++ = a[i];
        else for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(a[i]); k++)
            *to++ = PyTuple_GET_ITEM(a[i], k);
    }
    State before = switch_to((State){NULL, NULL, here.internal});
    PyObject *result = PyObject_Vectorcall(run, flat, total, NULL);
    switch_to(before);
    return result;
}

static PyMethodDef graph = {"graph", (PyCFunction)(void (*)(void))call_graph, METH_FASTCALL};

static PyObject *m_graph(PyObject *module, PyObject *run) { return PyCFunction_New(&graph, run); }

static PyObject *missing; /* what a look-up returns that found nothing */

static PyObject *m_own_dict(PyObject *module, PyObject *object)
{
    if (PyType_Check(object)) return PyErr_Format(PyExc_TypeError, "%R is a class", object);
    return PyObject_GenericGetDict(object, NULL);
}

static PyObject *m_c_name(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type)) return PyErr_Format(PyExc_TypeError, "%R is no class", type);
    return PyUnicode_FromString(((PyTypeObject *)type)->tp_name);
}

static PyObject *m_generic(PyObject *module, PyObject *type)
{
    return PyBool_FromLong(((PyTypeObject *)type)->tp_getattro == PyObject_GenericGetAttr);
}

static PyObject *m_type_lookup(PyObject *module, PyObject *const *a, Py_ssize_t n)
{
    if (n != 2 || !PyType_Check(a[0]) || !PyUnicode_Check(a[1]))
        return PyErr_Format(PyExc_TypeError, "type_lookup(class, name)");
    PyObject *found = _PyType_Lookup((PyTypeObject *)a[0], a[1]);
    return Py_NewRef(found ? found : missing);
}

/* ---- names of modules and classes that capture takes as they are, unless somebody patches them */

typedef struct {
    PyObject *space, *names; /* owned: a dictionary or a class; name -> what was found there */
    uint64_t version;        /* at which all were found again; 0: look at every call */
} Trusted;

static Trusted *trusted;
static int n_trusted;

static PyObject *m_trust(PyObject *module, PyObject *const *a, Py_ssize_t n)
{
    if (n != 2 || !(PyDict_Check(a[0]) || PyType_Check(a[0])) || !PyDict_Check(a[1]))
        return PyErr_Format(PyExc_TypeError, "trust(dictionary or class, names)");
    Trusted *more = PyMem_Realloc(trusted, (n_trusted + 1) * sizeof(Trusted));
    if (!more) return PyErr_NoMemory();
    trusted = more;
    trusted[n_trusted++] = (Trusted){Py_NewRef(a[0]), Py_NewRef(a[1]), 0};
    Py_RETURN_NONE;
}

static PyObject *m_patched(PyObject *module, PyObject *none)
{
    PyObject *changed = PyTuple_New(0), *name, *expected;
    for (Trusted *t = trusted; changed && t < trusted + n_trusted; t++) {
        PyTypeObject *type = PyType_Check(t->space) ? (PyTypeObject *)t->space : NULL;
        uint64_t version = type ? type->tp_version_tag : *version_of(t->space);
        if (version && version == t->version) continue;
        int same = 1;
        for (Py_ssize_t i = 0; changed && PyDict_Next(t->names, &i, &name, &expected);) {
            PyObject *now = type ? _PyType_Lookup(type, name) : PyDict_GetItem(t->space, name);
            if (!now) now = missing;
            if (now == expected) continue;
            same = 0;
            PyObject *pair = Py_BuildValue("((OO))", name, now);
            Py_SETREF(changed, pair ? PySequence_Concat(changed, pair) : NULL);
            Py_XDECREF(pair);
        }
        t->version = !same ? 0 : type ? type->tp_version_tag : version;
    }
    return changed;
}

#include "_walk.c"

static PyMethodDef methods[] = {
    /* run(callback, region, function, *args, **kwargs): call the function with the hook on */
    {"run", (PyCFunction)(void (*)(void))m_run, METH_FASTCALL | METH_KEYWORDS},
    /* enter(callback | None, region, internal): sets the state, returns the one before */
    {"enter", m_enter, METH_VARARGS},
    /* set(code, skip, (region, guards, replacement) * n, globals) -> the entries: skip -1, entries
       None: as they are; globals None: any */
    {"set", m_set, METH_VARARGS},
    /* graph(run) -> a function that calls it, and all that it calls, as Python would; tuples among
       its arguments stand for their items */
    {"graph", m_graph, METH_O},
    /* own_dict(object): an instance's dictionary, whatever its class makes of __dict__ */
    {"own_dict", m_own_dict, METH_O},
    /* c_name(class): what CPython's messages call it, with the module if it is written in C */
    {"c_name", m_c_name, METH_O},
    /* generic(class): are its attributes found as object's are? */
    {"generic", m_generic, METH_O},
    /* type_lookup(class, name): what its MRO holds, unbound; MISSING if nothing */
    {"type_lookup", (PyCFunction)(void (*)(void))m_type_lookup, METH_FASTCALL},
    /* trust(dictionary or class, {name: found}): from now on `patched` compares these */
    {"trust", (PyCFunction)(void (*)(void))m_trust, METH_FASTCALL},
    /* patched() -> ((name, what is there now), ...) for all that differ */
    {"patched", m_patched, METH_NOARGS},
    {NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_frame_hook", NULL, -1, methods};

PyMODINIT_FUNC PyInit__frame_hook(void)
{
#ifdef Py_GIL_DISABLED
    PyErr_SetString(PyExc_ImportError, "the frame hook needs a Python with the GIL");
    return NULL;
#endif
    extra_index = PyUnstable_Eval_RequestCodeExtraIndex(holder_free);
    if (extra_index < 0) return PyErr_Format(PyExc_ImportError, "no co_extra index is free");
    PyObject *module = PyModule_Create(&definition);
    if (!module || !(missing = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type))) return NULL;
    int failed = PyModule_AddObjectRef(module, "MISSING", missing) < 0;
    failed = failed || PyModule_AddType(module, &walk_type) < 0;
    return failed ? NULL : module;
}
