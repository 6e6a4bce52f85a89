"""The floor: read a file, group it by all its columns and write it again. ``bare_polars.py IN OUT SEPARATOR``."""

import sys

import polars as pl

if __name__ == "__main__":
    source, target, separator = sys.argv[1:]
    frame = pl.read_csv(source, separator=separator)
    print(frame.group_by(frame.columns).len().height)
    frame.write_csv(target, separator=separator)
