// Release: the files to hand over and the files to keep.
import { html, useState } from "../vendor/preact.js";
import { at } from "../api.js";
import { newest, useApp, useLoaded } from "../context.js";
import { Button, Card, Empty, Name, Notice, Waiting } from "../parts.js";
import { Icon } from "../icons.js";
import { OutOfDate, Verdict } from "./decide.js";
import { jobLabel } from "./run.js";
import { share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.release;
const PARTS = [
  { name: "over", archive: "hand-over.zip", icon: "shield", files: ["data.csv", "data.parquet", "report.html", "report.pdf", "certificate.json"] },
  { name: "keep", archive: "keep.zip", icon: "lock", files: ["job.yaml", "script.py", "mapping.json"] },
];
const ICONS = { "data.csv": "table", "data.parquet": "table", "report.html": "file", "report.pdf": "file", "certificate.json": "shield", "job.yaml": "code", "script.py": "code", "mapping.json": "lock" };

export function Release() {
  const { about, project, route, setQuery } = useApp();
  const requested = project.jobs.find((job) => job.id === route.query.job && job.state === "done" && job.kind === "release");
  const job = requested || newest(project, "release");
  const releases = project.jobs.filter((each) => each.kind === "release" && each.state === "done");
  const [found, error] = useLoaded(job && `${at.job(job.id)}/result`);
  const [report, setReport] = useState(false);
  if (!job) return html`<${Empty} top icon="download" title=${texts.risk.none}><p>${texts.explore.noReleaseText}</p></${Empty}>`;
  const has = (name) => (name === "mapping.json" ? !found || found.mapping : name === "report.pdf" ? about.pdf.possible : true);
  const danger = found && found.verdict.level === "danger";
  const passed = found && found.audit.passed;
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div>
      ${releases.length > 1 && html`<label class="field"><span>${words.which}</span><select value=${job.id} onChange=${(event) => setQuery({ job: event.target.value })}>${releases.map((each, index) => html`<option value=${each.id}>${jobLabel(each)} ${index === 0 ? words.newest : ""}</option>`)}</select></label>`}</div>
  <div class="columns main-side"><div class="stack">
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    <${OutOfDate} job=${job} />
    ${found && html`<${Verdict} of=${found} />`}
    ${PARTS.map((part) => html`<section key=${part.name} class=${`stack part ${part.name}`} aria-labelledby=${`part-${part.name}`}>
      <div class="card handover"><div class="seal"><${Icon} name=${part.icon} size=${40} /></div><div><h2 id=${`part-${part.name}`}>${words[part.name].title}</h2><p class="quiet">${words[part.name].text}</p>${part.name === "over" && danger && html`<p class="warning"><b>${words.danger}</b></p>`}</div><a class=${`button large ${part.name === "over" && !danger ? "main" : ""}`} href=${at.file(job.id, part.archive)} download><${Icon} name="download" />${words[part.name].button}</a></div>
      <ul class="files">${part.files.filter(has).map((name) => html`<li key=${name} class="card"><${Icon} name=${ICONS[name] || "file"} size=${26} /><div><h3>${words.files[name].title}</h3><p class="small quiet">${words.files[name].text}</p></div>
        <a class="button icon" href=${at.file(job.id, name)} download title=${words.download(words.files[name].title)} aria-label=${words.download(words.files[name].title)}><${Icon} name="download" /></a></li>`)}</ul>
      ${part.name === "over" && !about.pdf.possible && html`<p class="small quiet">${words.noPdf(about.pdf.reason)}</p>`}</section>`)}
    <${Card} title=${words.report} text=${words.reportText} actions=${html`<${Button} kind="compact" icon="eye" aria-expanded=${report ? "true" : "false"} onClick=${() => setReport(!report)}>${report ? words.hide : words.show}</${Button}>`}>
      ${report && html`<iframe class="report" title=${words.report} sandbox="" src=${`${at.file(job.id, "report.html")}?inline=1`}></iframe>`}
    </${Card}>
    <${ProtectionPage} job=${job} pdf=${about.pdf.possible} />
    <${Script} job=${job} />
  </div>
  <aside class="card sticky stack" aria-labelledby="checked"><h2 id="checked">${words.checked}</h2>
    ${!found && !error && html`<${Waiting} tall />`}
    ${found && html`<ul class="checks" aria-live="polite">${found.promises.map((check) => html`<li class=${check.passed ? "good" : "bad"}><${Icon} name=${check.passed ? "check" : "warn"} size=${18} /><span><b>${check.model}</b><span class="small quiet">${check.words || ""}${words.reached(check.reached_text)}</span></span></li>`)}</ul>
      <${Notice} kind=${passed ? "good" : "bad"}><p><b>${passed ? words.passed : words.notPassed}</b> ${words.passedText}</p></${Notice}>
      ${found.kept.length > 0 && html`<h3>${texts.explore.kept}</h3><ul class="plain small">${found.kept.map((each) => html`<li><b><${Name} of=${each.name} /></b> <span class="quiet">${words.keptOf(each.unique === null ? texts.explore.notCounted : share(each.unique), each.confirmed)}</span></li>`)}</ul>`}
      <h3>${words.before}</h3><ol class="advice">${words.advice.map((each) => html`<li>${each}</li>`)}</ol>`}
  </aside></div>`;
}

/** One page for the data protection officer, in both versions and all formats. */
function ProtectionPage({ job, pdf }) {
  const [about, setAbout] = useState({ purpose: "", recipient: "" });
  const page = words.page;
  return html`<${Card} title=${page.title} text=${page.text}>
    <div class="find">${["purpose", "recipient"].map((name) => html`<label class="field" key=${name}><span>${page[name]}</span><input type="text" maxlength="500" value=${about[name]} onInput=${(event) => setAbout({ ...about, [name]: event.target.value })} /></label>`)}</div>
    ${[["protection-page", page.external], ["internal-page", page.internal]].map(([name, version]) => html`<p class="row" key=${name}><b>${version}</b>${Object.entries(page.formats).filter(([suffix]) => suffix !== "pdf" || pdf).map(([suffix, format]) => html`<a class="button compact" download href=${`${at.file(job.id, `${name}.${suffix}`)}?${new URLSearchParams(about)}`} aria-label=${page.label(version, format)}><${Icon} name="download" />${format}</a>`)}</p>`)}
  </${Card}>`;
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
