"""The utility of a release: costs, distributions, associations, queries and classifiers."""
