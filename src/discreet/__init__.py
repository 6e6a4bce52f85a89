"""Turn a table about people into one that is safe to share, with a proof that nothing better was overlooked."""
__version__ = "0.1.0"
