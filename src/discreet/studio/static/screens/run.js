// Run: start a search, watch its best cost and bound, and stop it when it is good enough.
import { html, useEffect, useState } from "../vendor/preact.js";
import { at, post, send } from "../api.js";
import { startJob, useApp, useJob, useLoaded } from "../context.js";
import { AskText, Button, Card, Empty, Meter, Notice, Stat } from "../parts.js";
import { FrontChart, LiveChart } from "../charts.js";
import { frontPoints } from "../front.js";
import { Decide, OutOfDate, Verdict } from "./decide.js";
import { atBest, Schemes } from "../schemes.js";
import { Icon } from "../icons.js";
import { ago, count, number, seconds, share } from "../format.js";
import { list, texts } from "../texts.js";

const words = texts.run;
/** A name that no other run of the project has: the one it was given, or its number and what it promises. */
export function jobLabel(job) {
  if (job.name) return job.name;
  const { privacy, scheme } = job.goals;
  const point = job.reaches ? words.ofPoint(Object.entries(job.reaches).map(([axis, value]) => `${axis} = ${number(value)}`).join(", ")) : null;
  const parts = job.kind === "front" ? [words.kinds.front.toLowerCase(), ...privacy] : point ? [point] : [...privacy, words.ways[scheme] || scheme];
  return words.label(job.number, parts.join(", "));
}

const ACTIVE = ["waiting", "running"];

