"""Compiled inner loops: flat arrays in, flat arrays out, no objects, no policy."""
