"""Optimal generalization by any global scheme: branch and bound over the partitions of all attributes."""
