"""Cell suppression, proven minimal; README.md explains the search."""
