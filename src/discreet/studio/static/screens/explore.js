// Explore: which trade-off, what became of each column, and the table before and after.
import { html, useEffect, useState } from "../vendor/preact.js";
import { at, post } from "../api.js";
import { newest, useApp, useLoaded } from "../context.js";
import { Button, Card, Empty, Notice, Pager, Pips, Segments, Stat, Switch, Waiting } from "../parts.js";
import { BeforeAfter, FrontChart } from "../charts.js";
import { Icon } from "../icons.js";
import { Tree } from "../tree.js";
import { count, number, share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.explore;
const SIZE = 15;

export function Explore() {
  const { project, route } = useApp();
  const asked = project.jobs.find((job) => job.id === route.query.job && job.state === "done");
  const release = asked && asked.kind === "release" ? asked : newest(project, "release");
  const front = asked && asked.kind === "front" ? asked : newest(project, "front");
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div></div>
  <div class="stack">
    ${front ? html`<${Front} job=${front} key=${front.id} />` : html`<${NoFront} />`}
    ${release ? html`<${Result} job=${release} key=${release.id} />` : html`<${Card} title=${words.noRelease}><p class="quiet">${words.noReleaseText}</p></${Card}>`}
  </div>`;
}

function NoFront() {
  const { project, change, go } = useApp();
  const [starting, setStarting] = useState(false);
  const start = () => {
    setStarting(true);
    change(() => post(at.jobs(project.id), { kind: "front" })).then((job) => go("run", { job: job.id }), () => setStarting(false));
  };
  return html`<section class="card slim"><${Icon} name="chart" size=${28} /><div><h2>${words.noFront}</h2><p class="quiet">${words.noFrontText}</p></div><${Button} icon="play" disabled=${starting} onClick=${start}>${words.makeFront}</${Button}></section>`;
}

function Front({ job }) {
  const { project, route, look, change, go } = useApp();
  const [found, error] = useLoaded(`${at.job(job.id)}/result`);
  const [starting, setStarting] = useState(false);
  if (error) return html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`;
  if (!found) return html`<${Waiting} tall />`;
  const points = found.points.map((point, index) => ({ ...point, id: String(point.id ?? index), x: point.privacy ?? point.k, title: words.pointTitle(point.privacy ?? point.k) })).sort((a, b) => a.x - b.x);
  if (!points.length) return html`<${Card} title=${words.front}><p>${words.noPoints}</p></${Card}>`;
  const knee = found.knee === null || found.knee === undefined ? null : String(found.knee.id ?? found.knee);
  const chosen = points.find((point) => point.id === route.query.point) || points.find((point) => point.id === knee) || points[0];
  const take = async () => {
    setStarting(true);
    try {
      const next = await change(() => post(at.jobs(project.id), { kind: "release", job: job.id, point: chosen.id }));
      go("run", { job: next.id });
    } catch {
      setStarting(false);
    }
  };
  return html`<${Card} title=${words.front} text=${words.frontText(points.length)}>
    <div class="front">
      <div class="front-chart"><p class="axis-title small quiet">${words.yAxis}</p><${FrontChart} points=${points} chosen=${chosen.id} knee=${knee} onChoose=${(id) => look({ point: id })} /></div>
      <div class="point-card" role="region" aria-live="polite" aria-label=${words.chosen}>
        <h3>${chosen.title} ${chosen.id === knee && html`<span class="chip warn"><${Icon} name="spark" />${words.suggested}</span>`}</h3>
        <dl class="pairs"><dt>${words.loss}</dt><dd>${share(chosen.loss_share ?? chosen.loss)}</dd><dt>${words.suppressed}</dt><dd>${count(chosen.suppressed)}</dd>
          ${Object.entries(chosen.levels || {}).map(([name, level]) => {
            const depth = (project.hierarchies[name] || {}).depth || Math.max(level, 1);
            return html`<dt>${name}</dt><dd><${Pips} level=${level} levels=${depth} /></dd>`;
          })}</dl>
        ${chosen.id === knee && found.why && html`<p class="small quiet">${found.why}</p>`}
        ${chosen.proven && html`<p class="small"><${Icon} name="check" size=${16} /> ${words.provenPoint}</p>`}
        <${Button} kind="main" end="next" disabled=${starting} onClick=${take}>${words.take}</${Button}>
      </div>
    </div>
  </${Card}>`;
}

function Result({ job }) {
  const { project, route, look } = useApp();
  const [found, error] = useLoaded(`${at.job(job.id)}/result`);
  if (error) return html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`;
  if (!found) return html`<${Waiting} tall />`;
  const names = found.attributes.map((each) => each.name);
  const column = names.includes(route.query.column) ? route.query.column : names[0];
  const attribute = found.attributes.find((each) => each.name === column);
  return html`
    <section aria-labelledby="release-title" class="stack"><div class="row spread"><h2 id="release-title">${words.release}</h2>${job.label && html`<span class="chip accent">${job.label}</span>`}</div>
    <div class="stats">
      <${Stat} label=${words.released} value=${count(found.rows ?? project.rows - found.suppressed)} of=${words.leftOut(count(found.suppressed))} />
      <${Stat} label=${words.classes} value=${count(found.classes)} of=${words.smallest(count(found.smallest))} />
      <${Stat} label=${words.loss} value=${found.loss_share === undefined || found.loss_share === null ? number(found.cost) : share(found.loss_share)} of=${words.ofAll} />
      <${Stat} label=${words.proof} value=${found.status === "optimal" ? words.optimal : share(found.gap)} of=${found.status === "optimal" ? words.optimalText : words.gapText} />
    </div></section>
    <${Card} title=${words.columns} text=${words.columnsText}>
      <div class="attribute-pick"><div class="attributes" role="radiogroup" aria-label=${words.columns}>${found.attributes.map((each) => html`<button type="button" role="radio" key=${each.name} aria-checked=${each.name === column ? "true" : "false"} onClick=${() => look({ column: each.name })}>
        <b>${each.name}</b>${each.level !== null && each.level !== undefined ? html`<${Pips} level=${each.level} levels=${each.levels} />` : html`<span class="small">${words.cutOf(count(each.blocks))}</span>`}<span class="small quiet">${words.lost(share(each.loss))}</span></button>`)}</div>
      ${attribute && html`<div class="columns two attribute">
        <div><h3>${words.histogram}</h3>${attribute.before ? html`<${BeforeAfter} before=${attribute.before} after=${attribute.after || []} label=${words.histogramOf(column)} />` : html`<p class="quiet">${words.noHistogram}</p>`}</div>
        <div><h3>${words.cut}</h3><p class="small quiet">${words.cutText}</p>${attribute.tree ? html`<div class="treebox short"><${Tree} key=${column} root=${attribute.tree} label=${words.cutLabel(column)} total=${project.rows} mark=${(node) => (node.released ? "released" : node.state || "")} /></div>` : html`<p class="quiet">${words.noTree}</p>`}</div></div>`}</div>
    </${Card}>
    ${found.lattice && html`<${Lattice} lattice=${found.lattice} />`}
    <${Rows} job=${job} />`;
}

function Lattice({ lattice }) {
  return html`<${Card} title=${words.lattice} text=${words.latticeText}><dl class="pairs narrow">${Object.entries(lattice).filter(([, value]) => typeof value === "number").map(([name, value]) => html`<dt>${words.latticeNames[name] || name}</dt><dd>${number(value)}</dd>`)}</dl></${Card}>`;
}

function Rows({ job }) {
  const { project } = useApp();
  const [offset, setOffset] = useState(0);
  const [both, setBoth] = useState(true);
  const [page, error] = useLoaded(at.rows(project.id, { offset, limit: SIZE, release: job.id }));
  return html`<${Card} kind="flush" title=${words.table} text=${words.tableText} actions=${html`<${Switch} label=${words.both} checked=${both} onChange=${setBoth} />`}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!page && !error && html`<${Waiting} tall />`}
    ${page && html`<div class="scroll" tabindex="0" role="region" aria-label=${words.table}><table class="grid compare"><thead><tr><th scope="col" class="num">${words.row}</th>${page.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${page.before.map((row, place) => {
        const after = page.after[place];
        const gone = !after;
        return html`<tr key=${offset + place} class=${gone ? "gone" : ""}><th scope="row" class="num quiet">${count(offset + place + 1)}${gone && html`<span class="chip bad">${words.gone}</span>`}</th>
          ${row.map((value, index) => {
            const removed = !gone && page.removed && page.removed.includes(page.columns[index]);
            const changed = !gone && (removed || (page.changed && page.changed[place] && page.changed[place][index]));
            const now = gone || removed ? null : after[index];
            return html`<td class=${changed ? "changed" : ""}>${gone ? html`<s>${value ?? texts.data.none}</s>` : removed ? html`${both && html`<s>${value ?? texts.data.none}</s> `}<span class="taken">${words.taken}</span>` : changed ? html`${both && html`<s>${value ?? texts.data.none}</s> `}<b>${now ?? texts.data.none}</b>` : value === null ? html`<span class="none">${texts.data.none}</span>` : value}</td>`;
          })}</tr>`;
      })}</tbody></table></div>
      <${Pager} offset=${offset} size=${SIZE} total=${page.total} onMove=${setOffset} />`}
  </${Card}>`;
}
