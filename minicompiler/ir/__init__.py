"""Loop IR: loops over memory whose bodies have many readings; and what later stages hand on, the
plan (plan.py) and what surrounds a compiled graph (signature.py).

In: nothing, lowering builds it. Out: Program, to be printed, verified, evaluated, scheduled.
Invariant: `verify(program)` holds between any two stages that share a Program.
"""
