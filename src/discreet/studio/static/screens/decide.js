// Columns that could identify people and would be released unchanged.
import { html, useState } from "../vendor/preact.js";
import { startJob, useApp } from "../context.js";
import { Button, Name, Notice } from "../parts.js";
import { share } from "../format.js";
import { list, texts } from "../texts.js";

const words = texts.decide;

/** Why the job cannot start, and what to do; `onDone` is called after the decision. */
export function Decide({ columns, onDone }) {
  const { project, patch, go, route } = useApp();
  const known = columns.map((name) => project.columns.find((column) => column.name === name)).filter(Boolean);
  const decide = () => patch({ keep: Object.fromEntries(columns.map((name) => [name, true])) }).then(onDone, () => null);
  return html`<p><b>${words.title(columns)}</b> ${words.text}</p>
    <ul class="reasons small">${known.filter((column) => column.warning).map((column) => html`<li><b><${Name} of=${column.name} /></b> ${column.warning}</li>`)}</ul>
    <p class="row">${route.step !== "data" && html`<${Button} kind="compact" onClick=${() => go("data")}>${words.role}</${Button}>`}<${Button} kind="compact" icon="check" onClick=${decide}>${words.keep(columns)}</${Button}></p>`;
}

/** That a result was made with other settings than the current ones, which, and a way to make it again. */
export function OutOfDate({ job }) {
  const app = useApp();
  const [starting, setStarting] = useState(false);
  if (job.state !== "done" || !job.changed_since || !job.changed_since.length) return null;
  const again = () => {
    setStarting(true);
    startJob(app, { kind: job.kind }).then((next) => app.refresh().then(() => app.go("run", { job: next.id })), () => setStarting(false));
  };
  return html`<div data-outdated><${Notice} kind="warn" icon="clock" role="status"><p><b>${texts.run.outOfDate}</b> ${texts.run.changedSince(list(job.changed_since))}</p>
    <p class="row"><${Button} kind="compact" icon="play" disabled=${starting} onClick=${again}>${texts.run.runAgain}</${Button}></p></${Notice}></div>`;
}

/** The verdict on a release, and below it the warnings that only its owner may see. */
export function Verdict({ of: found }) {
  const app = useApp();
  const { go, route, project, patch } = app;
  const [starting, setStarting] = useState(false);
  const remedies = (found.remedies || []).filter((each) => project.columns.some((column) => column.name === each.column && column.role === "sensitive") && !project.goals.privacy.includes(each.text));
  const promise = async (each) => {
    setStarting(true);
    try {
      const now = await patch({ goals: { privacy: [...project.goals.privacy, each.text] } });
      go("run", { job: (await startJob({ ...app, project: now }, { kind: "release" })).id });
    } catch {
      setStarting(false);
    }
  };
  const { level, headline, findings } = found.verdict;
  const known = new Set(findings.map((each) => each.sentence));
  const kind = { ok: "good", caution: "warn", danger: "bad" }[level];
  return html`<div data-verdict=${level}><${Notice} kind=${kind} icon=${level === "ok" ? "shield" : "warn"} role=${level === "danger" ? "alert" : undefined}><p><b>${headline}.</b></p>
    <ul class="reasons">${findings.map((each) => html`<li key=${each.sentence}>${each.level !== "ok" && html`<b>${words.levels[each.level]}</b> `}${each.sentence}</li>`)}</ul>
    ${level !== "ok" && html`<p class="row">${remedies.map((each) => html`<${Button} kind="compact main" icon="shield" disabled=${starting} onClick=${() => promise(each)}>${words.remedy(each.column, share(each.limit))}</${Button}>`)}<${Button} kind="compact" onClick=${() => go("goals")}>${words.toGoals}</${Button}>${route.step !== "risk" && html`<${Button} kind="compact" onClick=${() => go("risk")}>${words.toRisk}</${Button}>`}<${Button} kind="compact" onClick=${() => go("data")}>${words.toData}</${Button}></p>`}</${Notice}></div>
    <${Warnings} list=${found.warnings.filter((each) => !known.has(each))} />`;
}

/** Warnings about a release. */
function Warnings({ list }) {
  if (!list || !list.length) return null;
  return html`<div data-warnings><${Notice} kind="bad" icon="warn" role="alert"><p><b>${words.warnings(list.length)}</b></p><ul class="reasons">${list.map((text) => html`<li>${text}</li>`)}</ul></${Notice}></div>`;
}
