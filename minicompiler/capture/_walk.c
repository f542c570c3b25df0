/* Walks through the dictionaries of an object: has anything moved? (Part of _frame_hook.c.)

   A walk is bound to one root object, usually a module: steps lead from it, and from constants such
   as the globals of a module, to dictionaries, their items and what classes define, and remember
   what was found. Walking again compares: while a dictionary keeps its version its items need not
   be looked up. A walk keeps alive constants and what has no weak references, but nothing else; a
   pointer is followed only after the step that holds it was found unchanged, and an address used
   again is told by the weak reference. */

enum { OWN_DICT, ITEM, NO_ITEM, WHOLE, CLASS_ITEM, FIELD, CONSTANT }; /* as in binding.py */

typedef struct {
    int kind, parent;   /* index of the step this one starts from; -1: the root */
    PyObject *key;      /* owned; a string, or the constant */
    PyObject *found;    /* borrowed */
    PyObject *held;     /* owned; `found` or a weak reference to it; NULL for a dictionary, as one
                           at its address does as well if the items are the same */
    PyTypeObject *type; /* owned; of `found`, that `__class__` was not assigned */
    uint64_t version;   /* of `found`, if it is a dictionary */
    int changed;        /* in this walk the dictionary has another version, or none */
    int constant;       /* cannot change while its dictionary does not */
    int guarded;        /* the guard sees to it */
} Step;

/* While every word is what it was, so is all that the steps lead to: the types of objects, the
   places of their dictionaries, and the versions of these, which answer for their items. */
typedef struct { const uint64_t *at; uint64_t expected; } Word;

typedef struct {
    PyObject_HEAD
    int n, n_wanted, n_words, n_lookups, n_guarded, moved;
    Step *steps, **lookups; /* which of them are CLASS_ITEM */
    PyObject **wanted;      /* borrowed; what the steps wanted have found */
    Word *words;     /* n_words < 0: versions do not tell, all steps are walked */
    PyObject *guard; /* owned; called with the first n_guarded of what is wanted */
    vectorcallfunc call;
} Walk;

/* Where a function keeps its code or defaults. */
static PyObject **field(PyObject *from, PyObject *name)
{
    PyFunctionObject *f = (PyFunctionObject *)from;
    if (!strcmp(PyUnicode_AsUTF8(name), "__code__")) return &f->func_code;
    return strcmp(PyUnicode_AsUTF8(name), "__defaults__") ? &f->func_kwdefaults : &f->func_defaults;
}

/* What step s leads to from `from`, borrowed; NULL if nothing. Runs no user code and, unless an
   instance stores its attributes without a dictionary by now, allocates nothing. */
static PyObject *step_target(Step *s, PyObject *from)
{
    PyObject *found, **place;
    switch (s->kind) {
    case OWN_DICT:
        place = PyType_Check(from) ? NULL : _PyObject_GetDictPtr(from);
        found = place ? *place : NULL;
        break;
    case CLASS_ITEM:
        found = _PyType_Lookup(Py_TYPE(from), s->key);
        if (!found) found = missing;
        break;
    case WHOLE:
        return from;
    case CONSTANT:
        return s->key;
    case FIELD:
        place = field(from, s->key);
        found = *place ? *place : Py_None;
        break;
    default:
        found = PyDict_Check(from) ? PyDict_GetItemWithError(from, s->key) : NULL;
    }
    if (!found) PyErr_Clear();
    return found;
}

/* Remembers what step s has found. */
static int step_bind(Step *s, PyObject *found)
{
    s->found = found;
    s->type = (PyTypeObject *)Py_NewRef(Py_TYPE(found));
    if (PyDict_Check(found)) return 1;
    int weak = s->kind != FIELD && PyType_SUPPORTS_WEAKREFS(s->type);
    s->held = weak ? PyWeakref_NewRef(found, NULL) : Py_NewRef(found);
    return s->held != NULL;
}

static int step_same(Step *s, PyObject *found)
{
    if (found != s->found || !s->held || s->held == found) return found == s->found;
    PyObject *target = alive(s->held);
    Py_XDECREF(target);
    return target == found;
}

