// Goals: promises, priorities, who may be left out, and how the search is done.
import { html, useEffect, useState } from "../vendor/preact.js";
import { at, post } from "../api.js";
import { startJob, useApp } from "../context.js";
import { Button, Card, More, Notice, NumberField, Segments, Slider, Switch, useName } from "../parts.js";
import { argumentsOf, formOf, readForm } from "../forms.js";
import { deriveText } from "../derive.js";
import { Decide } from "./decide.js";
import { Icon } from "../icons.js";
import { count, share } from "../format.js";
import { texts } from "../texts.js";

const words = texts.goals;
const SIZES = [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200];
const SHARES = [0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5];
const WEIGHTS = [0.25, 0.5, 1, 2, 4, 8];
const PLAIN_MODELS = ["distinct-l", "l+", "t"];
const PLAIN_SCHEMES = ["best", "full-domain", "subtree", "local", "cells"];
const MOST_HIDDEN = 2;

/** The promise that people look the same in all columns; others of its name are about some columns alone. */
const isGroup = ({ name, options }) => name === "k" && !options.on && !options.any;
/** Whether a hidden cell counts as equal to every value, which is weaker. */
const isWeaker = (form) => readForm(form).options.unknown === "matches";

export function Goals() {
  const { about, project, patch } = useApp();
  const parts = about.vocabulary;
  const goals = project.goals;
  const set = (change) => patch({ goals: change });
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div></div>
  <div class="columns main-side">
    <div class="stack">
      <${Promises} models=${parts.privacy} missing=${parts.missing_sensitive} goals=${goals} set=${set} />
      <${Matters} goals=${goals} set=${set} costs=${parts.costs} />
      <${LeftOut} kinds=${parts.suppression} goals=${goals} set=${set} />
      <${How} parts=${parts} goals=${goals} set=${set} />
    </div>
    <${Plan} />
  </div>`;
}

const nearest = (list, value) => list.reduce((best, each, index) => (Math.abs(each - value) < Math.abs(list[best] - value) ? index : best), 0);

/** A slider over a list of values. */
function Choices({ list, value, onRest, label, text, describe, onMove }) {
  return html`<${Slider} label=${label} min=${0} max=${list.length - 1} value=${nearest(list, value)} text=${(index) => text(list[index])} describe=${describe}
    onMove=${(index) => onMove && onMove(list[index])} onRest=${(index) => onRest(list[index])} />`;
}

function Promises({ models, missing, goals, set }) {
  const { project } = useApp();
  const open = project.columns.filter((column) => column.role === "sensitive" && !column.promised.length).map((column) => column.name);
  const secrets = project.columns.filter((column) => column.role === "sensitive").map((column) => column.name);
  const k = models.find((model) => model.name === "k");
  const held = goals.privacy.map((form) => ({ form, ...readForm(form) }));
  const own = held.find(isGroup);
  const [moving, setMoving] = useState(null);
  const now = own ? Number(argumentsOf(own.form, k.parameters).k) : 5;
  useEffect(() => setMoving(null), [now]);
  const shown = moving ?? now;
  const swap = (from, to) => set({ privacy: from.length ? goals.privacy.flatMap((each) => (each === from[0] ? to : from.includes(each) ? [] : [each])) : [...goals.privacy, ...to] });
  const putK = (size) => swap(own ? [own.form] : [], size === null ? [] : [own ? own.form.replace(/^k\(\d+/, `k(${size}`) : `k(${size})`]);
  const others = models.filter((model) => model.name !== "k");
  const is = (model) => held.some((each) => each.name === model.name);
  const first = others.filter((model) => PLAIN_MODELS.includes(model.name) || is(model));
  const rest = others.filter((model) => !first.includes(model));
  const hint = useName("k-hint");
  return html`<${Card} title=${words.group} text=${words.groupText} actions=${html`<${Switch} label=${words.group} hidden checked=${Boolean(own)} onChange=${(on) => putK(on ? 5 : null)} />`} id="promises">
    ${own && html`<div class="k-row"><output class="k-figure figures">${shown}</output><div class="k-main"><${Crowd} size=${shown} /><${Choices} list=${SIZES} value=${now} label=${words.kLabel} describe=${hint} text=${(value) => words.kText(value)} onMove=${setMoving} onRest=${putK} />
        <div class="row spread small quiet k-ends"><span>${words.kLow}</span><label class="row">${words.kExact}<${NumberField} kind="compact tiny" label=${words.kExactLabel} value=${now} min=${2} max=${project.rows} step=${1} onRest=${(value) => putK(Math.round(value))} /></label><span>${words.kHigh}</span></div></div></div>
      <p id=${hint} class="k-words">${isWeaker(own.form) ? words.kMatches(shown) : words.kWords(shown, counted(project, "rows").who)}</p>
      ${!isWeaker(own.form) && html`<${Prevents} model=${k} />`}`}
    <h3 class="apart">${words.secrets}</h3>
    ${secrets.length === 0 ? html`<p class="quiet">${words.noSecrets}</p>` : html`<p class="quiet small">${words.secretsText(secrets)}</p>
      ${open.length > 0 && html`<${Notice} kind="warn" role="status"><p>${words.unprotected(open)}</p></${Notice}>`}
      <ul class="models">${first.map((model) => html`<${Model} key=${model.name} model=${model} forms=${held.filter((each) => each.name === model.name).map((each) => each.form)} secrets=${secrets} swap=${swap} />`)}</ul>
      ${rest.length > 0 && html`<${More} label=${words.moreModels(rest.length)}><ul class="models">${rest.map((model) => html`<${Model} key=${model.name} model=${model} forms=${[]} secrets=${secrets} swap=${swap} />`)}</ul></${More}>`}
      <${EmptySecrets} choices=${missing} goals=${goals} set=${set} />`}
  </${Card}>`;
}

/** A picture of people who look the same. */
function Crowd({ size }) {
  const shown = Math.min(size, 60);
  const wide = 21;
  return html`<svg class="crowd-row" viewBox=${`0 0 ${Math.max(12, Math.min(shown, 30)) * wide} ${shown > 30 ? 58 : 28}`} preserveAspectRatio="xMinYMid meet" role="img" aria-label=${words.kText(size)}>
    ${Array.from({ length: shown }, (_, index) => html`<g class=${index === 0 ? "me" : "them"} transform=${`translate(${(index % 30) * wide + 10} ${Math.floor(index / 30) * 30 + 8})`}><circle r="4.6" /><path d="M-8 17a8 9 0 0 1 16 0z" /></g>`)}
  </svg>`;
}

function Prevents({ model }) {
  return html`<div class="prevents"><p><${Icon} name="shield" size=${20} /><span><b>${words.prevents}</b> ${model.prevents}</span></p><p><${Icon} name="eye" size=${20} /><span><b>${words.example}</b> ${model.example}</span></p></div>`;
}

/** A promise, once for each protected column it is about. */
function Model({ model, forms, secrets, swap }) {
  const { project } = useApp();
  const about = model.parameters.some((parameter) => parameter.kind === "column");
  const most = (column) => (project.columns.find((each) => each.name === column) || {}).distinct || Infinity;
  const first = (column) => formOf(model.name, model.parameters, Object.fromEntries(model.parameters.map((parameter) => [parameter.name, parameter.kind === "column" ? column : model.name === "distinct-l" ? Math.min(parameter.default, most(column)) : parameter.default])));
  const columnOf = (form) => argumentsOf(form, model.parameters).attribute ?? secrets[0];
  const left = about ? secrets.filter((column) => !forms.some((form) => columnOf(form) === column)) : [];
  const on = forms.length > 0;
  const turn = (now) => swap(forms, now ? (about ? secrets : [null]).map(first) : []);
  const change = (form, name, value) => swap([form], [formOf(model.name, model.parameters, { ...numbers(argumentsOf(form, model.parameters), model.parameters), attribute: about ? columnOf(form) : undefined, [name]: value })]);
  return html`<li class=${on ? "model on" : "model"} data-model=${model.name}>
    <div class="row nowrap upper"><${Switch} label=${model.title} hidden checked=${on} onChange=${turn} /><div><h4>${model.title} ${model.term && html`<span class="term">${model.term}</span>`}</h4><p class="quiet small">${model.text}</p></div></div>
    ${forms.map((form) => html`<div class="about" key=${columnOf(form)}>${about && html`<p class="row spread"><b>${columnOf(form)}</b>${forms.length > 1 && html`<${Button} kind="compact icon" icon="close" label=${words.notAbout(columnOf(form))} onClick=${() => swap([form], [])} />`}</p>`}
      <div class="parameters">${model.parameters.filter((parameter) => parameter.kind !== "column").map((parameter) => html`<${Parameter} key=${parameter.name} parameter=${parameter} value=${argumentsOf(form, model.parameters)[parameter.name]} onRest=${(value) => change(form, parameter.name, value)} />`)}</div></div>`)}
    ${on && left.length > 0 && html`<p class="row">${left.map((column) => html`<${Button} kind="compact" icon="plus" onClick=${() => swap([], [first(column)])}>${words.alsoAbout(column)}</${Button}>`)}</p>`}
    ${on && html`<${Prevents} model=${model} />`}
  </li>`;
}

/** Whether an empty cell of a protected column counts as one of the different values of a group. */
function EmptySecrets({ choices, goals, set }) {
  const name = useName("empty-secrets");
  const now = choices.find((each) => each.name === goals.missing_sensitive);
  return html`<div class="field apart"><label for=${name}>${words.emptySecrets}</label><select id=${name} value=${goals.missing_sensitive} onChange=${(event) => set({ missing_sensitive: event.target.value })}>${choices.map((each) => html`<option value=${each.name}>${each.title}${each.recommended ? ` (${words.recommended})` : ""}</option>`)}</select><p class="help">${now.text}</p></div>`;
}

const numbers = (given, parameters) => Object.fromEntries(parameters.map((parameter) => [parameter.name, ["int", "float"].includes(parameter.kind) ? Number(given[parameter.name]) : given[parameter.name]]));

function Parameter({ parameter, value, onRest }) {
  const name = useName("parameter");
  const options = parameter.choices;
  return html`<div class="field"><label for=${name}>${parameter.label}</label>
    ${options ? html`<select id=${name} class="compact" value=${value ?? options[0].name} onChange=${(event) => onRest(event.target.value)}>${options.map((each) => html`<option value=${each.name ?? each}>${each.title ?? each}</option>`)}</select>`
      : html`<${NumberField} id=${name} kind="compact" value=${Number(value)} min=${parameter.min} max=${parameter.max} step=${parameter.step} onRest=${onRest} />`}</div>`;
}

function Matters({ goals, set, costs }) {
  const { project } = useApp();
  const columns = project.columns.filter((column) => column.role === "quasi-identifier").map((column) => column.name);
  const cost = costs.find((each) => each.name === readForm(goals.cost).name);
  const weigh = (column, weight) => {
    const next = { ...goals.weights, [column]: weight };
    if (weight === 1) delete next[column];
    return set({ weights: next });
  };
  const keep = (column, level) => {
    const next = { ...goals.keep_at_least };
    if (level === "") delete next[column];
    else next[column] = Number(level);
    return set({ keep_at_least: next });
  };
  return html`<${Card} title=${words.matters} text=${words.mattersText} actions=${(Object.keys(goals.weights).length > 0 || Object.keys(goals.keep_at_least).length > 0) && html`<${Button} kind="compact" onClick=${() => set({ weights: {}, keep_at_least: {} })}>${words.even}</${Button}>`}>
    ${cost && !cost.weights && html`<${Notice}><p>${words.noWeights(cost.title)}</p></${Notice}>`}
    <ul class="matters">${columns.map((column) => {
      const facts = project.hierarchies[column] || {};
      const levels = facts.levels || [];
      return html`<li key=${column}><b>${column}</b>
        <div class="weight"><${Choices} list=${WEIGHTS} value=${goals.weights[column] ?? 1} label=${words.weightOf(column)} text=${(value) => words.weights[value]} onRest=${(value) => weigh(column, value)} /><span class="small quiet">${words.weights[WEIGHTS[nearest(WEIGHTS, goals.weights[column] ?? 1)]]}</span></div>
        <label class="keep"><span class="unseen">${words.keepOf(column)}</span><select class="compact" value=${goals.keep_at_least[column] ?? ""} onChange=${(event) => keep(column, event.target.value)}>
          <option value="">${words.anyLevel}</option>${levels.slice(0, -1).map((values, level) => html`<option value=${level}>${level === 0 ? words.keepExact : words.keepLevel(level, count(values))}</option>`)}</select></label></li>`;
    })}</ul>
  </${Card}>`;
}

function LeftOut({ kinds, goals, set }) {
  const now = readForm(goals.suppression);
  const kind = kinds.find((each) => each.name === now.name) || kinds[0];
  const limit = now.name === "budget" ? amount(now.plain[0] ?? now.options.limit) : 0.05;
  const [moving, setMoving] = useState(null);
  useEffect(() => setMoving(null), [limit]);
  const { project } = useApp();
  const part = moving ?? limit;
  const all = counted(project, "people");
  const main = ["none", "budget", "class-records"];
  const rest = kinds.filter((each) => !main.includes(each.name));
  const refused = (each) => refusal(each, goals.scheme);
  const choose = (name) => set({ suppression: name === "budget" ? "budget(5%)" : name });
  return html`<${Card} title=${words.leftOut} text=${words.leftOutText}>
    <div class="row"><${Segments} label=${words.leftOut} value=${now.name} options=${kinds.filter((each) => main.includes(each.name)).sort((a, b) => main.indexOf(a.name) - main.indexOf(b.name)).map((each) => ({ name: each.name, title: words.suppression[each.name] || each.title, text: each.text }))} onChange=${choose} />
      ${(rest.length > 0 || !main.includes(now.name)) && html`<label class="row"><span class="small">${words.otherWays}</span><select class="compact" value=${main.includes(now.name) ? "" : now.name} onChange=${(event) => event.target.value && choose(event.target.value)}><option value="">–</option>${[...new Set([...rest, ...(main.includes(now.name) ? [] : [kind])])].map((each) => html`<option value=${each.name} disabled=${Boolean(refused(each))} title=${refused(each)}>${each.title}</option>`)}</select></label>`}</div>
    <p class="quiet small">${kind.text}</p>
    ${now.name === "budget" && (limit <= 1 ? html`<div class="budget"><output class="k-figure figures">${share(part)}</output><div><${Choices} list=${SHARES} value=${limit} label=${words.budgetLabel} text=${(value) => share(value)} onMove=${setMoving} onRest=${(value) => set({ suppression: `budget(${Math.round(value * 1e6) / 1e4}%)` })} />
      <p class="small quiet">${words.budgetWords(count(Math.floor(part * all.number + 1e-9)), count(all.number), all.who)}</p></div></div>` : html`<p>${words.budgetNumber(count(limit), all.who)}</p>`)}
  </${Card}>`;
}

/** Who is counted, and how many there are: households or people if a column names them, else rows, called `who`. */
function counted(project, who) {
  const named = (role) => project.columns.find((column) => column.role === role);
  const [household, person] = [named("household"), named("person")];
  if (household) return { who: "households", number: household.distinct };
  return person ? { who: "people", number: person.distinct } : { who, number: project.rows };
}

/** The limit of a budget: 5% and 0.05 are shares, 300 is a number of people. */
function amount(text) {
  if (text === undefined) return 0.05;
  return String(text).endsWith("%") ? Number(String(text).slice(0, -1)) / 100 : Number(text);
}

function How({ parts, goals, set }) {
  const scheme = readForm(goals.scheme).name;
  const first = parts.schemes.filter((each) => PLAIN_SCHEMES.includes(each.name) || each.name === scheme);
  const rest = parts.schemes.filter((each) => !first.includes(each));
  const tried = (parts.schemes.find((each) => each.name === scheme) || {}).tries || [scheme];
  const solvers = parts.solvers.filter((each) => !each.schemes || tried.some((name) => each.schemes.includes(name)));
  const solver = parts.solvers.find((each) => each.name === readForm(goals.solver).name) || parts.solvers[0];
  const cost = parts.costs.find((each) => each.name === readForm(goals.cost).name);
  const [solverName, costName, timeName, missingName] = [useName("solver"), useName("cost"), useName("time"), useName("missing")];
  const change = (name) => {
    const keeps = solver.name === "auto" || name === "best" || !solver.schemes || solver.schemes.includes(name);
    const costs = cost && refusal(cost, name) ? { cost: parts.costs.find((each) => !refusal(each, name)).name } : {};
    const privacy = name !== "cells" && goals.privacy.some(isWeaker) ? { privacy: goals.privacy.map(stricter) } : {};
    set({ scheme: name, ...(keeps ? {} : { solver: "auto" }), ...costs, ...privacy });
  };
  const Schemes = ({ list }) => html`<div class="schemes" role="radiogroup" aria-label=${words.schemes}>${list.map((each) => html`<label key=${each.name} class=${`scheme ${each.name === scheme ? "on" : ""}`} data-scheme=${each.name}>
    <input type="radio" name="scheme" value=${each.name} checked=${each.name === scheme} onChange=${() => change(each.name)} /><${SchemeDrawing} name=${each.name} /><b>${each.title}${each.recommended && html` <span class="chip accent">${each.name === "best" ? words.recommended : words.simplest}</span>`}</b><span class="small quiet">${each.text}</span></label>`)}</div>`;
  return html`<${Card} title=${words.how} text=${words.howText}>
    <${Schemes} list=${first} />
    ${scheme === "cells" && html`<${HiddenCells} goals=${goals} set=${set} />`}
    <${More} label=${words.moreSchemes}><${Schemes} list=${rest} /></${More}>
    <div class="fields">
      <div class="field"><label for=${solverName}>${words.solver}</label><select id=${solverName} value=${solver.name} onChange=${(event) => set({ solver: event.target.value })}>${(solvers.includes(solver) ? solvers : [solver, ...solvers]).map((each) => html`<option value=${each.name}>${each.title}${each.recommended ? ` (${words.recommended})` : ""}</option>`)}</select><p class="help">${solver.why || solver.text}</p></div>
      <div class="field"><label for=${timeName}>${words.time}</label><select id=${timeName} value=${goals.time_limit ?? ""} onChange=${(event) => set({ time_limit: event.target.value === "" ? null : Number(event.target.value) })}>${[...new Set([10, 60, 300, 1800, goals.time_limit ?? 60])].sort((a, b) => a - b).map((each) => html`<option value=${each}>${words.atMost(each)}</option>`)}<option value="">${scheme === "best" ? words.noLimitBest : words.noLimit}</option></select><p class="help">${words.timeText}</p></div>
      <div class="field"><label for=${costName}>${words.cost}</label><select id=${costName} value=${cost ? cost.name : goals.cost} onChange=${(event) => set({ cost: event.target.value })}>${parts.costs.map((each) => html`<option value=${each.name} disabled=${Boolean(refusal(each, scheme))} title=${refusal(each, scheme)}>${each.title}${each.recommended ? ` (${words.recommended})` : ""}</option>`)}</select><p class="help">${cost && cost.text}</p></div>
      ${parts.missing && html`<div class="field"><label for=${missingName}>${words.missing}</label><select id=${missingName} value=${goals.missing} onChange=${(event) => set({ missing: event.target.value })}>${parts.missing.map((each) => html`<option value=${each.name}>${each.title}</option>`)}</select><p class="help">${(parts.missing.find((each) => each.name === goals.missing) || {}).text}</p></div>`}
    </div>
  </${Card}>`;
}

/** The same promise, in which a hidden cell is a value of its own, or equal to every value. */
const stricter = (form) => form.replace(/,\s*unknown=matches/, "");
const weakened = (form) => `${stricter(form).slice(0, -1)}, unknown=matches)`;

/** What a hidden cell is: a value of its own, or equal to every value, which is weaker and says so. */
function HiddenCells({ goals, set }) {
  const own = goals.privacy.find((form) => isGroup(readForm(form)));
  const weaker = Boolean(own && isWeaker(own));
  const most = readForm(goals.scheme).options.most ?? null;
  const [group, mostName] = [useName("hidden"), useName("most")];
  const put = (changed) => (own ? goals.privacy.map((form) => (form === own ? changed : form)) : goals.privacy);
  const choose = (weak) => set(weak ? { privacy: put(weakened(own)), scheme: `cells(most=${MOST_HIDDEN})`, suppression: "none" } : { privacy: put(stricter(own)), scheme: "cells" });
  const choice = (weak, title, text) => html`<label class=${`scheme ${weak === weaker ? "on" : ""}`}><input type="radio" name=${group} checked=${weak === weaker} disabled=${weak && !own} onChange=${() => choose(weak)} /><b>${title}</b><span class="small quiet">${text}</span></label>`;
  return html`<fieldset class="hidden-cells"><legend>${words.hidden.title}</legend><div class="schemes">
      ${choice(false, html`${words.hidden.own} <span class="chip accent">${words.recommended}</span>`, words.hidden.ownText)}
      ${choice(true, html`${words.hidden.matches} <span class="chip warn">${words.hidden.weaker}</span>`, words.hidden.matchesText)}</div>
    ${weaker && html`<${Notice} kind="warn"><p>${words.hidden.warning}</p></${Notice}>
      <div class="fields"><div class="field"><label for=${mostName}>${words.hidden.most}</label><select id=${mostName} value=${most ?? ""} onChange=${(event) => set({ scheme: event.target.value ? `cells(most=${event.target.value})` : "cells" })}>
        ${[...new Set(["1", "2", "3", "4", ...(most ? [most] : [])])].map((each) => html`<option value=${each}>${each}</option>`)}<option value="">${words.hidden.any}</option></select><p class="help">${most ? words.hidden.mostText : words.hidden.anyText}</p></div></div>`}</fieldset>`;
}

/** Why a cost or a way to leave people out does not go with a scheme; undefined if it does. */
const refusal = (part, scheme) => (part.refused || {})[readForm(scheme).name];

/** Eight values and how a scheme may join them. */
function SchemeDrawing({ name }) {
  const blocks = { "full-domain": [2, 2, 2, 2], subtree: [4, 1, 1, 2], ordered: [3, 1, 2, 2], "guided-ordered": [4, 1, 3], set: [2, 3, 3], "guided-set": [2, 2, 4], local: [2, 3, 1, 2], best: [2, 2, 2, 2] }[name] || [2, 2, 2, 2];
  if (name === "cells") {
    const hidden = ["1,2", "4,0", "6,2"];
    return html`<svg viewBox="0 0 96 36" class="scheme-drawing" aria-hidden="true">${[0, 1, 2].map((y) => Array.from({ length: 8 }, (_, x) => (hidden.includes(`${x},${y}`)
      ? html`<rect x=${x * 12 + 1.5} y=${y * 12 + 1.5} width="9" height="9" rx="2.5" class="joined" />` : html`<circle cx=${x * 12 + 6} cy=${y * 12 + 6} r="3" class="even" />`)))}</svg>`;
  }
  let x = 0;
  const row = (list, y) => {
    x = 0;
    return list.map((size) => {
      const box = html`<rect x=${x + 1} y=${y} width=${size * 12 - 2} height="11" rx="3" class="joined" />`;
      x += size * 12;
      return box;
    });
  };
  return html`<svg viewBox="0 0 96 36" class="scheme-drawing" aria-hidden="true">${Array.from({ length: 8 }, (_, index) => html`<circle cx=${index * 12 + 6} cy="5" r="3" class=${name.includes("set") && [1, 4, 6].includes(index) ? "odd" : "even"} />`)}${name === "local" ? [row([2, 3, 1, 2], 13), row([4, 2, 2], 25)] : name === "best" ? [row([2, 2, 2, 2], 13), row([4, 1, 1, 2], 25)] : row(blocks, 19)}</svg>`;
}

/** The choices in sentences, and whether they would run. */
function Plan() {
  const app = useApp();
  const { about, project, go } = app;
  const [plan, setPlan] = useState(null);
  const [starting, setStarting] = useState(false);
  const stamp = JSON.stringify([project.goals, project.columns.map((column) => [column.name, column.role, column.type, column.confirmed, column.derive]), project.hierarchies, project.reading, project.pseudonyms]);
  useEffect(() => {
    let gone = false;
    const timer = setTimeout(() => post(`${at.project(project.id)}/check`).then((found) => gone || setPlan(found), (error) => gone || setPlan({ ok: false, message: error.message })), 180);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [stamp]);
  const wordsOf = (form) => ((plan && plan.privacy) || []).find((each) => each.text === form)?.words || "";
  const start = async (kind) => {
    setStarting(true);
    try {
      const job = await startJob(app, { kind });
      go("run", { job: job.id });
    } catch {
      setStarting(false);
    }
  };
  const { goals } = project;
  const of = (role) => project.columns.filter((column) => column.role === role).map((column) => column.name);
  const coarser = of("quasi-identifier");
  const weighted = Object.entries(goals.weights).filter(([column]) => coarser.includes(column)).sort(([, one], [, other]) => other - one);
  const ranked = Object.entries(goals.priorities).filter(([column]) => coarser.includes(column)).sort(([, one], [, other]) => other - one);
  const limits = Object.entries(goals.keep_at_least).filter(([column]) => coarser.includes(column));
  const least = Object.entries(goals.min_levels).filter(([column]) => coarser.includes(column));
  const values = (column, level) => count(((project.hierarchies[column] || {}).levels || [])[level]);
  const scheme = about.vocabulary.schemes.find((each) => each.name === readForm(goals.scheme).name);
  const cost = about.vocabulary.costs.find((each) => each.name === readForm(goals.cost).name);
  const lines = [
    ["quasi-identifier", words.planColumns(texts.roles["quasi-identifier"], coarser)],
    ...["identifier", "person", "household", "sensitive", "class"].map((role) => [role, of(role).length ? words.planColumns(texts.roles[role], of(role)) : null]),
    ["insensitive", of("insensitive").length ? words.planKept(words.planColumns(texts.roles.insensitive, of("insensitive"))) : null],
    ["key", project.pseudonyms && [...of("person"), ...of("household")].length ? words.planPseudonyms([...of("person"), ...of("household")]) : null],
    ...project.columns.filter((column) => column.derive && column.role !== "identifier").map((column) => ["key", `${column.name}: ${deriveText(column.derive)}`]),
    ...weighted.map(([column, weight]) => ["spark", words.planWeight(column, words.weights[WEIGHTS[nearest(WEIGHTS, weight)]])]),
    ...ranked.map(([column, number]) => ["spark", words.planPriority(column, number)]),
    ...limits.map(([column, level]) => ["lock", level === 0 ? words.planExact(column) : words.planLimit(column, level, values(column, level))]),
    ...least.map(([column, level]) => ["lock", words.planLeast(column, level, values(column, level))]),
    ["merge", words.planScheme(scheme ? scheme.title : goals.scheme)],
    ["chart", words.planCost(cost ? cost.title : goals.cost)],
    ["clock", words.planTime(goals.time_limit, Boolean(scheme && scheme.tries))],
  ].filter(([, text]) => text);
  return html`<aside class="card plan sticky" aria-labelledby="plan-title"><h2 id="plan-title">${words.plan}</h2>
    <ul class="promised">${project.goals.privacy.map((form) => html`<li><${Icon} name="shield" size=${18} /><span>${wordsOf(form)} <code>${form}</code></span></li>`)}<li><${Icon} name="person" size=${18} /><span>${words.suppressed[readForm(project.goals.suppression).name] || ""} <code>${project.goals.suppression}</code></span></li></ul>
    <div role="status" aria-live="polite">
      ${!plan && html`<p class="quiet"><span class="spinner"></span> ${words.checking}</p>`}
      ${plan && plan.ok && html`<${Notice} kind="good"><p><b>${words.ready}</b></p><p class="small">${scheme && scheme.tries ? `${words.firstIs(scheme.tries.length)} ` : ""}${words.solverIs(plan.solver)} ${plan.why || ""}</p></${Notice}>`}
      ${plan && !plan.ok && html`<${Notice} kind="bad">${(plan.columns || []).length ? html`<${Decide} columns=${plan.columns} />` : html`<p>${plan.message}</p>`}</${Notice}>`}
      ${plan && plan.ok && (plan.notes || []).map((note) => html`<${Notice} kind="warn"><p class="small">${note}</p></${Notice}>`)}
      ${plan && plan.ok && plan.message && html`<p class="small quiet">${plan.message}</p>`}
    </div>
    <div class="stack tight"><${Button} kind="main large" icon="play" disabled=${starting || (plan && !plan.ok)} onClick=${() => start("release")}>${words.start}</${Button}>
      <${Button} icon="chart" disabled=${starting || (plan && !plan.ok)} onClick=${() => start("front")}>${words.startFront}</${Button}><p class="small quiet">${words.frontText}</p></div>
    <div><h3>${words.planAll}</h3><ul class="plan-more small">${lines.map(([icon, text]) => html`<li key=${text}><${Icon} name=${icon} size=${16} /><span>${text}</span></li>`)}</ul></div>
  </aside>`;
}
