// Release: the files to hand over and the files to keep.
import { html, useState } from "../vendor/preact.js";
import { at } from "../api.js";
import { newest, useApp, useLoaded } from "../context.js";
import { Button, Card, Empty, Notice, Waiting } from "../parts.js";
import { Icon } from "../icons.js";
import { Verdict } from "./decide.js";
import { jobLabel } from "./run.js";
import { share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.release;
const PARTS = [
  { name: "over", archive: "hand-over.zip", icon: "shield", files: ["data.csv", "data.parquet", "report.html", "certificate.json"] },
  { name: "keep", archive: "keep.zip", icon: "lock", files: ["job.yaml", "script.py", "mapping.json"] },
];
const ICONS = { "data.csv": "table", "data.parquet": "table", "report.html": "file", "certificate.json": "shield", "job.yaml": "code", "script.py": "code", "mapping.json": "lock" };

export function Release() {
  const { project, route, setQuery } = useApp();
  const requested = project.jobs.find((job) => job.id === route.query.job && job.state === "done" && job.kind === "release");
  const job = requested || newest(project, "release");
  const releases = project.jobs.filter((each) => each.kind === "release" && each.state === "done");
  const [found, error] = useLoaded(job && `${at.job(job.id)}/result`);
  const [report, setReport] = useState(false);
  if (!job) return html`<${Empty} top icon="download" title=${texts.risk.none}><p>${texts.explore.noReleaseText}</p></${Empty}>`;
  const has = (name) => name !== "mapping.json" || !found || found.mapping;
  const passed = found && found.audit.passed;
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div>
      ${releases.length > 1 && html`<label class="field"><span>${words.which}</span><select value=${job.id} onChange=${(event) => setQuery({ job: event.target.value })}>${releases.map((each, index) => html`<option value=${each.id}>${jobLabel(each)} ${index === 0 ? words.newest : ""}</option>`)}</select></label>`}</div>
  <div class="columns main-side"><div class="stack">
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${found && html`<${Verdict} of=${found} />`}
    ${PARTS.map((part) => html`<section key=${part.name} class=${`stack part ${part.name}`} aria-labelledby=${`part-${part.name}`}>
      <div class="card handover"><div class="seal"><${Icon} name=${part.icon} size=${40} /></div><div><h2 id=${`part-${part.name}`}>${words[part.name].title}</h2><p class="quiet">${words[part.name].text}</p></div><a class=${`button large ${part.name === "over" ? "main" : ""}`} href=${at.file(job.id, part.archive)} download><${Icon} name="download" />${words[part.name].button}</a></div>
      <ul class="files">${part.files.filter(has).map((name) => html`<li key=${name} class="card"><${Icon} name=${ICONS[name] || "file"} size=${26} /><div><h3>${words.files[name].title}</h3><p class="small quiet">${words.files[name].text}</p></div>
        <a class="button icon" href=${at.file(job.id, name)} download title=${words.download(words.files[name].title)} aria-label=${words.download(words.files[name].title)}><${Icon} name="download" /></a></li>`)}</ul></section>`)}
    <${Card} title=${words.report} text=${words.reportText} actions=${html`<${Button} kind="compact" icon="eye" aria-expanded=${report ? "true" : "false"} onClick=${() => setReport(!report)}>${report ? words.hide : words.show}</${Button}>`}>
      ${report && html`<iframe class="report" title=${words.report} sandbox="" src=${`${at.file(job.id, "report.html")}?inline=1`}></iframe>`}
    </${Card}>
    <${Script} job=${job} />
  </div>
  <aside class="card sticky stack" aria-labelledby="checked"><h2 id="checked">${words.checked}</h2>
    ${!found && !error && html`<${Waiting} tall />`}
    ${found && html`<ul class="checks" aria-live="polite">${found.promises.map((check) => html`<li class=${check.passed ? "good" : "bad"}><${Icon} name=${check.passed ? "check" : "warn"} size=${18} /><span><b>${check.model}</b><span class="small quiet">${check.words || ""}${words.reached(check.reached_text)}</span></span></li>`)}</ul>
      <${Notice} kind=${passed ? "good" : "bad"}><p><b>${passed ? words.passed : words.notPassed}</b> ${words.passedText}</p></${Notice}>
      ${found.kept.length > 0 && html`<h3>${texts.explore.kept}</h3><ul class="plain small">${found.kept.map((each) => html`<li><b>${each.name}</b> <span class="quiet">${words.keptOf(each.unique === null ? texts.explore.notCounted : share(each.unique), each.confirmed)}</span></li>`)}</ul>`}
      <h3>${words.before}</h3><ol class="advice">${words.advice.map((each) => html`<li>${each}</li>`)}</ol>`}
  </aside></div>`;
}

function Script({ job }) {
  const { notify, fail } = useApp();
  const [text, setText] = useState(null);
  const load = async () => {
    if (text !== null) return setText(null);
    try {
      const response = await fetch(at.file(job.id, "script.py"), { credentials: "same-origin" });
      if (!response.ok) throw new Error(texts.errors.server(response.status));
      return setText(await response.text());
    } catch (error) {
      return fail(error);
    }
  };
  const copy = () => navigator.clipboard.writeText(text).then(() => notify(words.copied), () => notify(words.notCopied, { bad: true }));
  return html`<${Card} title=${words.script} text=${words.scriptText} actions=${html`${text !== null && html`<${Button} kind="compact" onClick=${copy}>${words.copy}</${Button}>`}<${Button} kind="compact" icon="code" aria-expanded=${text !== null ? "true" : "false"} onClick=${load}>${text === null ? words.show : words.hide}</${Button}>`}>
    ${text !== null && html`<pre class="code scroll" tabindex="0">${text}</pre>`}
  </${Card}>`;
}
