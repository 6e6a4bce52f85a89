"""The parts of the study of Pareto-optimal k-anonymization (Dewri et al., CIKM 2009): runs, a module per figure."""
