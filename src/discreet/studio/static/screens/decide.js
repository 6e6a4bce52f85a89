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

/** The verdict on a release, and below it the warnings that only its owner may see. */
export function Verdict({ of: found }) {
  const { level, headline, findings } = found.verdict;
  const known = new Set(findings.map((each) => each.sentence));
  const kind = { ok: "good", caution: "warn", danger: "bad" }[level];
  return html`<div data-verdict=${level}><${Notice} kind=${kind} icon=${level === "ok" ? "shield" : "warn"} role=${level === "danger" ? "alert" : undefined}><p><b>${headline}.</b></p>
    <ul class="reasons">${findings.map((each) => html`<li key=${each.sentence}>${each.level !== "ok" && html`<b>${words.levels[each.level]}</b> `}${each.sentence}</li>`)}</ul></${Notice}></div>
    <${Warnings} list=${found.warnings.filter((each) => !known.has(each))} />`;
}

/** Warnings about a release. */
function Warnings({ list }) {
  if (!list || !list.length) return null;
  return html`<div data-warnings><${Notice} kind="bad" icon="warn" role="alert"><p><b>${words.warnings(list.length)}</b></p><ul class="reasons">${list.map((text) => html`<li>${text}</li>`)}</ul></${Notice}></div>`;
}
