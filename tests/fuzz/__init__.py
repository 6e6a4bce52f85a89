"""Random tables and jobs over the whole vocabulary, each release looked at by an auditor of its own.

``python -m fuzz`` (with ``tests`` on the path) runs as many as there is time for; ``test_fuzz.py`` a few.

``tables``    columns of all kinds with their hierarchies, in plain Python
``jobs``      cases: a table and a job, drawn by a seed, every member of every family taken from the registries
``auditor``   whether a released table keeps its promises and is true, from the definitions; imports nothing of discreet
``oracle``    the best there is, by trying everything, where that is feasible
``checks``    what must hold of each case: the auditor, the oracle, and what must not matter
``shrink``    the smallest case that still fails
``process``   the same cases in other processes: compiled with bounds checks, and as plain Python
"""
