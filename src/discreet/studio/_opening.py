"""Open the studio in a browser without putting its token on a command line, which other users can read.

The browser is given a file that only the user can read; the file redirects to the studio.
"""

from __future__ import annotations

import html
import threading
import webbrowser

from discreet.runtime.file_modes import make_private_file
from discreet.studio._security import Access
from discreet.studio._workspace import Workspace

__all__ = ["open_browser"]

_PATIENCE = 120.0
"""Seconds a browser has to start; then the file and its token are removed. The printed link keeps working."""
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<title>discreet studio</title><meta http-equiv="refresh" content="0; url=LINK"></head>'
    '<body><p><a href="LINK">Open the studio</a></p></body></html>'
)


def open_browser(workspace: Workspace, access: Access, address: str) -> None:
    """Open the studio in the user's browser, in the background."""
    if access.token is None:  # it asks for a password, so the address is not secret
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        return
    threading.Thread(target=_open_by_file, args=(workspace, access, address), daemon=True).start()


def _open_by_file(workspace: Workspace, access: Access, address: str) -> None:
    token, used = access.one_visit()
    folder = workspace.new_folder()
    try:
        file = folder / "open.html"
        make_private_file(file)
        file.write_text(_PAGE.replace("LINK", html.escape(f"{address}?token={token}")), encoding="utf-8")
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        used.wait(_PATIENCE)
    finally:
        access.forget(token)
        workspace.remove(folder)
