"""What every page must be: without violations that axe-core finds, usable by the keyboard, and named as it is seen."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

__all__ = ["covered", "misnamed", "tab_through", "tab_to", "violations"]

_MOST_STOPS = 400
_RUN = """() => axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })"""
_COVERED = """() => {
  const it = document.activeElement;
  if (!it || it === document.body) return null;
  const box = it.getBoundingClientRect(), name = it.getAttribute("aria-label") || it.textContent || it.tagName;
  const stays = (node) => node && node !== document.documentElement
    && (["sticky", "fixed"].includes(getComputedStyle(node).position) ? node : stays(node.parentElement));
  const at = [0.1, 0.5, 0.9];
  const hidden = at.flatMap((a) => at.map((b) => [box.left + box.width * a, box.top + box.height * b]))
    .filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)
    .filter(([x, y]) => {
      const bar = stays(document.elementFromPoint(x, y));
      return bar && !bar.contains(it) && !it.contains(bar);
    });
  const outside = box.bottom < 0 || box.top > innerHeight;
  return { name: name.trim().slice(0, 60), hidden: hidden.length > 0 || outside };
}"""
_MISNAMED = """() => {
  const seen = (node) => {
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    return style.visibility !== "hidden" && style.display !== "none" && box.width > 1 && box.height > 1
      && !node.closest("[aria-hidden=true], title, .unseen, details:not([open]) > :not(summary)");
  };
  const plain = (text) => text.toLowerCase().replace(/\\s+/g, " ").trim();
  const wrong = [], roles = ["button", "link", "radio", "checkbox", "switch", "tab", "treeitem", "option", "menuitem"];
  for (const control of document.querySelectorAll("[aria-label]:is(a, button, input, select, [role], [tabindex])")) {
    if (!control.matches("a, button, input, select, summary, " + roles.map((role) => `[role=${role}]`))) continue;
    const name = plain(control.getAttribute("aria-label"));
    const walker = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const words = plain(text.data).replace(/[,.:;…]+$/, "");
      const own = text.parentElement.closest("[aria-label]") === control;
      if (own && words && seen(text.parentElement) && !name.includes(words)) wrong.push(`${name} | ${words}`);
    }
  }
  return wrong;
}"""
_NAMED = """(wanted) => {
  const it = document.activeElement;
  const labels = it.labels ? [...it.labels].map((label) => label.textContent).join(" ") : "";
  const name = it === document.body ? "" : it.getAttribute("aria-label") || labels || it.textContent || "";
  return name.replace(/\\s+/g, " ").trim().includes(wanted);
}"""


def violations(page: Any) -> list[str]:
    """Return what axe-core finds wrong on a page, each with the element and the way out."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed")
    page.evaluate(Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    return [
        f"{rule['id']}: {node['html'][:150]} ({node['failureSummary']})"
        for rule in page.evaluate(_RUN)["violations"]
        for node in rule["nodes"]
    ]


def misnamed(page: Any) -> list[str]:
    """Return controls whose name lacks words that are seen on them: people who speak to their computer say these."""
    found: list[str] = page.evaluate(_MISNAMED)
    return found


def covered(page: Any) -> str | None:
    """Return the name of what has the focus if a bar that stays in place hides a part of it."""
    found = page.evaluate(_COVERED)
    for _ in range(200):
        if found is None or not found["hidden"]:
            return None
        page.wait_for_timeout(150)  # the page may still be scrolling, slowly on a busy machine
        found = page.evaluate(_COVERED)
    return None if found is None or not found["hidden"] else str(found["name"])


def tab_through(page: Any) -> list[str]:
    """Go through a page by Tab and back; return what had the focus while a bar hid it."""
    page.evaluate("() => { scrollTo(0, 0); document.activeElement.blur(); }")
    hidden = []
    for key in ("Tab", "Shift+Tab"):
        stops = 0
        while stops < _MOST_STOPS:
            page.keyboard.press(key)
            stops += 1
            if page.evaluate("() => document.activeElement === document.body"):
                break
            if (name := covered(page)) is not None:
                hidden.append(f"{key}: {name}")
    return hidden


def tab_to(page: Any, name: str, within: str = "body") -> None:
    """Press Tab until the focus is on something of this name."""
    for _ in range(_MOST_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate(_NAMED, name) and page.evaluate("(s) => !!document.activeElement.closest(s)", within):
            assert covered(page) is None
            return
    raise AssertionError(f"The keyboard does not reach '{name}'.")
