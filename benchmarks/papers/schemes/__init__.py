"""The parts of the study of optimal k-anonymization (Li and Li, DKE 2008): tables, runs, a module per experiment."""
