"""Calls the functions of a chapter's file that print something: all, or those that are named."""

import runpy
import sys
from inspect import isfunction, signature
from pathlib import Path

import torch

import minicompiler

CHAPTERS = Path(__file__).parent


def tell(file):
    """Each as in the text, where nothing has run before it."""
    known = functions(fresh(file))
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"there is no {name!r} here; there are {', '.join(known)}")
        print(f"# {name}", flush=True)
        fresh(file)[name]()
        print(flush=True)


def functions(names):
    own = [f for f in names.values() if isfunction(f) and f.__module__ == "told"]
    return [f.__name__ for f in own if not signature(f).parameters]


def fresh(file):
    """What the file defines, and what it imports of the chapters, anew."""
    minicompiler.reset()
    torch.compiler.reset()
    torch.manual_seed(0)
    for name, module in list(sys.modules.items()):
        home = Path(getattr(module, "__file__", None) or "/")
        if name != "__main__" and home.is_relative_to(CHAPTERS):
            del sys.modules[name]
    return runpy.run_path(file, run_name="told")
