"""Tests of what can never happen: leaks, losses, bad answers to bad questions."""
