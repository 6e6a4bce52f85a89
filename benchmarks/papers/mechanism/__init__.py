"""The parts of the study of the user-oriented mechanism: tables, runs, pre-sampling, times and scores."""
