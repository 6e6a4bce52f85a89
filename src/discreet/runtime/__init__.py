"""Files, memory and processes: atomic writes, limits of the machine, private temporary folders."""
