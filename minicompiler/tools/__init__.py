"""The shell commands.

In: the public API, and the record that every compilation leaves in `report`.
Out: text, pictures and exit codes for a person.
Invariant: uses every other folder; no other folder uses this one.
"""