/* Follows all steps from the root; 0 if something is not as it was (when binding: not there). */
static int walk(Walk *w, PyObject *root, int binding)
{
    for (Step *s = w->steps; s < w->steps + w->n; s++) {
        Step *parent = s->parent < 0 ? NULL : w->steps + s->parent;
        int on_dict = s->kind == ITEM || s->kind == NO_ITEM || s->kind == WHOLE;
        if (s->constant && !parent->changed) continue;
        if (binding || !on_dict || parent->changed) {
            PyObject *found = step_target(s, parent ? parent->found : root);
            if (s->kind == NO_ITEM) {
                if (found) return 0;
                continue;
            }
            if (!found) return 0;
            if (binding ? !step_bind(s, found) : s->kind == WHOLE || !step_same(s, found)) return 0;
        }
        if (Py_TYPE(s->found) != s->type) return 0;
        if (PyDict_Check(s->found)) {
            uint64_t version = *version_of(s->found);
            s->changed = !version || version != s->version;
            s->version = version;
        }
    }
    return 1;
}

/* Notes the words, in the order of the steps: a pointer is followed only after what holds it was
   found unchanged. The guard compares the types of what it is shown itself. */
static void note_words(Walk *w, PyObject *root)
{
    w->n_words = -1;
    Word *q = w->words;
    for (Step *s = w->steps; s < w->steps + w->n; s++) {
        if (s->kind == NO_ITEM || s->kind == WHOLE || s->kind == CLASS_ITEM) continue;
        PyObject *from = s->parent < 0 ? root : w->steps[s->parent].found, **place = NULL;
        if (s->kind == OWN_DICT) place = _PyObject_GetDictPtr(from);
        if (s->kind == FIELD) place = field(from, s->key);
        if (place) *q++ = (Word){(uint64_t *)place, (uint64_t)(uintptr_t)*place};
        int of_class = s->held || PyType_HasFeature(s->type, Py_TPFLAGS_HEAPTYPE); /* assignable */
        if (of_class && !s->constant && !s->guarded)
            *q++ = (Word){(uint64_t *)&s->found->ob_type, (uint64_t)(uintptr_t)s->type};
        if (!PyDict_Check(s->found)) continue;
        *q++ = (Word){version_of(s->found), s->version};
        if (!s->version || sizeof(void *) < sizeof(uint64_t)) return;
    }
    w->n_words = (int)(q - w->words);
}

static int nothing_moved(Walk *w, PyObject *root)
{
    for (Word *q = w->words; q < w->words + w->n_words; q++)
        if (*q->at != q->expected) return 0;
    for (int i = 0; i < w->n_lookups; i++) {
        Step *s = w->lookups[i];
        if (step_target(s, s->parent < 0 ? root : w->steps[s->parent].found) != s->found) return 0;
    }
    return w->n_words >= 0;
}

/* Is all as it was? If not for sure, never walk again: versions may be noted that were not followed
   up. */
static int same_as_ever(Walk *w, PyObject *root)
{
    if (w->moved || nothing_moved(w, root)) return !w->moved;
    w->moved = !walk(w, root, 0);
    if (!w->moved) note_words(w, root);
    return !w->moved;
}

static PyObject *walk_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Walk *w = (Walk *)self;
    if (PyVectorcall_NARGS(flags) != 1) return PyErr_Format(PyExc_TypeError, "walk(root)");
    PyObject *found = PyTuple_New(w->n_wanted), *holds = NULL; /* first: it may collect */
    if (!found) return NULL;
    if (same_as_ever(w, args[0])) {
        for (int i = 0; i < w->n_wanted; i++)
            PyTuple_SET_ITEM(found, i, Py_NewRef(w->wanted[i]));
        if (!w->n_guarded) return found;
        holds = PyObject_Vectorcall(w->guard, &PyTuple_GET_ITEM(found, 0), w->n_guarded, NULL);
        if (holds) Py_DECREF(holds); /* True and False outlive this */
        if (holds == Py_True) return found;
    }
    Py_DECREF(found);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static int walk_traverse(PyObject *self, visitproc visit, void *arg)
{
    Walk *w = (Walk *)self;
    for (Step *s = w->steps; s < w->steps + w->n; s++) {
        Py_VISIT(s->key);
        Py_VISIT(s->held);
        Py_VISIT(s->type);
    }
    Py_VISIT(((Walk *)self)->guard);
    return 0;
}

