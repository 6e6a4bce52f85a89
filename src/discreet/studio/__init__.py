"""The studio: anonymize a table in the browser, served on this machine only by default."""

from discreet.studio._serve import Protection, serve

__all__ = ["Protection", "serve"]
