"""A Pareto front for people: picture, page to explore, and the steps along it."""
