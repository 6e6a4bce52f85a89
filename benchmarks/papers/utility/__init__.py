"""The parts of the study of utility-based local recoding (KDD 2006): tables, runs, a module for each kind of table."""
