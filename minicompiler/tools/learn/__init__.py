"""`minicompiler learn`: exercises that replace a real piece of the compiler by one's own.

In: a workspace with the learner's files. Out: verdicts that come from a process which never runs a
line of them. Invariant: what the learner's process says of itself is not believed; it is asked for
graphs, the parent runs these on inputs of its own, and compares with eager and with the reference.
"""
