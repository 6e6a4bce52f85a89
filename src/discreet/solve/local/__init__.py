"""Local recoding: groups of records improved by local search, with a lower bound."""
