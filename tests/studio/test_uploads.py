"""What the studio lets in: uploads that are too large, damaged or no tables."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import io
import random
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.studio._upload import Limits
from studio.conftest import HEADERS, HOST, PEOPLE


class TestUploads:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(upload=200_000, decompressed=1_000_000, columns=100, rows=5_000)

    def refused(self, answer: Any, status: int = 422) -> str:
        assert answer.status_code == status, answer.text
        message: str = answer.json()["error"]["message"]
        assert message.endswith(".")
        assert "Traceback" not in message
        return message

    def nothing_left(self, studio: Any) -> None:
        assert [path.name for path in studio.workspace.folder.iterdir()] == ["in-use"]

    def test_too_large(self, visitor: Any, studio: Any) -> None:
        assert "larger" in self.refused(visitor.upload("a.csv", b"a\n" + b"12345\n" * 300_000), 413)
        assert "larger" in self.refused(visitor.upload("a.csv", b"a\n" + b"12345\n" * 40_000), 413)
        self.nothing_left(studio)

    def test_a_length_that_lies(self, visitor: Any, studio: Any) -> None:
        def endless() -> Any:
            yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\n'
            for _ in range(100):
                yield b"12345\n" * 10_000

        headers = {"content-type": "multipart/form-data; boundary=x"}
        self.refused(visitor.client.post("/api/projects", content=endless(), headers=headers), 413)
        self.nothing_left(studio)

    def test_a_long_text_that_is_kept_once(self, visitor: Any, studio: Any) -> None:
        held = io.BytesIO()
        pl.DataFrame({"a": ["x" * 10_000]}).select(pl.col("a").repeat_by(5_000).explode()).write_parquet(held)
        assert len(held.getvalue()) < 20_000
        assert "decompresses to more" in self.refused(visitor.upload("bomb.parquet", held.getvalue()), 413)
        self.nothing_left(studio)

    def test_a_browser_that_leaves_while_it_sends(self, app: Any, access: Any, studio: Any) -> None:
        """Nothing is kept, and nothing is complained about."""
        begun = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na'
        came = [
            {"type": "http.request", "body": begun, "more_body": True},
            {"type": "http.disconnect"},
        ]
        headers = {
            **HEADERS,
            "host": HOST,
            "cookie": f"{access.cookie}={access.open_session()}",
            "content-type": "multipart/form-data; boundary=x",
        }
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/projects",
            "query_string": b"",
            "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
        }

        async def receive() -> Any:
            return came.pop(0)

        async def send(message: Any) -> None:
            pass

        asyncio.run(app(scope, receive, send))
        self.nothing_left(studio)

    @pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.bz2", "bomb.xlsx"])
    def test_bombs(self, visitor: Any, studio: Any, name: str) -> None:
        large = b"a,b\n" + b"1,2\n" * 300_000
        if name.endswith(".gz"):
            content = gzip.compress(large)
        elif name.endswith(".bz2"):
            content = bz2.compress(large)
        else:
            held = io.BytesIO()
            with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("xl/worksheets/sheet1.xml", large)
            content = held.getvalue()
        assert len(content) < 200_000
        assert "decompresses to more" in self.refused(visitor.upload(name, content), 413)
        self.nothing_left(studio)

    def test_a_bomb_that_lies_about_its_size(self, visitor: Any, studio: Any) -> None:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"0" * 5_000_000)
        content = held.getvalue().replace((5_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.infolist()[0].file_size == 100
        assert "decompresses to more" in self.refused(visitor.upload("bomb.xlsx", content), 413)

    def test_a_zip_is_no_table(self, visitor: Any, studio: Any) -> None:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("people.csv", b"0" * 5_000_000)
        assert "format" in self.refused(visitor.upload("people.zip", held.getvalue()))
        self.refused(visitor.upload("people.xlsx", zlib.compress(b"no zip")))
        self.refused(visitor.upload("people.xlsx", held.getvalue()[:200]))
        self.nothing_left(studio)

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.csv", b"", "empty"),
            ("a.csv", b"\n\n\n", "empty"),
            ("a.csv", b"age,city\n", "no rows"),
            ("a.csv", b"age,city\n31,L\0eeds\n", "zero bytes"),
            ("a.csv.gz", gzip.compress(b"age,city\n31,L\0eeds\n", mtime=0), "zero bytes"),
            ("a.csv", "age,city\n31,Orléans\n".encode("latin-1"), "CSV UTF-8"),
            ("a.csv", "age,city\n31,Orléans\n".encode("utf-16"), "CSV UTF-8"),
            ("a.csv", b"age,age\n1,2\n", "age"),
            ("a.csv", b"age,\n1,2\n", "is empty"),
            ("a.csv", b"age,city\n1,2,3\n", "Line 2"),
            ("a.csv", b'age,city\n1,"2\n3\n', "quotation mark"),
            ("a.csv.gz", b"no gzip", "damaged"),
            ("a.csv.gz", gzip.compress(random.Random(1).randbytes(500).hex().encode(), mtime=0)[:-200], "damaged"),
            ("a.csv.zst", b"(\xb5/\xfd", "decompress"),
            ("a.parquet", b"PAR1 no parquet PAR1", "damaged"),
            ("a.jsonl", b"{no json", "damaged"),
            ("a.exe", b"MZ", "format"),
            ("noname", b"a\n1\n", "format"),
            (
                "a.csv",
                b",".join(b"c%d" % n for n in range(10_000)) + b"\n" + b",".join([b"1"] * 10_000),
                "10,000 columns",
            ),
            ("a.csv", b"a\n" + b"1\n" * 6_000, "rows"),
            ("a.jsonl", b'{"a": [1, 2]}\n', "lists"),
        ],
        ids=lambda value: value if isinstance(value, str) else None,
    )
    def test_files_that_are_no_tables(self, visitor: Any, studio: Any, name: str, content: bytes, said: str) -> None:
        answer = visitor.upload(name, content)
        message = self.refused(answer, answer.status_code if answer.status_code == 413 else 422)
        assert said in message
        self.nothing_left(studio)

    def test_forms_that_are_no_forms(self, visitor: Any, studio: Any) -> None:
        for kind, body in (
            ("multipart/form-data", b"x"),
            ("multipart/form-data; boundary=x", b"no form"),
            (f"multipart/form-data; boundary={'x' * 5000}", b"no form"),
            (
                "multipart/form-data; boundary=x",
                b'--x\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--x--',
            ),
            (
                "multipart/form-data; boundary=x",
                b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na',
            ),
            ("application/json", b"{"),
            ("application/json", b"[" * 100_000),
            ("text/plain", b"a"),
        ):
            self.refused(visitor.client.post("/api/projects", content=body, headers={"content-type": kind}))
        self.nothing_left(studio)

    @pytest.mark.parametrize(
        "name", ["people.csv", "people.tsv", "people.parquet", "people.jsonl", "people.xlsx", "people.csv.gz"]
    )
    def test_files_that_are_tables(self, visitor: Any, studio: Any, tmp_path: Path, name: str) -> None:
        from discreet.engines import format_of, write_table

        path = tmp_path / name
        if name.endswith(".xlsx"):
            pytest.importorskip("xlsxwriter")
        write_table(PEOPLE.lazy(), path, format_of(path))
        answer = visitor.upload(name, path.read_bytes())
        assert answer.status_code == 201, answer.text
        fields = answer.json()
        assert (fields["rows"], [column["name"] for column in fields["columns"]]) == (4, ["age", "city"])
        page = visitor.get(f"/projects/{fields['id']}/rows").json()
        assert page["rows"] == [["31", "Leeds"], ["34", "York"], ["38", "Leeds"], ["47", "York"]]
