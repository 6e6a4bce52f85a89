"""Who may talk to the studio."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from discreet.errors import UsageError
from discreet.studio import Protection, serve
from discreet.studio._security import Access
from discreet.studio._workspace import Workspace, safe_name
from studio.conftest import PEOPLE

API = ("/api/about", "/api/projects", "/api/projects/x", "/api/jobs/x", "/api/jobs/x/files/data.csv")


def test_a_link_opens_the_studio_once_its_token_is_right(new_visitor: Any, access: Access) -> None:
    visitor = new_visitor(enter=False)
    for path in (*API, "/", "/static/index.html"):
        assert visitor.client.get(path).status_code == 403, path
    for token in ("", "wrong", access.token[:-1], f"{access.token}x", "é"):
        answer = visitor.client.get("/", params={"token": token})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    answer = visitor.client.get("/", params={"token": access.token})
    assert answer.status_code == 200
    assert access.token not in answer.text
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert answer.headers["refresh"] == "0; url=/"
    assert visitor.get("/about").status_code == 200


def test_a_forged_cookie_opens_nothing(new_visitor: Any, access: Access) -> None:
    visitor = new_visitor(enter=False)
    for value in ("", "link", "x" * 43, access.token):
        visitor.client.cookies.set(access.cookie, value)
        assert visitor.get("/about").status_code == 403


def test_a_token_for_one_visit_is_good_for_one(new_visitor: Any, access: Access) -> None:
    token, used = access.one_visit()
    assert not used.is_set()
    assert new_visitor(enter=False).client.get("/", params={"token": token}).status_code == 200
    assert used.is_set()
    assert new_visitor(enter=False).client.get("/", params={"token": token}).status_code == 403
    forgotten, _ = access.one_visit()
    access.forget(forgotten)
    assert new_visitor(enter=False).client.get("/", params={"token": forgotten}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "10.0.0.1:8765", ""]
)
def test_another_host_is_refused(visitor: Any, host: str) -> None:
    for path in (*API, "/", "/static/index.html"):
        assert visitor.client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:8766"},
        {"x-discreet": "no"},
    ],
)
def test_a_change_that_another_site_asks_for_is_refused(visitor: Any, headers: dict[str, str]) -> None:
    body = {"sample": "people", "rows": 10}
    assert visitor.client.post("/api/projects", json=body, headers=headers).status_code == 403
    assert (
        visitor.client.post("/api/projects", files={"file": ("a.csv", b"a\n1\n")}, headers=headers).status_code == 403
    )
    assert visitor.client.delete("/api/projects/x", headers=headers).status_code == 403
    assert visitor.get("/projects").json() == []


def test_what_a_browser_says_came_from_another_site_is_refused(visitor: Any) -> None:
    for site in ("cross-site", "same-site"):
        assert visitor.client.get("/api/about", headers={"sec-fetch-site": site}).status_code == 403
    assert visitor.client.get("/api/about", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_nothing_is_cached_framed_or_sniffed(visitor: Any, new_visitor: Any) -> None:
    stranger = new_visitor(enter=False)
    answers = [visitor.get("/about"), visitor.client.get("/"), visitor.get("/nothing"), stranger.get("/about")]
    for answer in [*answers, stranger.client.get("/"), visitor.client.get("/static/missing.js")]:
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = dict(rule.strip().partition(" ")[::2] for rule in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd.csv",
        "..\\..\\x.csv",
        "/etc/cron.d/x.csv",
        "x\0y.csv",
        ".csv",
        "....csv",
        "a/b/c.csv",
        "-rf.csv",
    ],
)
def test_the_name_of_an_upload_cannot_leave_its_folder(visitor: Any, studio: Any, name: str) -> None:
    before = set(studio.workspace.folder.parent.iterdir())
    answer = visitor.upload(name, PEOPLE.write_csv().encode())
    assert answer.status_code in (201, 422)
    assert set(studio.workspace.folder.parent.iterdir()) <= before | {studio.workspace.folder}
    for project in studio.projects("link"):
        assert project.table.file.parent == project.folder
        assert project.folder.parent == studio.workspace.folder
        assert project.table.file.name == safe_name(project.table.file.name)


@pytest.mark.parametrize(
    ("name", "file", "title"),
    [
        ("Ärzte.csv", "Ärzte.csv", "Ärzte"),
        ("患者.csv", "患者.csv", "患者"),
        ("???.csv", "table.csv", "table"),
        (".csv", "table.csv", "table"),
        ("é" * 300 + ".csv", "é" * 60 + ".csv", "é" * 60),
        ("a\u202evsc.csv", "a_vsc.csv", "a_vsc"),
    ],
)
def test_names_in_any_script_are_kept(visitor: Any, name: str, file: str, title: str) -> None:
    fields = visitor.table(PEOPLE, name)
    assert (fields["file"], fields["name"]) == (file, title)
    exported = visitor.get(f"/projects/{fields['id']}/hierarchy.csv", column="age")
    assert exported.status_code == 200


def test_downloads_keep_names_in_any_script(visitor: Any) -> None:
    fields = visitor.table(PEOPLE.rename({"city": "Wohnort Größe"}))
    answer = visitor.get(f"/projects/{fields['id']}/hierarchy.csv", column="Wohnort Größe")
    assert answer.headers["content-disposition"] == (
        "attachment; filename=\"Wohnort_Gr__e.csv\"; filename*=UTF-8''Wohnort_Gr%C3%B6%C3%9Fe.csv"
    )


@pytest.mark.parametrize("name", ["rows.parquet", "_rows.parquet", "released.parquet"])
def test_no_upload_takes_the_place_of_what_the_studio_keeps(visitor: Any, name: str) -> None:
    held = io.BytesIO()
    PEOPLE.write_parquet(held)
    answer = visitor.upload(name, held.getvalue())
    assert answer.status_code == 201, answer.text
    assert len(visitor.get(f"/projects/{answer.json()['id']}/rows").json()["rows"]) == PEOPLE.height


@pytest.mark.parametrize(
    "path", ["/static/../_app.py", "/static/..%2f_app.py", "/static/%2e%2e/_app.py", "/static//etc/passwd"]
)
def test_only_files_of_the_page_are_served(visitor: Any, path: str) -> None:
    assert visitor.client.get(path).status_code in (403, 404)


def test_a_download_is_one_of_a_list(visitor: Any) -> None:
    project = visitor.table(PEOPLE)["id"]
    for name in ("..%2f..%2fetc%2fpasswd", "job.yaml", "people.csv", "rows.parquet", "release.pickle"):
        assert visitor.client.get(f"/api/jobs/{project}/files/{name}").status_code == 404


def test_a_hierarchy_is_never_read_from_a_file_of_the_machine(visitor: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("Leeds;North;*\nYork;North;*\n")
    project = visitor.table(PEOPLE)["id"]
    for form in (str(secret), f"../{secret.name}", "/etc/passwd", "secret.csv", f"groups({secret})"):
        answer = visitor.post(f"/projects/{project}/hierarchy", {"builder": form}, column="city")
        assert answer.status_code == 422, form
        assert "North" not in answer.text
    assert visitor.patch(f"/projects/{project}", {"goals": {"cost": str(secret)}}).status_code == 422


def test_two_visitors_by_one_link_are_one_user(new_visitor: Any) -> None:
    first, second = new_visitor(), new_visitor()
    project = first.table(PEOPLE)["id"]
    assert [each["id"] for each in second.get("/projects").json()] == [project]
    assert second.patch(f"/projects/{project}", {"name": "Mine"}).status_code == 200
    assert first.get(f"/projects/{project}").json()["name"] == "Mine"


class TestPassword:
    @pytest.fixture
    def access(self) -> Access:
        return Access(hosts=frozenset(["127.0.0.1:8765"]), password="correct horse battery", token=None)

    def log_in(self, visitor: Any, password: Any) -> Any:
        return visitor.client.post("/login", json={"password": password})

    def test_two_users_do_not_see_each_other(self, new_visitor: Any) -> None:
        first, second = new_visitor(enter=False), new_visitor(enter=False)
        assert first.client.get("/").status_code == 200
        assert first.get("/about").status_code == 403
        for visitor in (first, second):
            assert self.log_in(visitor, "correct horse battery").status_code == 204
        project = first.table(PEOPLE)["id"]
        assert second.get("/projects").json() == []
        for answer in (
            second.get(f"/projects/{project}"),
            second.get(f"/projects/{project}/rows"),
            second.patch(f"/projects/{project}", {"name": "Mine"}),
            second.post(f"/projects/{project}/jobs", {"kind": "release"}),
            second.client.delete(f"/api/projects/{project}"),
        ):
            assert answer.status_code == 404
        assert first.get(f"/projects/{project}").json()["name"] == "people"

    def test_guessing_is_slow_and_tells_nothing(
        self, new_visitor: Any, access: Access, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("discreet.studio._security._PAUSE", 3600.0)  # longer than the slowest machine takes
        visitor = new_visitor(enter=False)
        assert self.log_in(visitor, "guess").status_code == 403
        assert self.log_in(visitor, "correct horse battery").status_code == 429
        access._guessed -= 7200
        for body in (b"", b"[]", b"{", b"\xff", b"{}" * 10_000):
            answer = visitor.client.post("/login", content=body)
            assert answer.status_code in (403, 429)
            access._guessed -= 7200
        assert visitor.client.get("/", params={"token": "None"}).status_code == 403
        assert self.log_in(visitor, "correct horse battery").status_code == 204
        assert visitor.get("/about").status_code == 200

    def test_another_site_cannot_log_in(self, new_visitor: Any) -> None:
        visitor = new_visitor(enter=False)
        headers = {"origin": "http://evil.example"}
        body = {"password": "correct horse battery"}
        assert visitor.client.post("/login", json=body, headers=headers).status_code == 403


def test_any_address_may_be_host_only_in_the_network() -> None:
    access = Access(hosts=frozenset(["studio.example:8443"]), addresses_on=8443)
    for host in ("studio.example:8443", "STUDIO.example:8443", "192.168.1.7:8443", "[fe80::1]:8443"):
        assert access.is_host(host)
    for host in (
        "evil.example:8443",
        "192.168.1.7:80",
        "192.168.1.7",
        "",
        "studio.example",
        "1.2.3.4.evil.example:8443",
    ):
        assert not access.is_host(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "::"])
def test_others_are_let_in_only_with_password_and_encryption(host: str, tmp_path: Path) -> None:
    short, long = tmp_path / "short.txt", tmp_path / "long.txt"
    short.write_text("hunter2\n")
    long.write_text("correct horse battery\n")
    with pytest.raises(UsageError, match="--password-file"):
        serve(host=host)
    with pytest.raises(UsageError, match="--tls-cert"):
        serve(host=host, protection=Protection(password_file=long))
    with pytest.raises(UsageError, match="--password-file"):
        serve(host=host, protection=Protection(tls_cert="cert.pem", tls_key="key.pem"))
    with pytest.raises(UsageError, match="12 characters"):
        serve(host=host, protection=Protection(password_file=short, tls_cert="cert.pem", tls_key="key.pem"))
    with pytest.raises(UsageError, match="go together"):
        serve(host=host, protection=Protection(password_file=long, tls_cert="cert.pem"))
    with pytest.raises(UsageError, match="cannot be read"):
        serve(host=host, protection=Protection(password_file=tmp_path / "none.txt"))
    with pytest.raises(UsageError, match="PEM"):
        serve(host=host, protection=Protection(password_file=long, tls_cert=tmp_path / "cert.pem", tls_key=long))
    with pytest.raises(UsageError, match="PEM"):
        serve(host=host, protection=Protection(password_file=long, tls_cert=long, tls_key=long))


def test_the_workspace_is_for_its_user_alone_and_is_erased() -> None:
    workspace = Workspace.make()
    try:
        assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
        inside = workspace.new_folder()
        assert stat.S_IMODE(inside.stat().st_mode) == 0o700
        workspace.remove(Path("/tmp"))
        workspace.remove(inside.parent.parent)
        assert inside.exists()
    finally:
        workspace.erase()
    assert not workspace.folder.exists()
    workspace.erase()


def test_what_a_killed_studio_left_is_erased_by_the_next() -> None:
    left = Workspace.make()
    assert left._lock is not None
    other = Workspace.make()
    assert left.folder.exists()
    left._lock.close()
    Workspace.make().erase()
    assert not left.folder.exists()
    assert other.folder.exists()
    other.erase()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_real_studio_ends_without_a_trace(number: signal.Signals) -> None:
    code = "from discreet.studio import serve\nserve(open_browser=False, say=lambda text: print(text, flush=True))\n"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        link = process.stdout.readline().split()[-1]
        base = link.partition("/?")[0]
        host = base.removeprefix("http://")
        with httpx.Client(
            base_url=base, headers={"origin": base, "x-discreet": "studio"}, follow_redirects=True, timeout=600
        ) as client:
            assert client.get(link).status_code == 200
            assert client.get("/api/about", headers={"host": "localhost:1"}).status_code == 403
            files = {"file": ("people.csv", PEOPLE.write_csv().encode())}
            assert client.post("/api/projects", files=files).status_code == 201
        assert socket.gethostbyname(host.partition(":")[0]) == "127.0.0.1"
        folders = [Path(entry) for entry in _open_folders(process.pid)]
        assert folders
        assert all(folder.exists() for folder in folders)
        process.send_signal(number)
        assert process.wait(600) == 0
        assert not any(folder.exists() for folder in folders)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _open_folders(process: int) -> set[str]:
    """The workspaces a process holds the lock of; what it closes meanwhile is none."""
    found = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            target = str(descriptor.readlink())
            if target.endswith("/in-use"):
                found.add(target.removesuffix("/in-use"))
    return found


def test_help_does_not_load_the_studio() -> None:
    code = (
        "import sys\n"
        "from discreet.cli import main\n"
        "sys.argv = ['discreet', 'studio', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('starlette', 'uvicorn', 'polars', 'numba') if name in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "--password-file" in said
    assert said.strip().endswith("[]")


def test_errors_quote_nothing(visitor: Any) -> None:
    secret = "Aloysius-Quirke"
    frame = pl.DataFrame({"name": [secret, "b"], "age": [1, 2]})
    project = visitor.table(frame)["id"]
    answers = [
        visitor.post(f"/projects/{project}/hierarchy", {"builder": "dates(month)"}, column="name"),
        visitor.post(f"/projects/{project}/hierarchy", {"csv": "x;y;*\n"}, column="name"),
        visitor.post(f"/projects/{project}/hierarchy", {"edit": {"op": "merge"}}, column="name"),
        visitor.patch(f"/projects/{project}", {"roles": {"name": "no"}}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert secret not in answer.text
        assert json.loads(answer.text)["error"]["message"]
    assert threading.active_count() < 100
