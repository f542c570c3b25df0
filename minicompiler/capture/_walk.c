/* Walks through the dictionaries of an object: has anything moved? (Part of _frame_hook.c.)

   A walk is bound to one root object, usually a module: steps lead from it to dictionaries, their
   items and what its classes define, and remember what was found. Walking again compares: while a
   dictionary keeps its version its items need not be looked up. A walk keeps alive what has no weak
   references (constants) but nothing else; a pointer is followed only after the step that holds it
   was found unchanged, and an address used again is told by the weak reference. */

enum { OWN_DICT, ITEM, NO_ITEM, WHOLE, CLASS_ITEM }; /* "kinds" in binding.py */

typedef struct {
    int kind, parent;   /* index of the step this one starts from; -1: the root */
    PyObject *key;      /* owned; a string */
    PyObject *found;    /* borrowed */
    PyObject *held;     /* owned; `found` or a weak reference to it; NULL for a dictionary, as one
                           at its address does as well if the items are the same */
    PyTypeObject *type; /* owned; of `found`, that `__class__` was not assigned */
    uint64_t version;   /* of `found`, if it is a dictionary */
    int changed;        /* in this walk the dictionary has another version, or none */
    int constant;       /* cannot change while its dictionary does not */
} Step;

typedef struct {
    PyObject_HEAD
    int n, n_wanted, *wanted, moved;
    Step *steps;
} Walk;

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
    int weak = PyType_SUPPORTS_WEAKREFS(s->type);
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
            uint64_t version = dict_version(s->found);
            s->changed = !version || version != s->version;
            s->version = version;
        }
    }
    return 1;
}

static PyObject *walk_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    Walk *w = (Walk *)self;
    PyObject *root, *found;
    if (!PyArg_ParseTuple(args, "O", &root)) return NULL;
    if (w->moved || !(found = PyTuple_New(w->n_wanted))) { /* before walking: it may collect */
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    if (!walk(w, root, 0)) {
        w->moved = 1; /* versions may be noted that were not followed up: never walk again */
        Py_DECREF(found);
        Py_RETURN_NONE;
    }
    for (int i = 0; i < w->n_wanted; i++)
        PyTuple_SET_ITEM(found, i, Py_NewRef(w->steps[w->wanted[i]].found));
    return found;
}

static int walk_traverse(PyObject *self, visitproc visit, void *arg)
{
    Walk *w = (Walk *)self;
    for (Step *s = w->steps; s < w->steps + w->n; s++) {
        Py_VISIT(s->held);
        Py_VISIT(s->type);
    }
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
    return 0;
}

static void walk_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    walk_clear(self);
    PyMem_Free(((Walk *)self)->steps);
    PyMem_Free(((Walk *)self)->wanted);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *walk_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *steps, *wanted, *root;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyTuple_Type, &steps, &PyTuple_Type, &wanted, &root))
        return NULL;
    Walk *w = (Walk *)type->tp_alloc(type, 0);
    if (!w) return NULL; /* binding.py keeps to it: a step starts from one before it */
    int n = (int)PyTuple_GET_SIZE(steps), n_wanted = (int)PyTuple_GET_SIZE(wanted);
    w->steps = PyMem_Calloc(n + 1, sizeof(Step));
    w->wanted = PyMem_Calloc(n_wanted + 1, sizeof(int));
    if (!w->steps || !w->wanted) { Py_DECREF(w); return PyErr_NoMemory(); }
    for (; w->n < n; w->n++) {
        Step *s = w->steps + w->n;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(steps, w->n), "iiU", &s->kind, &s->parent, &s->key))
            goto failed;
        Py_INCREF(s->key);
    }
    for (; w->n_wanted < n_wanted; w->n_wanted++)
        w->wanted[w->n_wanted] = (int)PyLong_AsLong(PyTuple_GET_ITEM(wanted, w->n_wanted));
    int collects = PyGC_Disable(); /* finalizers might change what is being walked */
    int found = walk(w, root, 1);
    if (collects) PyGC_Enable();
    for (int i = 0; found && i < n; i++) {
        Step *s = w->steps + i;
        int fixed = s->kind == ITEM && s->held == s->found;
        s->constant = s->kind == NO_ITEM || s->kind == WHOLE ||
                      (fixed && !PyType_HasFeature(s->type, Py_TPFLAGS_HEAPTYPE));
    }
    if (found) return (PyObject *)w;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_LookupError, "a path does not exist");
failed:
    Py_DECREF(w);
    return NULL;
}

static PyTypeObject walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minicompiler.capture._frame_hook.Walk",
    .tp_doc = "Walk(((kind, parent, key), ...), (step wanted, ...), root); walk(root) -> a tuple\n"
              "of the values wanted, or None once anything on the way is not what it was.",
    .tp_basicsize = sizeof(Walk),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = walk_traverse,
    .tp_clear = walk_clear,
    .tp_new = walk_new,
    .tp_call = walk_call,
    .tp_dealloc = walk_free,
};
