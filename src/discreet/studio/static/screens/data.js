// Data: the columns of the table and their roles.
import { html, useState } from "../vendor/preact.js";
import { at } from "../api.js";
import { useApp, useLoaded } from "../context.js";
import { Button, Card, Dialog, Meter, Notice, Pager, Segments, Stat, Waiting } from "../parts.js";
import { Bars } from "../charts.js";
import { Decide } from "./decide.js";
import { Icon } from "../icons.js";
import { count, share } from "../format.js";
import { texts } from "../texts.js";

const SIZE = 12;

export function Data() {
  const { about, project, patch, route, setQuery } = useApp();
  const missing = project.columns.reduce((sum, column) => sum + (column.missing || 0), 0);
  const roles = about.vocabulary.roles;
  const warned = project.columns.filter((column) => column.direct && column.role !== "identifier");
  const changed = project.columns.filter((column) => column.suggested && column.suggested !== column.role);
  const suggest = () => patch({ roles: Object.fromEntries(changed.map((column) => [column.name, column.suggested])) });
  const undecided = project.columns.filter((column) => column.undecided).map((column) => column.name);
  const number = (role) => project.columns.filter((column) => column.role === role).length;

  return html`<div class="title"><div><h1>${texts.data.title}</h1><p class="lead">${texts.data.lead}</p></div></div>
  <div class="stack">
    <div class="stats">
      <${Stat} value=${count(project.rows)} label=${texts.data.rows} />
      <${Stat} value=${count(project.columns.length)} label=${texts.data.columns} />
      <${Stat} value=${count(number("quasi-identifier"))} label=${texts.data.quasi} />
      <${Stat} value=${count(number("sensitive"))} label=${texts.data.sensitive} />
      <${Stat} value=${share(missing / Math.max(1, project.rows * project.columns.length))} label=${texts.data.missing} of=${texts.data.cells(count(missing))} />
    </div>
    ${undecided.length > 0 && html`<${Notice} kind="bad" role="status"><${Decide} columns=${undecided} /></${Notice}>`}
    ${warned.length > 0 && html`<${Notice} kind="warn" role="status"><p><b>${texts.data.warned(warned.map((column) => column.name))}</b> ${texts.data.warnedWhy}</p></${Notice}>`}
    <${Card} kind="flush" title=${texts.data.part} text=${texts.data.partText} actions=${changed.length > 0 && html`<${Button} kind="compact" icon="spark" onClick=${suggest}>${texts.data.suggest}</${Button}>`}>
      <ul class="variables">
        ${project.columns.map((column) => html`<${Column} key=${column.name} column=${column} roles=${roles} rows=${project.rows} types=${about.vocabulary.types}
          onRole=${(role) => patch({ roles: { [column.name]: role } })} onType=${(type) => patch({ types: { [column.name]: type } })} onOpen=${() => setQuery({ column: column.name })} onKeep=${(keep) => patch({ keep: { [column.name]: keep } })} />`)}
      </ul>
    </${Card}>
    <${Preview} />
  </div>
  ${route.query.column && project.columns.some((column) => column.name === route.query.column) && html`<${Detail} name=${route.query.column} onClose=${() => setQuery({ column: null })} />`}`;
}

