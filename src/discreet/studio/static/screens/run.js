// Run: start a search, watch its best cost and bound, and stop it when it is good enough.
import { html, useEffect, useState } from "../vendor/preact.js";
import { at, post } from "../api.js";
import { useApp, useJob, useLoaded } from "../context.js";
import { Button, Card, Empty, Notice, Stat } from "../parts.js";
import { FrontChart, LiveChart } from "../charts.js";
import { frontPoints } from "../front.js";
import { Decide, Verdict } from "./decide.js";
import { Icon } from "../icons.js";
import { ago, number, seconds, share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.run;
/** A label that distinguishes a run. */
export function jobLabel(job) {
  if (job.label) return job.label;
  if (job.kind === "front") return words.kinds.front;
  if (job.point !== null && job.point !== undefined) return words.ofPoint(job.point + 1);
  return job.goals ? job.goals.privacy.join(", ") : words.kinds.release;
}

const ACTIVE = ["waiting", "running"];

export function Run() {
  const { project, route, setQuery, change, refresh } = useApp();
  const known = project.jobs.find((job) => job.id === route.query.job) || project.jobs[0];
  const id = route.query.job || (known && known.id) || null;
  const [job, error] = useJob(id);
  const [starting, setStarting] = useState(false);
  useEffect(() => void (job && refresh().catch(() => null)), [job && job.state]);
  const start = async (kind) => {
    setStarting(true);
    try {
      setQuery({ job: (await change(() => post(at.jobs(project.id), { kind }))).id });
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
  ${id && html`<div class="columns main-side"><div class="stack">${error && html`<${Notice} kind="bad" role="alert"><p>${error.message}</p></${Notice}>`}${job && html`<${Search} key=${job.id} job=${job} />`}</div>
    <${Jobs} chosen=${id} live=${job} onChoose=${(next) => setQuery({ job: next })} /></div>`}`;
}

function Search({ job }) {
  const { change, go, refresh } = useApp();
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
  return html`
    <div class="status" role="status" aria-live="polite">
      ${running && html`<${Notice} kind="accent" icon="clock"><p><b>${words.states[job.state]}</b> ${job.state === "running" ? words.stage(job.stage_text) : ""}</p></${Notice}>`}
      ${job.state === "done" && html`<${Notice} kind="good"><p><b>${front ? words.frontDone : proven ? words.proven : words.feasible(share(job.gap))}</b> ${job.message || ""}</p></${Notice}>`}
      ${result && result.verdict && html`<${Verdict} of=${result} />`}
      ${job.state === "failed" && html`<${Notice} kind="bad">${undecided.length ? html`<${Decide} columns=${undecided} onDone=${() => go("goals")} />` : html`<p><b>${words.failed}</b> ${job.message || ""}</p><p class="small">${words.failedText}</p>`}<${Remedies} job=${job} /></${Notice}>`}
      ${job.state === "cancelled" && html`<${Notice} kind="warn"><p><b>${words.cancelled}</b> ${job.message || words.cancelledText}</p></${Notice}>`}
    </div>
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
      <b>${jobLabel(job)}</b><span class="small row tight">${ACTIVE.includes(job.state) ? html`<span class="spinner"></span>` : html`<${Icon} name=${{ done: "check", failed: "warn", cancelled: "stop" }[job.state]} size=${15} />`}${words.short[job.state]}${job.kind === "release" && job.best !== null && job.best !== undefined ? ` · ${number(job.best)}` : ""} · ${ago(job.created)}</span></button></li>`;
  })}</ul></section>`;
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
