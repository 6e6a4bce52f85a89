"""The studio: the whole job in a browser, on this machine alone unless somebody says otherwise."""

from discreet.studio._serve import serve

__all__ = ["serve"]
