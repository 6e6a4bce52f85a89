// Explore: the trade-offs, the columns of the release, and the table before and after.
import { html, useState } from "../vendor/preact.js";
import { at } from "../api.js";
import { newest, startJob, useApp, useLoaded } from "../context.js";
import { Button, Card, Meter, Name, Notice, Pager, Pips, Slider, Stat, Switch, Waiting, useName } from "../parts.js";
import { FrontChart, JobChart } from "../charts.js";
import { frontPoints } from "../front.js";
import { OutOfDate, Verdict } from "./decide.js";
import { atBest, Schemes } from "../schemes.js";
import { jobLabel } from "./run.js";
import { Icon } from "../icons.js";
import { count, number, share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.explore;
const SIZE = 15;

export function Explore() {
  const { project, route } = useApp();
  const requested = project.jobs.find((job) => job.id === route.query.job && job.state === "done");
  const release = requested && requested.kind === "release" ? requested : newest(project, "release");
  const front = requested && requested.kind === "front" ? requested : newest(project, "front");
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div></div>
  <div class="stack">
    ${release && html`<${Ways} job=${release} key=${`ways/${release.id}`} />`}
    ${front ? html`<${Front} job=${front} key=${front.id} />` : html`<${NoFront} />`}
    ${release ? html`<${Result} job=${release} key=${release.id} />` : html`<${Card} title=${words.noRelease}><p class="quiet">${words.noReleaseText}</p></${Card}>`}
  </div>`;
}

/** The verdict on a release and the ways that were tried for it: what a person should see first. */
function Ways({ job }) {
  const [found] = useLoaded(`${at.job(job.id)}/result`);
  return html`<${OutOfDate} job=${job} />${found && html`<${Verdict} of=${found} />${found.schemes && html`<${Schemes} list=${found.schemes} chosen=${found.scheme} rows=${found.rows} />`}`}`;
}

function NoFront() {
  const app = useApp();
  const { go } = app;
  const [starting, setStarting] = useState(false);
  const start = () => {
    setStarting(true);
    startJob(app, { kind: "front" }).then((job) => go("run", { job: job.id }), () => setStarting(false));
  };
  return html`<section class="card slim"><${Icon} name="chart" size=${28} /><div><h2>${words.noFront}</h2><p class="quiet">${words.noFrontText}</p></div><${Button} icon="play" disabled=${starting} onClick=${start}>${words.makeFront}</${Button}></section>`;
}

function Front({ job }) {
  const app = useApp();
  const { project, route, setQuery, patch, go } = app;
  const [found, error] = useLoaded(`${at.job(job.id)}/result`);
  const [starting, setStarting] = useState(false);
  if (error) return html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`;
  if (!found) return html`<${Waiting} tall />`;
  const { points, knee, first } = frontPoints(found);
  if (!points.length) return html`<${Card} title=${words.front}><p>${words.noPoints}</p></${Card}>`;
  const indexOf = (id) => points.findIndex((point) => point.id === id);
  const index = indexOf(route.query.point) >= 0 ? indexOf(route.query.point) : indexOf(first);
  const chosen = points[index];
  const take = async () => {
    setStarting(true);
    try {
      const next = await startJob(app, { kind: "release", job: job.id, point: chosen.number });
      go("run", { job: next.id });
    } catch {
      setStarting(false);
    }
  };
  // The same privacy as a goal, which other ways may reach with less loss.
  const tryAll = async () => {
    setStarting(true);
    try {
      const privacy = [...new Set([`k(${chosen.k})`, ...project.goals.privacy.filter((form) => !form.startsWith("k("))])];
      const now = await patch({ goals: { privacy, scheme: "best" } });
      const next = await startJob({ ...app, project: now }, { kind: "release" });
      go("run", { job: next.id });
    } catch {
      setStarting(false);
    }
  };
  return html`<${OutOfDate} job=${job} /><${Card} title=${words.front} text=${words.frontText(points.length)}>
    ${(found.promises || []).length > 0 && html`<${Notice} kind="good" icon="shield"><p>${words.allKeep} ${found.promises.map((each, index) => html`${index > 0 && " "}<code>${each}</code>`)}. <span class="quiet">${words.lower}</span></p></${Notice}>`}
    <div class="front">
      <div class="front-chart"><${FrontChart} id=${job.id} points=${points} chosen=${chosen.id} knee=${knee} onChoose=${(id) => setQuery({ point: id })} /></div>
      <div class="point-card" role="region" aria-live="polite" aria-label=${words.chosen}>
        <h3>${chosen.title} ${chosen.id === knee && html`<span class="chip warn"><${Icon} name="spark" />${words.suggested}</span>`}</h3>
        <dl class="pairs"><dt>${words.loss}</dt><dd>${share(chosen.loss)}</dd><dt>${found.values_of === "rows" ? words.suppressedRows : words.suppressed}</dt><dd>${count(chosen.suppressed)}</dd>
          ${Object.entries(chosen.levels || {}).map(([name, level]) => {
            const depth = (project.hierarchies[name] || {}).depth || Math.max(level, 1);
            return html`<dt>${name}</dt><dd><${Pips} level=${level} levels=${depth} /></dd>`;
          })}</dl>
        ${found.knee && chosen.id === first && html`<p class="small quiet">${found.knee.reason}</p>`}
        ${chosen.proven && html`<p class="small"><${Icon} name="check" size=${16} /> ${words.provenPoint}</p>`}
        <${Button} kind="main" end="next" disabled=${starting} onClick=${take}>${words.take}</${Button}>
        ${found.axes[0] === "k" && chosen.k > 1 && html`<${Button} icon="merge" disabled=${starting} onClick=${tryAll}>${words.tryAll(number(chosen.k))}</${Button}><p class="small quiet">${words.tryAllText}</p>`}
      </div>
    </div>
    <${Live} live=${found.live} points=${points} index=${index} onIndex=${(next) => setQuery({ point: points[next].id })} />
  </${Card}>`;
}

/** A slider along the trade-offs that moves the first rows of the table and the risk at once. */
function Live({ live, points, index, onIndex }) {
  const { project } = useApp();
  const [moving, setMoving] = useState(null);
  const hint = useName("live");
  const at = moving ?? index;
  const point = points[at];
  if (!live) return null;
  if (live.reason) return html`<p class="small quiet">${words.noLive} ${live.reason}</p>`;
  const now = live.points[point.number];
  const label = (column, row) => {
    const [exact, shown] = [live.labels[column][0][row], live.labels[column][point.levels[column]][row]];
    return { exact, shown };
  };
  const none = html`<span class="none">${texts.data.none}</span>`;
  return html`<section class="live" aria-labelledby=${`${hint}-title`}><h3 id=${`${hint}-title`}>${words.live}</h3><p class="small quiet" id=${hint}>${words.liveText}</p>
    <div class="live-slider"><output class="k-figure figures">${number(point.k)}</output><div><${Slider} label=${texts.goals.kLabel} describe=${hint} min=${0} max=${points.length - 1} value=${index} text=${(each) => words.liveValue(number(points[each].k), share(points[each].loss))} onMove=${setMoving} onRest=${(next) => (setMoving(null), onIndex(next))} />
      <div class="row spread small quiet"><span>${texts.goals.kLow}</span><span>${texts.goals.kHigh}</span></div></div></div>
    ${!now && html`<p class="quiet">${words.notLive}</p>`}
    ${now && html`<div class="live-figures" role="status">
        <${Gauge} label=${words.loss} value=${point.loss} text=${share(point.loss)} kind="bound" /><${Gauge} label=${texts.risk.highest} value=${now.highest_risk} text=${share(now.highest_risk)} kind="after" /><${Gauge} label=${texts.risk.average} value=${now.average_risk} text=${share(now.average_risk)} kind="after" /><${Gauge} label=${words.suppressed} value=${now.left_out / Math.max(1, live.total || project.rows)} text=${count(now.left_out)} kind="before" /></div>
      <div class="scroll framed" tabindex="0" role="group" aria-label=${words.liveTable}><table class="grid live-table"><thead><tr>${live.columns.map((name) => html`<th scope="col"><${Name} of=${name} /></th>`)}${live.others.map((name) => html`<th scope="col"><${Name} of=${name} /></th>`)}<th scope="col">${words.liveGroup}</th></tr></thead>
        <tbody>${now.groups.map((size, row) => html`<tr key=${row} class=${size === null ? "gone" : ""}>${live.columns.map((column) => {
          const { exact, shown } = label(column, row);
          if (size === null) return html`<td class="away"><s>${exact ?? none}</s></td>`;
          return html`<td class=${exact === shown ? "" : "changed"}>${exact === shown ? shown ?? none : html`<b>${shown ?? none}</b>`}</td>`;
        })}${live.others.map((name) => html`<td>${size === null ? html`<s>${live.unchanged[name][row] ?? none}</s>` : live.unchanged[name][row] ?? none}</td>`)}<td class="figures">${size === null ? html`<span class="chip bad">${words.gone}</span>` : words.people(count(size))}</td></tr>`)}</tbody></table></div>`}</section>`;
}

function Gauge({ label, value, text, kind }) {
  return html`<div class="gauge"><span class="small quiet">${label}</span><b class="figures">${text}</b><${Meter} value=${value} kind=${kind} label=${`${label}: ${text}`} /></div>`;
}

function Result({ job }) {
  const { route, setQuery } = useApp();
  const [found, error] = useLoaded(`${at.job(job.id)}/result`);
  if (error) return html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`;
  if (!found) return html`<${Waiting} tall />`;
  const names = found.attributes.map((each) => each.name);
  const column = names.includes(route.query.column) ? route.query.column : names[0];
  const attribute = found.attributes.find((each) => each.name === column);
  const optimal = found.status === "optimal";
  return html`
    <section aria-labelledby="release-title" class="stack"><div class="row spread"><h2 class="section" id="release-title">${words.release}</h2><span class="chip accent">${jobLabel(job)}</span></div>
    <div class="stats">
      <${Stat} label=${words.released(found.counted_as)} value=${count((found.people || found).released)} of=${words.leftOut(count((found.people || found).suppressed))} />
      <${Stat} label=${words.classes} value=${count(found.classes)} of=${words.smallest(count(found.smallest_class))} />
      <${Stat} label=${words.loss} value=${found.normalized_cost === null ? number(found.cost) : share(found.normalized_cost)} of=${words.ofAll} />
      <${Stat} label=${words.proof} value=${optimal ? words.optimal : words.notProven} of=${optimal ? words.optimalText(typeof found.scheme === "string" ? found.scheme : [...new Set(Object.values(found.scheme))].join(" / ")) : words.couldBe(share(atBest(found)))} />
    </div></section>
    <${Card} title=${words.columns} text=${words.columnsText}>
      <div class="attributes" role="radiogroup" aria-label=${words.columns}>${found.attributes.map((each) => html`<button type="button" role="radio" key=${each.name} aria-checked=${each.name === column ? "true" : "false"} onClick=${() => setQuery({ column: each.name })}>
        <b><${Name} of=${each.name} /></b>${each.level !== null ? html`<${Pips} level=${each.level} levels=${each.height} />` : html`<span class="small">${words.cutOf(count(each.released_values))}</span>`}<span class="small quiet">${words.valuesOf(count(each.values), count(each.released_values))}</span></button>`)}</div>
      ${attribute && html`<${Attribute} key=${column} id=${job.id} attribute=${attribute} who=${found.values_of || "people"} empty=${String(found.scheme).startsWith("local") ? words.noTrees : words.noTree} />`}
    </${Card}>
    ${found.kept.length > 0 && html`<${Kept} kept=${found.kept} />`}
    ${found.lattice && html`<${Lattice} lattice=${found.lattice} who=${found.values_of || "people"} space=${found.space} examined=${found.examined} />`}
    <${Rows} job=${job} />`;
}

function Attribute({ id, attribute, who, empty }) {
  const { name, cut } = attribute;
  return html`<div class="columns two attribute">
    <div><h3>${words.histogram}</h3><${JobChart} id=${id} name="column" column=${name} empty=${words.noHistogram} />
      ${cut && cut.detail.length > 0 && html`<table class="grid"><thead><tr><th scope="col">${words.covers}</th><th scope="col" class="num">${words.covered[who]}</th></tr></thead><tbody>${cut.detail.map(([covers, rows]) => html`<tr><th scope="row">${covers}</th><td class="num">${count(rows)}</td></tr>`)}</tbody></table>`}</div>
    <div><h3>${words.cut}</h3><${JobChart} id=${id} name="column" part="tree" column=${name} empty=${empty} /><p class="small quiet">${cut && cut.tree.length > 0 && words.treeText}</p></div>
  </div>`;
}

/** Columns that were released unchanged, and how unique their values are. */
function Kept({ kept }) {
  const explained = kept.some((each) => each.confirmed || each.reasons.length);
  return html`<${Card} kind="flush" title=${words.kept} text=${words.keptText}><div class="scroll" tabindex="0" role="region" aria-label=${words.kept}><table class="grid"><thead><tr><th scope="col">${texts.risk.column}</th><th scope="col">${words.alone}</th>${explained && html`<th scope="col">${words.why}</th>`}</tr></thead>
    <tbody>${kept.map((each) => html`<tr><th scope="row"><${Name} of=${each.name} /></th><td><div class="kept">${each.unique === null ? words.notCounted : html`<${Meter} value=${each.unique} kind=${each.reasons.length ? "bound" : "after"} label=${share(each.unique)} /><span class="figures small">${share(each.unique)}</span>`}</div></td>${explained && html`<td class="wrap">${each.confirmed && html`<span class="chip warn">${words.decided}</span> `}${each.reasons.join(" ")}</td>`}</tr>`)}</tbody></table></div></${Card}>`;
}

/** The level of every column, and the effect of one step up or down. */
function Lattice({ lattice, who, space, examined }) {
  const step = (column, change) => lattice.steps.find((each) => each.column === column && each.change === change);
  return html`<${Card} kind="flush" title=${words.lattice} text=${words.latticeText(count(examined), count(space))}><div class="scroll" tabindex="0" role="region" aria-label=${words.lattice}><table class="grid ladder"><thead><tr><th scope="col">${texts.risk.column}</th><th scope="col">${words.ladder}</th><th scope="col">${words.finer}</th><th scope="col">${words.coarser}</th></tr></thead>
    <tbody>${Object.entries(lattice.levels).map(([column, level]) => {
      const [finer, coarser] = [step(column, -1), step(column, 1)];
      const height = lattice.heights[column];
      return html`<tr><th scope="row">${column}</th><td><svg class="rungs" viewBox=${`0 0 ${height * 26 + 22} 22`} width=${height * 26 + 22} height="22" role="img" aria-label=${texts.levelOf(level, height)}><line x1="11" x2=${height * 26 + 11} y1="11" y2="11" />${Array.from({ length: height + 1 }, (_, index) => html`<circle cx=${index * 26 + 11} cy="11" r=${index === level ? 9 : 5} class=${index === level ? "on" : ""} />${index === level && html`<text x=${index * 26 + 11} y="15" text-anchor="middle">${level}</text>`}`)}</svg></td>
        <td>${finer ? html`<span class=${finer.small_rows ? "warned" : ""}>${words.finerText(count(finer.small_rows), who, lattice.least)}</span>` : html`<span class="quiet">${words.finest}</span>`}</td><td>${coarser ? words.coarserText(count(coarser.classes), count(coarser.small_rows), who, lattice.least) : html`<span class="quiet">${words.coarsest}</span>`}</td></tr>`;
    })}</tbody></table></div></${Card}>`;
}

function Rows({ job }) {
  const { project } = useApp();
  const [offset, setOffset] = useState(0);
  const [both, setBoth] = useState(true);
  const [page, error] = useLoaded(at.rows(project.id, { offset, limit: SIZE, release: job.id }));
  const dropped = (index) => page.dropped.includes(page.columns[index]);
  const order = page ? page.columns.map((_, index) => index).sort((one, other) => dropped(one) - dropped(other)) : [];
  return html`<${Card} kind="flush" title=${words.table} text=${words.tableText} actions=${html`<${Switch} label=${words.both} checked=${both} onChange=${setBoth} />`}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!page && !error && html`<${Waiting} tall />`}
    ${page && html`<div class="scroll" tabindex="0" role="region" aria-label=${words.table}><table class="grid compare"><thead><tr><th scope="col" class="num">${words.row}</th>${order.map((index) => html`<th scope="col">${page.columns[index]}${dropped(index) && html` <span class="chip warn">${words.taken}</span>`}</th>`)}</tr></thead>
      <tbody>${page.before.map((row, line) => {
        const after = page.after[line];
        return html`<tr key=${offset + line} class=${after ? "" : "gone"}><th scope="row" class="num quiet">${!after && html`<span class="chip bad">${words.gone}</span> `}${count(offset + line + 1)}</th>
          ${order.map((index) => html`<${Cell} was=${row[index]} is=${after && after[index]} gone=${!after || dropped(index)} changed=${after && page.changed[line][index]} both=${both} />`)}</tr>`;
      })}</tbody></table></div>
      <${Pager} offset=${offset} size=${SIZE} total=${page.total} onMove=${setOffset} />`}
  </${Card}>`;
}

/** A set of values such as {a, b, c}, as many of them as fit, each as a whole. */
function fewOf(value, most = 30) {
  if (!/^\{.*\}$/s.test(value) || value.length <= most) return value;
  const items = value.slice(1, -1).split(", ");
  let kept = 1;
  while (kept < items.length && items.slice(0, kept + 1).join(", ").length <= most) kept += 1;
  return kept < items.length ? words.more(items.slice(0, kept).join(", "), items.length - kept) : value;
}

function Cell({ was, is, gone, changed, both }) {
  const shown = (value) => (value === null ? html`<span class="none">${texts.data.none}</span>` : fewOf(value));
  if (gone) return html`<td class="away"><s>${shown(was)}</s></td>`;
  if (!changed) return html`<td>${shown(was)}</td>`;
  return html`<td class="changed" title=${fewOf(is ?? "") === is ? undefined : is}>${both && html`<s>${shown(was)}</s> `}<b>${shown(is)}</b></td>`;
}
