"""The highest score by priorities, proven by the lattice search."""
