"""Attacks on what leaves: each module makes releases of fresh random tables and tries to break what they promise.

A module has a function ``run(seed, folder)`` that yields an :class:`~attack.base.Outcome` for every attacked release.
``make attack`` runs all of them; a slice of each is in the tests.
"""
