// Data: the columns of the table and their roles.
import { html, useRef, useState } from "../vendor/preact.js";
import { at } from "../api.js";
import { useApp, useLoaded } from "../context.js";
import { Button, Card, Dialog, Meter, Name, Notice, Pager, Segments, Stat, Switch, Waiting, useName } from "../parts.js";
import { Chart } from "../charts.js";
import { Derive, deriveText } from "../derive.js";
import { Marks, ReadAgain, readingText } from "../reading.js";
import { Decide } from "./decide.js";
import { Icon } from "../icons.js";
import { count, share } from "../format.js";
import { texts } from "../texts.js";

const SIZE = 12;

export function Data() {
  const { project, patch, route, setQuery } = useApp();
  const missing = project.columns.reduce((sum, column) => sum + (column.missing || 0), 0);
  const warned = project.columns.filter((column) => column.direct && column.role !== "identifier");
  const changed = project.columns.filter((column) => column.suggested && column.suggested !== column.role);
  const suggest = () => patch({ roles: Object.fromEntries(changed.map((column) => [column.name, column.suggested])) });
  const undecided = project.columns.filter((column) => column.undecided).map((column) => column.name);
  const number = (role) => project.columns.filter((column) => column.role === role).length;
  const [reading, setReading] = useState(false);
  const otherwise = readingText(project.reading);

  return html`<div class="title"><div><h1>${texts.data.title}</h1><p class="lead">${texts.data.lead}</p></div>
    <${Button} icon="table" onClick=${() => setReading(true)}>${texts.reading.title}</${Button}></div>
  <div class="stack">
    <div class="stats">
      <${Stat} value=${count(project.rows)} label=${texts.data.rows} />
      <${Stat} value=${count(project.columns.length)} label=${texts.data.columns} />
      <${Stat} value=${count(number("quasi-identifier"))} label=${texts.data.quasi} />
      <${Stat} value=${count(number("sensitive"))} label=${texts.data.sensitive} />
      <${Stat} value=${share(missing / Math.max(1, project.rows * project.columns.length))} label=${texts.data.missing} of=${texts.data.cells(count(missing))} />
    </div>
    ${otherwise && html`<p class="small quiet read-as">${texts.reading.now} ${otherwise}.</p>`}
    <${Marks} />
    ${undecided.length > 0 && html`<${Notice} kind="bad" role="status"><${Decide} columns=${undecided} /></${Notice}>`}
    ${warned.length > 0 && html`<${Notice} kind="warn" role="status"><p><b>${texts.data.warned(warned.map((column) => column.name))}</b> ${texts.data.warnedWhy}</p></${Notice}>`}
    <${Card} kind="flush" title=${texts.data.part} text=${texts.data.partText} actions=${changed.length > 0 && html`<${Button} kind="compact" icon="spark" onClick=${suggest}>${texts.data.suggest}</${Button}>`}>
      <${Columns} />
    </${Card}>
    <${Preview} />
  </div>
  ${route.query.column && project.columns.some((column) => column.name === route.query.column) && html`<${Detail} name=${route.query.column} onClose=${() => setQuery({ column: null })} />`}
  ${reading && html`<${ReadAgain} onClose=${() => setReading(false)} />`}`;
}

/** Which columns a filter shows, besides those of a role. */
const FILTERS = {
  all: () => true,
  undecided: (column) => column.undecided,
  changed: (column) => column.suggested !== column.role,
  unique: (column) => column.unique > 0.5,
};
const FEW = 12;

