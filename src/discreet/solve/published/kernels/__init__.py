"""Compiled inner loops of this search: flat arrays in, flat arrays out."""
