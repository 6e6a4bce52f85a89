"""Input files for the command line, good and bad, as bytes."""

__all__ = ["FILES"]

FILES = {
    "people.csv": b"id,age,sex,s\n"
    + b"".join(b"%d,%d,%c,%c\n" % (i, 30 + i % 7, b"mf"[i % 2], b"abc"[i % 3]) for i in range(24)),
    "empty.csv": b"",
    "header.csv": b"age,sex\n",
    "ragged.csv": b"age,sex\n30,m\n31,f,x\n",
    "twice.csv": b"age,age\n1,2\n3,4\n",
    "binary.csv": b"\x00\xff\xfe\x01" * 50,
    "latin.csv": b"age,sex\n30,m\xe4nnlich\n",
    "open.csv": b'age,sex\n30,"m\n31,f\n',
    "blank.csv": b",sex\n1,m\n",
    "notgz.csv.gz": b"age,sex\n1,m\n",
    "not.parquet": b"age,sex\n1,m\n",
    "broken.jsonl": b'{"age": 1}\n{"age": \n',
    "list.jsonl": b"[1, 2]\n[3, 4]\n",
    "not.xlsx": b"hello",
    "not.db": b"this is not a database at all, is it? " * 40,
    "tree.csv": b"m;*\nf;*\n",
    "gaps.csv": b"age,sex\n30,m\n31,\n32,f\n33,m\n",
    "two-parents.csv": b"m;A;*\nf;A;+\nx;B;*\n",
    "gap.csv": b"m;;*\nf;A;*\n",
    "leaf-twice.csv": b"m;A;*\nm;B;*\nf;B;*\n",
    "lacks.csv": b"m;A;*\n",
    "nothing.csv": b"\n\n",
    "mapping.json": b"{}",
    "certificate.json": b'{"format": "other"}',
    "broken.json": b"{",
    "tabs.yaml": b"input:\tpeople.csv\n\tx: 1\n",
    "list.yaml": b"- a\n- b\n",
    "text.yaml": b"hello\n",
    "twice.yaml": b"input: a.csv\ninput: b.csv\n",
}
