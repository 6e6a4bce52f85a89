"""Optimal full-domain generalization: branch and bound over the lattice of level vectors."""
