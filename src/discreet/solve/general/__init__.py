"""Optimal global recoding with any privacy models, cost and suppression; see README.md."""
