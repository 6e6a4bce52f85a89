"""The command line: thin. Nothing heavy is imported before a command runs."""

from discreet.cli._program import main, program

__all__ = ["main", "program"]