function Column({ column, roles, rows, types, onRole, onType, onOpen, onKeep }) {
  const options = roles.map((role) => ({ ...role, title: texts.roles[role.name] || role.title, icon: role.name }));
  const list = types.map((type) => type.name);
  const warned = column.warning && column.role !== "identifier" && column.role !== column.suggested;
  const kinds = list.includes(column.type) ? list : [column.type, ...list];
  return html`<li class=${`variable ${column.role}`} data-column=${column.name}>
    <button type="button" class="what" onClick=${onOpen} aria-label=${texts.data.open(column.name)} aria-describedby=${`facts-${encodeURIComponent(column.name)}`}><b>${column.name}</b><span class="quiet small" id=${`facts-${encodeURIComponent(column.name)}`} aria-hidden="true">${texts.data.facts(count(column.distinct), column.missing ? share(column.missing / rows) : null)}</span></button>
    <label class="type"><span class="unseen">${texts.data.typeOf(column.name)}</span><select class="compact" value=${column.type} onChange=${(event) => onType(event.target.value)}>${kinds.map((type) => html`<option value=${type}>${texts.types[type] || type}</option>`)}</select></label>
    <div class="uniqueness" title=${texts.data.uniqueText}><${Meter} value=${column.unique} kind=${column.unique > 0.5 ? "bound" : "after"} label=${texts.data.unique(share(column.unique))} /><span class="small quiet figures">${texts.data.unique(share(column.unique))}</span></div>
    <${Segments} label=${texts.data.roleOf(column.name)} options=${options} value=${column.role} onChange=${onRole} />
    ${(column.warning || (column.why && column.suggested === column.role)) && html`<p class=${`why small ${warned ? "warning" : "quiet"}`}>
      <${Icon} name=${warned ? "warn" : "spark"} size=${16} />${warned ? column.warning : texts.data.why(column.why || column.warning)}</p>`}
    ${column.undecided && html`<p class="why small"><${Button} kind="compact" icon="check" onClick=${() => onKeep(true)}>${texts.decide.keep([column.name])}</${Button}></p>`}
    ${column.confirmed && html`<p class="why small"><${Icon} name="check" size=${16} />${texts.decide.kept} <button type="button" class="link" onClick=${() => onKeep(false)}>${texts.decide.back}</button></p>`}
    ${column.role === "sensitive" && html`<p class=${`why small ${column.promised.length ? "quiet" : "warning"}`}><${Icon} name=${column.promised.length ? "shield" : "warn"} size=${16} />${column.promised.length ? html`${texts.data.promised} <code>${column.promised.join(", ")}</code>` : texts.data.unpromised}</p>`}
  </li>`;
}

function Detail({ name, onClose }) {
  const { project } = useApp();
  const [found, error] = useLoaded(at.column(project.id, name));
  return html`<${Dialog} title=${name} onClose=${onClose} wide actions=${html`<${Button} kind="main" onClick=${onClose}>${texts.close}</${Button}>`}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!found && !error && html`<${Waiting} tall />`}
    ${found && html`<div class="stats"><${Stat} value=${texts.types[found.type] || found.type} label=${texts.data.type} /><${Stat} value=${count(found.distinct)} label=${texts.data.distinct} />
        <${Stat} value=${count(found.missing)} label=${texts.data.empty} /></div>
      <${Bars} bars=${found.histogram || []} label=${texts.data.histogram(name)} height=${240} />
      ${(found.top || []).length > 0 && html`<h3>${texts.data.top}</h3><table class="grid"><tbody>${found.top.slice(0, 8).map((one) => html`<tr><td class="cell">${one.label}</td><td><${Meter} value=${one.count / Math.max(1, found.top[0].count)} label=${share(one.count / project.rows)} /></td><td class="num">${count(one.count)}</td></tr>`)}</tbody></table>`}`}
  </${Dialog}>`;
}

function Preview() {
  const { project } = useApp();
  const [offset, setOffset] = useState(0);
  const [page, error] = useLoaded(at.rows(project.id, { offset, limit: SIZE }));
  const role = Object.fromEntries(project.columns.map((column) => [column.name, column.role]));
  return html`<${Card} kind="flush" title=${texts.data.preview} text=${texts.data.previewText}>
    ${error && html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`}
    ${!page && !error && html`<${Waiting} tall />`}
    ${page && html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.data.preview}><table class="grid preview"><thead><tr>${page.columns.map((name) => html`<th scope="col" class=${role[name]}><span><${Icon} name=${role[name]} size=${15} /> ${name}</span></th>`)}</tr></thead>
      <tbody>${page.rows.map((row) => html`<tr>${row.map((value, index) => html`<td class=${`cell ${role[page.columns[index]]}`}>${value === null ? html`<span class="none">${texts.data.none}</span>` : value}</td>`)}</tr>`)}</tbody></table></div>
      <${Pager} offset=${offset} size=${SIZE} total=${page.total} onMove=${setOffset} />`}
  </${Card}>`;
}
