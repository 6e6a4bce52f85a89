"""Exact fronts of privacy against loss over the lattice of level vectors."""
