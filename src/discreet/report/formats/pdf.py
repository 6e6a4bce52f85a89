"""PDF files, printed by an installed browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from discreet.errors import OutputError, UsageError
from discreet.runtime.private_folders import private_folder

__all__ = ["find_browser", "print_page"]

_BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_SECONDS = 120


def find_browser() -> str:
    """Return the path of a browser that can print headlessly."""
    for name in _BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise UsageError(
        "A PDF is printed by Chromium, Chrome or Edge, and none was found; write .html, open it in any browser and "
        "print it to a PDF there."
    )


def print_page(page: str, target: Path) -> None:
    """Print an HTML page to a file."""
    browser = find_browser()
    with private_folder() as folder:
        source, printed = folder / "report.html", folder / "report.pdf"
        source.write_text(page, encoding="utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # browsers refuse to sandbox the superuser; the page runs no script
        command += [f"--print-to-pdf={printed}", source.as_uri()]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
            shutil.copyfile(printed, target)
        except (OSError, subprocess.SubprocessError):
            raise OutputError(
                "The browser could not print the PDF; write .html, open it in any browser and print it there."
            ) from None
