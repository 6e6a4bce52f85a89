// Risk and utility of a release.
import { html, useState } from "../vendor/preact.js";
import { at, get } from "../api.js";
import { newest, useApp, useJob, useLoaded } from "../context.js";
import { Button, Card, Empty, Meter, More, Name, Notice, Stat, Waiting } from "../parts.js";
import { JobChart } from "../charts.js";
import { OutOfDate, Verdict } from "./decide.js";
import { Find } from "./find.js";
import { jobLabel } from "./run.js";
import { count, number, share } from "../format.js";
import { list, texts } from "../texts.js";

const words = texts.risk;

export function Risk() {
  const { project, route } = useApp();
  const requested = project.jobs.find((job) => job.id === route.query.job && job.state === "done" && job.kind === "release");
  const chosen = requested || newest(project, "release");
  const [job] = useJob(chosen && chosen.id);
  const [found] = useLoaded(chosen && `${at.job(chosen.id)}/result`);
  if (!chosen) return html`<${Empty} top icon="shield" title=${words.none}><p>${texts.explore.noReleaseText}</p></${Empty}>`;
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div><span class="chip accent">${jobLabel(chosen)}</span></div>
    <div class="stack"><${OutOfDate} job=${chosen} />${found && html`<${Verdict} of=${found} />`}<${Find} key=${chosen.id} id=${chosen.id} />${["risk", "utility"].map((part) => html`<${Part} key=${`${chosen.id}/${part}`} part=${part} id=${chosen.id} state=${job && job.evaluation ? job.evaluation[part] : job ? "done" : null} reason=${job && job.more && job.more[part]} />`)}</div>`;
}

/** Why figures are missing, below those that are there. */
function Reasons({ of: reasons, part }) {
  const missing = Object.entries(reasons || {});
  if (!missing.length) return null;
  return html`<${Card} title=${words.missing(part)}><dl class="reasons-list">${missing.map(([name, reason]) => html`<div key=${name}><dt>${words.measures[name] || name}</dt><dd>${reason}</dd></div>`)}</dl></${Card}>`;
}

function Part({ part, id, state, reason }) {
  const { fail } = useApp();
  const [again, setAgain] = useState(false);
  const [found, error] = useLoaded(state === "done" ? `${at.job(id)}/${part}` : null);
  const title = part === "risk" ? words.risk : words.utility;
  const retry = () => (setAgain(true), get(`${at.job(id)}/${part}`).then(() => location.reload(), (problem) => (setAgain(false), fail(problem))));
  if (state === "failed" || error) return html`<${Card} title=${title}><${Notice} kind="warn" role="status"><p><b>${words.failed}</b> ${error ? error.message : reason || words.noReason}</p><p><${Button} kind="compact" disabled=${again} onClick=${retry}>${texts.again}</${Button}></p></${Notice}></${Card}>`;
  if (!found || found.state) return html`<${Card} title=${title}><p class="quiet" role="status"><span class="spinner"></span> ${words.measuring}</p></${Card}>`;
  return part === "risk" ? html`<${RiskPart} found=${found} id=${id} />` : html`<${UtilityPart} found=${found} id=${id} />`;
}

function RiskPart({ found, id }) {
  const after = found;
  const before = found.original;
  const attackers = ["prosecutor", "journalist", "marketer"].map((name) => {
    const pick = (report) => {
      const part = report && report[name];
      if (part === null || part === undefined) return null;
      return typeof part === "number" ? { highest: null, average: part } : part;
    };
    return { name, after: pick(after), before: pick(before) };
  }).filter((each) => each.after);
  return html`<section class="stack" aria-labelledby="risk-title"><h2 id="risk-title" class="section">${words.risk}</h2>
    <p class="quiet">${words.countsOnly(list(after.quasi_identifiers))}</p>
    <div class="stats"><${Stat} label=${words.highest} value=${share(after.prosecutor.highest)} of=${before && words.was(share(before.prosecutor.highest))} />
      <${Stat} label=${words.average} value=${share(after.prosecutor.average)} of=${before && words.was(share(before.prosecutor.average))} />
      <${Stat} label=${words.uniques} value=${count(after.uniques)} of=${before && words.was(count(before.uniques))} />
      <${Stat} label=${words.atRisk(share(after.threshold))} value=${share(after.prosecutor.share_at_risk)} of=${before && words.was(share(before.prosecutor.share_at_risk))} /></div>
    <div class="columns two">
      <${Card} title=${words.sizes} text=${words.sizesText}><${JobChart} id=${id} name="sizes" /></${Card}>
      <${Card} title=${words.attackers} text=${words.attackersText}><ul class="attackers">${attackers.map((each) => html`<li><div class="row spread"><h3>${words.names[each.name]}</h3><b class="figures">${share(each.after.average)}</b></div><p class="small quiet">${words.attackerTexts[each.name]}</p></li>`)}</ul><${JobChart} id=${id} name="attackers" /></${Card}>
      ${Object.keys(after.disclosure || {}).length > 0 && html`<${Card} title=${words.secrets} text=${words.secretsText}>${Object.entries(after.disclosure).map(([column, found]) => html`<div class="disclosure"><h3>${column}</h3><dl class="pairs">
        <dt>${words.confidence}</dt><dd>${share(found.confidence)}</dd><dt>${words.averageConfidence}</dt><dd>${share(found.average_confidence)}</dd><dt>${words.distinct}</dt><dd>${number(found.distinct_l)}</dd><dt>${words.distance}</dt><dd>${number(found.t_equal)}</dd></dl></div>`)}</${Card}>`}
    </div>
    ${after.attacks && html`<${Attacks} attacks=${after.attacks} />`}
    ${(after.warnings || []).length > 0 && html`<${Notice} kind="warn"><ul>${after.warnings.map((warning) => html`<li>${warning.message || warning}</li>`)}</ul></${Notice}>`}
    <${Reasons} of=${after.missing} part=${words.risk} />
  </section>`;
}

/** Success of attacks on the release, each next to a blind guess. */
function Attacks({ attacks }) {
  const { linkage, homogeneity } = attacks;
  const lines = [
    ...(linkage ? [[words.linkage, linkage.success, linkage.naive], [words.singled, linkage.singled_out, null]] : []),
    ...Object.entries(homogeneity || {}).flatMap(([column, attack]) => [[words.guess(column), attack.success, attack.naive], [words.certain(column), attack.certain, null]]),
  ];
  return html`<${Card} kind="flush" title=${words.attacks} text=${words.attacksText}><div class="scroll" tabindex="0" role="region" aria-label=${words.attacks}><table class="grid"><thead><tr><th scope="col">${words.attack}</th><th scope="col" class="num">${words.right}</th><th scope="col" class="num">${words.blind}</th></tr></thead>
    <tbody>${lines.map(([title, success, naive]) => html`<tr><th scope="row">${title}</th><td class="num">${share(success)}</td><td class="num">${share(naive)}</td></tr>`)}</tbody></table></div></${Card}>`;
}

function UtilityPart({ found, id }) {
  const strength = (found.associations || []).filter((each) => each.measure !== "spearman");
  return html`<section class="stack" aria-labelledby="utility-title"><h2 id="utility-title" class="section">${words.utility}</h2>
    <div class="stats"><${Stat} label=${words.rows} value=${share(found.released_rows / Math.max(1, found.rows))} of=${words.rowsOf(count(found.released_rows), count(found.rows))} />
      ${found.queries && html`<${Stat} label=${words.queries} value=${share(found.queries.median)} of=${words.queriesText(count(found.queries.count))} />`}
      ${found.association_difference !== null && found.association_difference !== undefined && html`<${Stat} label=${words.associations} value=${found.association_difference.toFixed(3)} of=${words.associationsText} />`}</div>
    <div class="columns two">
      <${Card} kind="flush" title=${words.kept} text=${words.keptText}><div class="scroll" tabindex="0" role="region" aria-label=${words.kept}><table class="grid"><thead><tr><th scope="col">${words.column}</th><th scope="col" class="num">${words.values}</th><th scope="col">${words.detail}</th><th scope="col" class="num">${words.moved}</th></tr></thead>
        <tbody>${(found.attributes || []).map((each) => html`<tr><th scope="row" class="name"><${Name} of=${each.column} /></th><td class="num">${words.valuesOf(count(each.values), count(each.released_values))}</td><td>${each.loss === null || each.loss === undefined ? html`<span class="quiet small">${words.asItIs}</span>` : html`<div class="kept"><${Meter} value=${1 - each.loss} label=${share(1 - each.loss)} /><span class="figures small">${share(1 - each.loss, 0)}</span></div>`}</td><td class="num">${each.total_variation === null || each.total_variation === undefined ? "–" : share(each.total_variation)}</td></tr>`)}</tbody></table></div></${Card}>
      ${strength.length > 0 && html`<${Card} title=${words.associated} text=${words.associatedText}><${JobChart} id=${id} name="associations" /></${Card}>`}
      ${found.classifiers && html`<${Card} kind="flush" title=${words.models} text=${words.modelsText}><div class="scroll" tabindex="0" role="region" aria-label=${words.models}><table class="grid"><thead><tr><th>${words.model}</th><th class="num">${texts.chart.before}</th><th class="num">${texts.chart.after}</th></tr></thead><tbody>${found.classifiers.map((each) => html`<tr><th scope="row">${each.model}</th><td class="num">${share(each.original_accuracy)}</td><td class="num">${share(each.accuracy)}</td></tr>`)}</tbody></table></div></${Card}>`}
    </div>
    <${Card} title=${words.costs}><${More} label=${words.costsText}><div class="scroll" tabindex="0" role="region" aria-label=${words.costs}><table class="grid"><thead><tr><th>${words.cost}</th><th class="num">${words.total}</th><th class="num">${words.ofAll}</th></tr></thead><tbody>${(found.costs || []).map((each) => html`<tr><th scope="row">${each.cost}</th><td class="num">${number(each.total)}</td><td class="num">${share(each.normalized)}</td></tr>`)}</tbody></table></div></${More}></${Card}>
    <${Reasons} of=${found.missing} part=${words.utility} />
  </section>`;
}
