"""Random tables and jobs over the whole vocabulary; an independent auditor checks every release.

``python -m fuzz`` (with ``tests`` on the path) runs many; ``test_fuzz.py`` a few.

``tables``    columns of all kinds with their hierarchies, in plain Python
``arguments`` every member of every family, taken from the registries, with random arguments
``jobs``      cases: a table and a job, drawn by a seed from all combinations that discreet takes
``taken``     what discreet takes, asked of discreet itself
``auditor``   checks the promises and the truth of a release by the definitions; imports nothing of discreet
``oracle``    the optimum by exhaustive search, where that is feasible
``checks``    the checks of each case: auditor, oracle, and invariance
``shrink``    the smallest case that still fails
``kernels``   every call of a kernel, compiled and as plain Python
``process``   the same cases in other processes: compiled with bounds checks, and as plain Python
"""
