// Columns that could tell who somebody is and would be released as they are: what to do about them.
import { html } from "../vendor/preact.js";
import { useApp } from "../context.js";
import { Button, Notice } from "../parts.js";
import { texts } from "../texts.js";

const words = texts.decide;

/** Why the job stops, and both ways on; `onDone` is called once it was decided. */
export function Decide({ columns, onDone }) {
  const { project, patch, go, route } = useApp();
  const known = columns.map((name) => project.columns.find((column) => column.name === name)).filter(Boolean);
  const decide = () => patch({ keep: Object.fromEntries(columns.map((name) => [name, true])) }).then(onDone, () => null);
  return html`<p><b>${words.title(columns)}</b> ${words.text}</p>
    <ul class="reasons small">${known.filter((column) => column.warning).map((column) => html`<li><b>${column.name}</b> ${column.warning}</li>`)}</ul>
    <p class="row">${route.step !== "data" && html`<${Button} kind="compact" onClick=${() => go("data")}>${words.role}</${Button}>`}<${Button} kind="compact" icon="check" onClick=${decide}>${words.keep(columns)}</${Button}></p>`;
}

/** What must not be overlooked about a release. */
export function Warnings({ list }) {
  if (!list || !list.length) return null;
  return html`<div data-warnings><${Notice} kind="bad" icon="warn" role="alert"><p><b>${words.warnings(list.length)}</b></p><ul class="reasons">${list.map((text) => html`<li>${text}</li>`)}</ul></${Notice}></div>`;
}
