// Columns that could identify people and would be released unchanged.
import { html } from "../vendor/preact.js";
import { useApp } from "../context.js";
import { Button, Notice } from "../parts.js";
import { texts } from "../texts.js";

const words = texts.decide;

/** Why the job cannot start, and what to do; `onDone` is called after the decision. */
export function Decide({ columns, onDone }) {
  const { project, patch, go, route } = useApp();
  const known = columns.map((name) => project.columns.find((column) => column.name === name)).filter(Boolean);
  const decide = () => patch({ keep: Object.fromEntries(columns.map((name) => [name, true])) }).then(onDone, () => null);
  return html`<p><b>${words.title(columns)}</b> ${words.text}</p>
    <ul class="reasons small">${known.filter((column) => column.warning).map((column) => html`<li><b>${column.name}</b> ${column.warning}</li>`)}</ul>
    <p class="row">${route.step !== "data" && html`<${Button} kind="compact" onClick=${() => go("data")}>${words.role}</${Button}>`}<${Button} kind="compact" icon="check" onClick=${decide}>${words.keep(columns)}</${Button}></p>`;
}

/** Warnings about a release. */
export function Warnings({ list }) {
  if (!list || !list.length) return null;
  return html`<div data-warnings><${Notice} kind="bad" icon="warn" role="alert"><p><b>${words.warnings(list.length)}</b></p><ul class="reasons">${list.map((text) => html`<li>${text}</li>`)}</ul></${Notice}></div>`;
}