export function Run() {
  const app = useApp();
  const { project, route, setQuery, refresh } = app;
  const known = project.jobs.find((job) => job.id === route.query.job) || project.jobs[0];
  const id = route.query.job || (known && known.id) || null;
  const [job, error] = useJob(id);
  const [starting, setStarting] = useState(false);
  useEffect(() => void (job && refresh().catch(() => null)), [job && job.state]);
  const start = async (kind) => {
    setStarting(true);
    try {
      setQuery({ job: (await startJob(app, { kind })).id });
      await refresh();
    } catch {
      // A toast shows the reason.
    } finally {
      setStarting(false);
    }
  };
  const buttons = html`<div class="row"><${Button} kind="main" icon="play" disabled=${starting} onClick=${() => start("release")}>${project.jobs.length ? words.another : words.start}</${Button}><${Button} icon="chart" disabled=${starting} onClick=${() => start("front")}>${words.front}</${Button}></div>`;
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div>${project.jobs.length > 0 && buttons}</div>
  ${!id && html`<div class="card"><${Empty} icon="play" title=${words.nothing}><p>${words.nothingText}</p>${buttons}</${Empty}></div>`}
  ${id && html`<div class="columns main-side"><div class="stack">${error && html`<${Notice} kind="bad" role="alert"><p>${error.message}</p></${Notice}>`}${job && html`<${Search} key=${job.id} job=${job} listed=${project.jobs.find((each) => each.id === job.id)} />`}</div>
    <${Jobs} chosen=${id} live=${job} onChoose=${(next) => setQuery({ job: next })} /></div>
    <${Compare} chosen=${id} onChoose=${(next) => setQuery({ job: next })} />`}`;
}

function Search({ job, listed }) {
  const { about, change, go, refresh } = useApp();
  const front = job.kind === "front";
  const [ending, setEnding] = useState(false);
  const [now, setNow] = useState(0);
  const running = ACTIVE.includes(job.state);
  useEffect(() => {
    if (!running) return undefined;
    const since = performance.now() - 1000 * (job.seconds || 0);
    const timer = setInterval(() => setNow((performance.now() - since) / 1000), 250);
    return () => clearInterval(timer);
  }, [job.state, job.seconds]);
  const cancel = async () => {
    setEnding(true);
    await change(() => post(`${at.job(job.id)}/cancel`)).catch(() => null);
    refresh().catch(() => null);
  };
  const [result] = useLoaded(job.state === "done" ? `${at.job(job.id)}/result` : null);
  const passed = running ? Math.max(now, job.seconds || 0) : job.seconds;
  const empty = ["failed", "cancelled"].includes(job.state) && (job.best === null || job.best === undefined);
  const undecided = (job.more || {}).columns || [];
  const proven = job.state === "done" && (job.gap === 0 || job.status === "optimal");
  const doneText = front ? words.frontDone : proven ? words.proven : result ? words.feasible(share(result.normalized_cost), share(atBest(result))) : words.valid;
  const title = (name) => (about.vocabulary.schemes.find((each) => each.name === name) || {}).title || name;
  return html`
    <div class="status" role="status" aria-live="polite">
      ${running && html`<${Notice} kind="accent" icon="clock"><p><b>${words.states[job.state]}</b> ${job.state === "running" ? `${job.scheme ? `${words.searchingWay(title(job.scheme))} ` : ""}${words.stage(job.stage_text)}` : ""}</p></${Notice}>`}
      ${listed && html`<${OutOfDate} job=${listed} />`}
      ${result && result.verdict && html`<${Verdict} of=${result} />`}
      ${job.state === "done" && html`<${Notice} kind=${result && result.verdict && result.verdict.level !== "ok" ? "accent" : "good"} icon="check"><p><b>${doneText}</b> ${job.message || ""}</p></${Notice}>`}
      ${job.state === "failed" && html`<${Notice} kind="bad">${undecided.length ? html`<${Decide} columns=${undecided} onDone=${() => go("goals")} />` : html`<p><b>${words.failed}</b> ${job.message || ""}</p><p class="small">${words.failedText}</p>`}<${Remedies} job=${job} /></${Notice}>`}
      ${job.state === "cancelled" && html`<${Notice} kind="warn"><p><b>${words.cancelled}</b> ${job.message || words.cancelledText}</p></${Notice}>`}
    </div>
    ${running && job.scheme && html`<${Schemes} list=${job.tried} running=${job.scheme} />`}
    ${result && result.schemes && html`<${Schemes} list=${result.schemes} chosen=${result.scheme} rows=${result.rows} />`}
    ${!empty && html`<div class="stats">
      <${Stat} label=${front ? words.points : words.bestNow} value=${front ? number(result ? result.points.length : job.points) : number(job.best)} />
      ${!front && html`<${Stat} label=${words.boundNow} value=${number(job.bound)} /><${Stat} label=${words.gap} value=${job.gap === null || job.gap === undefined ? "–" : share(job.gap)} of=${words.gapText} />`}
      <${Stat} label=${words.time} value=${seconds(passed)} />
    </div>
    <${Card} title=${front ? words.frontChart : words.chart} text=${front ? null : words.chartText} actions=${running
      ? html`<${Button} kind="stop" icon="stop" disabled=${ending || job.cancelling} onClick=${cancel}>${ending || job.cancelling ? words.ending : words.cancel}</${Button}>`
      : job.state === "done" && html`<${Button} kind="main" end="next" onClick=${() => go("explore", { job: job.id })}>${front ? words.toFront : words.toResult}</${Button}>`}>
      ${front ? (result ? html`<${FrontChart} id=${job.id} ...${frontPoints(result)} onChoose=${(point) => go("explore", { job: job.id, point })} />` : html`<div class="chart-empty">${words.frontFound(number(job.points ?? 0), number(job.open))}</div>`) : html`<${LiveChart} job=${job} running=${running} />`}
      ${running && html`<p class="quiet small">${words.stay}</p>`}
    </${Card}>`}`;
}

function Jobs({ chosen, live, onChoose }) {
  const { project } = useApp();
  if (!project.jobs.length) return null;
  return html`<section class="card sticky picks" aria-labelledby="jobs-title"><h2 id="jobs-title">${words.jobs}</h2><ul>${project.jobs.map((listed) => {
    const job = live && live.id === listed.id ? live : listed;
    return html`<li key=${job.id}><button type="button" aria-current=${job.id === chosen ? "true" : undefined} onClick=${() => onChoose(job.id)}>
      <b>${jobLabel({ ...job, name: listed.name })}</b>${listed.differs.length > 0 && html`<span class="small">${words.differs(list(listed.differs))}</span>`}<span class="small row tight">${ACTIVE.includes(job.state) ? html`<span class="spinner"></span>` : html`<${Icon} name=${{ done: "check", failed: "warn", cancelled: "stop" }[job.state]} size=${15} />`}${words.short[job.state]}${job.kind === "release" && job.best !== null && job.best !== undefined ? ` · ${number(job.best)}` : ""} · ${ago(job.created)}</span>${listed.state === "done" && listed.changed_since.length > 0 && html`<span class="chip warn"><${Icon} name="clock" />${words.old}</span>`}</button></li>`;
  })}</ul></section>`;
}

/** All releases side by side, with a name that can be changed. */
function Compare({ chosen, onChoose }) {
  const { project, change, refresh } = useApp();
  const [renaming, setRenaming] = useState(null);
  const releases = project.jobs.filter((job) => job.kind === "release" && job.state === "done" && job.facts && job.facts.verdict);
  if (releases.length < 2) return null;
  const rename = (name) => {
    setRenaming(null);
    change(() => send("PATCH", at.job(renaming.id), { name })).then(() => refresh(), () => null);
  };
  const lowest = (name) => Math.min(...releases.map((job) => job.facts[name]));
  const mark = (job, name) => job.facts[name] === lowest(name) && releases.some((each) => each.facts[name] !== job.facts[name]) && html` <span class="chip good">${words.least}</span>`;
  const most = Math.max(1e-9, ...releases.map((job) => job.facts.normalized_cost));
  const head = words.columns;
  const way = (scheme) => (typeof scheme === "string" ? scheme : [...new Set(Object.values(scheme))].join(" / "));
  return html`<div class="below"><${Card} kind="flush" title=${words.compare} text=${words.compareText}><div class="scroll" tabindex="0" role="group" aria-label=${words.compare}><table class="grid runs"><thead><tr>${Object.values(head).map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
    <tbody>${releases.map((job) => html`<tr key=${job.id} class=${job.id === chosen ? "taken" : ""}><th scope="row"><span class="row tight nowrap"><button type="button" class="link" onClick=${() => onChoose(job.id)}>${jobLabel(job)}</button><${Button} kind="bare compact icon" icon="pen" label=${words.renameRun(jobLabel(job))} onClick=${() => setRenaming(job)} /></span>${job.name && html`<span class="small quiet second">${job.goals.privacy.join(", ")}</span>`}${job.changed_since.length > 0 && html`<span class="chip warn"><${Icon} name="clock" />${words.old}</span>`}</th>
      <td>${way(job.facts.scheme)}</td>
      <td><div class="bar-cell"><${Meter} value=${job.facts.normalized_cost / most} label=${share(job.facts.normalized_cost)} /><span class="figures">${share(job.facts.normalized_cost)}</span></div>${mark(job, "normalized_cost")}</td>
      <td class="figures">${count(job.facts.suppressed)}</td><td class="figures">${count(job.facts.smallest_class)}</td><td class="figures">${share(job.facts.highest_risk)}${mark(job, "highest_risk")}</td><td class="figures">${share(job.facts.average_risk)}</td>
      <td>${job.facts.status === "optimal" ? words.optimal : words.notOptimal(share(atBest(job.facts)))}</td><td><span class=${`chip ${{ ok: "good", caution: "warn", danger: "bad" }[job.facts.verdict]}`}>${words.verdicts[job.facts.verdict]}</span></td></tr>`)}</tbody></table></div></${Card}>
    ${renaming && html`<${AskText} title=${words.renameTitle} label=${texts.hierarchies.newName} value=${jobLabel(renaming)} done=${texts.save} onClose=${() => setRenaming(null)} onDone=${rename} />`}</div>`;
}

/** Changes of the goals that would let a failed search succeed. */
function Remedies({ job }) {
  const { patch, go, project } = useApp();
  const { smallest_budget: budget, limits = [] } = job.more || {};
  const take = (goals) => patch({ goals }).then(() => go("goals"));
  if (!budget && !limits.length) return null;
  return html`<p class="row">
    ${limits.slice(0, 3).map((levels) => html`<${Button} kind="compact" onClick=${() => take({ keep_at_least: { ...project.goals.keep_at_least, ...levels } })}>${words.lift(Object.entries(levels))}</${Button}>`)}
    ${budget && html`<${Button} kind="compact" onClick=${() => take({ suppression: `budget(${budget})` })}>${words.raise(number(budget))}</${Button}>`}</p>`;
}