/** The columns, with a search, filters and one role for many once there are more than fit a screen. */
function Columns() {
  const { about, project, patch, setQuery } = useApp();
  const [text, setText] = useState("");
  const [filter, setFilter] = useState("all");
  const [picked, setPicked] = useState(new Set());
  const [searchName, filterName] = [useName("search"), useName("filter")];
  const anchor = useRef(null);
  const roles = about.vocabulary.roles.map((role) => ({ ...role, title: texts.roles[role.name] || role.title, icon: role.name }));
  const shownRoles = roles.filter((role) => role.name !== "household"); // it is chosen beside “Whose row”
  const keeps = FILTERS[filter] || ((column) => column.role === filter);
  const wanted = text.trim().toLowerCase();
  const shown = project.columns.filter((column) => keeps(column) && column.name.toLowerCase().includes(wanted));
  const chosen = project.columns.filter((column) => picked.has(column.name)).map((column) => column.name);
  const all = shown.length > 0 && shown.every((column) => picked.has(column.name));
  const number = (name) => project.columns.filter(FILTERS[name] || ((column) => column.role === name)).length;
  const turnAll = () => setPicked(new Set(all ? chosen.filter((name) => !shown.some((column) => column.name === name)) : [...chosen, ...shown.map((column) => column.name)]));
  const turn = (name, event) => {
    const next = new Set(picked);
    const on = !next.has(name);
    const names = shown.map((column) => column.name);
    const ends = [names.indexOf(anchor.current), names.indexOf(name)].sort((one, other) => one - other);
    const range = event.shiftKey && ends[0] >= 0 ? names.slice(ends[0], ends[1] + 1) : [name];
    range.forEach((each) => (on ? next.add(each) : next.delete(each)));
    anchor.current = name;
    setPicked(next);
  };
  const give = (role) => patch({ roles: Object.fromEntries(chosen.map((name) => [name, role])) });
  const many = project.columns.length > FEW;
  const words = texts.data;
  return html`${many && html`<div class="finder"><div class="field grow"><label for=${searchName}>${words.search}</label><input type="search" id=${searchName} value=${text} placeholder=${words.searchHint} onInput=${(event) => setText(event.target.value)} /></div>
      <div class="field"><label for=${filterName}>${words.filter}</label><select id=${filterName} value=${filter} onChange=${(event) => setFilter(event.target.value)}>
        ${Object.keys(FILTERS).map((name) => html`<option value=${name} disabled=${name !== "all" && !number(name)}>${words.filters[name]} (${count(number(name))})</option>`)}
        <optgroup label=${words.byRole}>${roles.map((role) => html`<option value=${role.name} disabled=${!number(role.name)}>${role.title} (${count(number(role.name))})</option>`)}</optgroup></select></div></div>
    <div class="bulk" role="toolbar" aria-label=${words.bulk}><label class="tick"><input type="checkbox" checked=${all} onChange=${turnAll} />${words.pickAll(count(shown.length))}</label>
      <span class="small quiet grow" role="status">${chosen.length ? words.picked(count(chosen.length)) : words.pickHint}</span>
      ${chosen.length > 0 && html`<span class="row tight bulk-roles">${shownRoles.filter((role) => !["class", "person"].includes(role.name) || chosen.length === 1).map((role) => html`<${Button} kind="compact" icon=${role.name} key=${role.name} onClick=${() => give(role.name)}>${role.title}</${Button}>`)}</span>
        <${Button} kind="bare compact" onClick=${() => setPicked(new Set())}>${words.pickNone}</${Button}>`}</div>`}
  <ul class=${`variables ${many ? "many" : ""}`}>
    ${shown.map((column) => html`<${Column} key=${column.name} column=${column} options=${shownRoles} rows=${project.rows} types=${about.vocabulary.types} picked=${many ? picked.has(column.name) : null} onPick=${turn}
      onRole=${(role) => patch({ roles: { [column.name]: role } })} onType=${(type) => patch({ types: { [column.name]: type } })} onOpen=${() => setQuery({ column: column.name })} onKeep=${(keep) => patch({ keep: { [column.name]: keep } })} />`)}
  </ul>
  ${!shown.length && html`<p class="quiet nothing" role="status">${words.noneFound}</p>`}`;
}

function Column({ column, options, rows, types, picked, onPick, onRole, onType, onOpen, onKeep }) {
  const list = types.map((type) => type.name);
  const warned = column.warning && column.role !== "identifier" && column.role !== column.suggested;
  const kinds = list.includes(column.type) ? list : [column.type, ...list];
  return html`<li class=${`variable ${column.role} ${picked ? "picked" : ""}`} data-column=${column.name}>
    ${picked !== null && html`<input type="checkbox" class="pick" checked=${picked} aria-label=${texts.data.pick(column.name)} onClick=${(event) => onPick(column.name, event)} />`}
    <button type="button" class="what" onClick=${onOpen} aria-label=${texts.data.open(column.name)} aria-describedby=${`facts-${encodeURIComponent(column.name)}`}><b><${Name} of=${column.name} /></b><span class="quiet small" id=${`facts-${encodeURIComponent(column.name)}`} aria-hidden="true">${texts.data.facts(count(column.distinct), column.missing ? share(column.missing / rows) : null)}</span></button>
    <label class="type"><span class="unseen">${texts.data.typeOf(column.name)}</span><select class="compact" value=${column.type} onChange=${(event) => onType(event.target.value)}>${kinds.map((type) => html`<option value=${type}>${texts.types[type] || type}</option>`)}</select></label>
    <div class="uniqueness" title=${texts.data.uniqueText}><${Meter} value=${column.unique} kind=${column.unique > 0.5 ? "bound" : "after"} label=${texts.data.unique(share(column.unique))} /><span class="small quiet figures">${texts.data.unique(share(column.unique))}</span></div>
    <${Segments} label=${texts.data.roleOf(column.name)} options=${options} value=${column.role === "household" ? "person" : column.role} onChange=${onRole} />
    ${["person", "household"].includes(column.role) && html`<${WhoseRow} column=${column} />`}
    ${(column.warning || (column.why && column.suggested === column.role)) && html`<p class=${`why small ${warned ? "warning" : "quiet"}`}>
      <${Icon} name=${warned ? "warn" : "spark"} size=${16} />${warned ? column.warning : texts.data.why(column.why || column.warning)}</p>`}
    ${column.undecided && html`<p class="why small"><${Button} kind="compact" icon="check" onClick=${() => onKeep(true)}>${texts.decide.keep([column.name])}</${Button}></p>`}
    ${column.confirmed && html`<p class="why small"><${Icon} name="check" size=${16} />${texts.decide.kept} <button type="button" class="link" onClick=${() => onKeep(false)}>${texts.decide.back}</button></p>`}
    ${column.derive && column.role !== "identifier" && html`<p class="why small"><${Icon} name="key" size=${16} /><span>${deriveText(column.derive)}</span> <button type="button" class="link" onClick=${onOpen}>${texts.derive.change}</button></p>`}
    ${!column.derive && column.role === "insensitive" && html`<p class="why small quiet"><button type="button" class="link" onClick=${onOpen}>${texts.derive.offer(column.type)}</button></p>`}
    ${column.role === "sensitive" && html`<p class=${`why small ${column.promised.length ? "quiet" : "warning"}`}><${Icon} name=${column.promised.length ? "shield" : "warn"} size=${16} />${column.promised.length ? html`${texts.data.promised} <code>${column.promised.join(", ")}</code>` : texts.data.unpromised}</p>`}
  </li>`;
}

