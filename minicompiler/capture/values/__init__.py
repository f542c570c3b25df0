"""What evaluation knows about Python objects: one class for each kind that behaves differently."""

# ruff: noqa: F403  (everything that these modules define is for the evaluator)

from .base import *
from .containers import *
from .functions import *
