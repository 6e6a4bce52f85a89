"""Tables in files: formats, dialects, folders of files, and writing them."""