/** What a column that says whose row it is names, the households of people, and whether pseudonyms are released. */
function WhoseRow({ column }) {
  const { project, patch } = useApp();
  const [namesName, householdName] = [useName("names"), useName("household")];
  const words = texts.whose;
  const household = project.columns.find((each) => each.role === "household");
  const first = column.role === "person" || !project.columns.some((each) => each.role === "person"); // the switch is for both columns
  const join = (name) => patch({ roles: name ? { [name]: "household" } : { [household.name]: "identifier" } });
  return html`<div class="whose"><label class="row tight" for=${namesName}>${words.names}<select class="compact" id=${namesName} value=${column.role} onChange=${(event) => patch({ roles: { [column.name]: event.target.value } })}>
      <option value="person">${words.person}</option><option value="household">${words.household}</option></select></label>
    ${column.role === "person" && html`<label class="row tight" for=${householdName}>${words.households}<select class="compact" id=${householdName} value=${household ? household.name : ""} onChange=${(event) => join(event.target.value)}>
      <option value="">${words.none}</option>${project.columns.filter((each) => each.name !== column.name).map((each) => html`<option value=${each.name}>${each.name}</option>`)}</select></label>`}
    ${first && html`<${Switch} label=${words.pseudonyms} checked=${project.pseudonyms} onChange=${(on) => patch({ pseudonyms: on })} />`}
    <p class="small quiet">${[first && (project.pseudonyms ? words.pseudonymsText : words.removed(column.role)), column.role === "household" && words.counted].filter(Boolean).join(" ")}</p></div>`;
}

function Detail({ name, onClose }) {
  const { project } = useApp();
  const column = project.columns.find((each) => each.name === name);
  const [found, error] = useLoaded(at.column(project.id, name));
  return html`<${Dialog} title=${name} onClose=${onClose} wide actions=${html`<${Button} kind="main" onClick=${onClose}>${texts.close}</${Button}>`}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!found && !error && html`<${Waiting} tall />`}
    ${found && html`<div class="stats"><${Stat} value=${texts.types[found.type] || found.type} label=${texts.data.type} /><${Stat} value=${count(found.distinct)} label=${texts.data.distinct} />
        <${Stat} value=${count(found.missing)} label=${texts.data.empty} /></div>
      ${["identifier", "person", "household"].includes(column.role) ? html`<p class="small quiet">${texts.derive.removed}</p>` : html`<${Derive} column=${column} />`}
      <${Chart} path=${(width) => at.columnChart(project.id, name, width)} />
      ${(found.top || []).length > 0 && html`<h3>${texts.data.top}</h3><table class="grid"><tbody>${found.top.slice(0, 8).map((one) => html`<tr><td class="cell">${one.label}</td><td><${Meter} value=${one.count / Math.max(1, found.top[0].count)} label=${share(one.count / project.rows)} /></td><td class="num">${count(one.count)}</td></tr>`)}</tbody></table>`}`}
  </${Dialog}>`;
}

function Preview() {
  const { project } = useApp();
  const [offset, setOffset] = useState(0);
  const [page, error] = useLoaded(at.rows(project.id, { offset, limit: SIZE }), JSON.stringify(project.reading));
  const role = Object.fromEntries(project.columns.map((column) => [column.name, column.role]));
  return html`<${Card} kind="flush" title=${texts.data.preview} text=${texts.data.previewText}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!page && !error && html`<${Waiting} tall />`}
    ${page && html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.data.preview}><table class="grid preview"><thead><tr>${page.columns.map((name) => html`<th scope="col" class=${role[name]}><span><${Icon} name=${role[name]} size=${15} /> ${name}</span></th>`)}</tr></thead>
      <tbody>${page.rows.map((row) => html`<tr>${row.map((value, index) => html`<td class=${`cell ${role[page.columns[index]]}`}>${value === null ? html`<span class="none">${texts.data.none}</span>` : value}</td>`)}</tr>`)}</tbody></table></div>
      <${Pager} offset=${offset} size=${SIZE} total=${page.total} onMove=${setOffset} />`}
  </${Card}>`;
}