static int walk_clear(PyObject *self)
{
    Walk *w = (Walk *)self;
    w->moved = 1;
    for (Step *s = w->steps; s < w->steps + w->n; s++) {
        Py_CLEAR(s->key);
        Py_CLEAR(s->held);
        Py_CLEAR(s->type);
    }
    Py_CLEAR(w->guard);
    return 0;
}

static void walk_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    walk_clear(self);
    PyMem_Free(((Walk *)self)->steps);
    PyMem_Free(((Walk *)self)->words);
    PyMem_Free(((Walk *)self)->lookups);
    PyMem_Free(((Walk *)self)->wanted);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *walk_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *steps, *wanted, *root, *guard = Py_None;
    int n_guarded = 0;
    if (!PyArg_ParseTuple(args, "O!O!O|Oi", &PyTuple_Type, &steps, &PyTuple_Type, &wanted, &root,
                          &guard, &n_guarded))
        return NULL;
    Walk *w = (Walk *)type->tp_alloc(type, 0);
    if (!w) return NULL; /* binding.py keeps to it: a step starts from one before it */
    int n = (int)PyTuple_GET_SIZE(steps), n_wanted = (int)PyTuple_GET_SIZE(wanted);
    w->call = walk_call;
    w->guard = Py_NewRef(guard);
    w->n_guarded = n_guarded;
    w->steps = PyMem_Calloc(n + 1, sizeof(Step));
    w->words = PyMem_Calloc(3 * n + 1, sizeof(Word));
    w->lookups = PyMem_Calloc(n + 1, sizeof(Step *));
    w->wanted = PyMem_Calloc(n_wanted + 1, sizeof(PyObject *));
    if (!w->steps || !w->words || !w->lookups || !w->wanted) {
        Py_DECREF(w);
        return PyErr_NoMemory();
    }
    for (; w->n < n; w->n++) {
        Step *s = w->steps + w->n;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(steps, w->n), "iiO", &s->kind, &s->parent, &s->key))
            goto failed;
        Py_INCREF(s->key);
        if (s->kind == CLASS_ITEM) w->lookups[w->n_lookups++] = s;
    }
    int collects = PyGC_Disable(); /* finalizers might change what is being walked */
    int found = walk(w, root, 1);
    if (collects) PyGC_Enable();
    for (; found && w->n_wanted < n_wanted; w->n_wanted++) {
        Step *s = w->steps + PyLong_AsLong(PyTuple_GET_ITEM(wanted, w->n_wanted));
        s->guarded = w->n_wanted < n_guarded;
        w->wanted[w->n_wanted] = s->found;
    }
    for (int i = 0; found && i < n; i++) {
        Step *s = w->steps + i;
        int fixed = s->kind == ITEM && s->held == s->found;
        s->constant = s->kind == NO_ITEM || s->kind == WHOLE ||
                      (fixed && !PyType_HasFeature(s->type, Py_TPFLAGS_HEAPTYPE));
    }
    if (found) note_words(w, root);
    if (found) return (PyObject *)w;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_LookupError, "a path does not exist");
failed:
    Py_DECREF(w);
    return NULL;
}

/* Walk(((kind, parent, key), ...), (step wanted, ...), root, guard, n); walk(root) -> a tuple of
   the values wanted, or None once anything on the way is not what it was, and where guard(*the
   first n of them) does not hold. */
static PyTypeObject walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minicompiler.capture._frame_hook.Walk",
    .tp_basicsize = sizeof(Walk),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_traverse = walk_traverse,
    .tp_clear = walk_clear,
    .tp_new = walk_new,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Walk, call),
    .tp_dealloc = walk_free,
};
