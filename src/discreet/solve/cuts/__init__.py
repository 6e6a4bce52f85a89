"""Optimal subtree generalization: branch and bound over the cuts through all hierarchies."""
