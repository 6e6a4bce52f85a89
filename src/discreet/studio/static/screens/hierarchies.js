// Hierarchies: the tree of each column, built automatically and editable by hand.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { at, get, post } from "../api.js";
import { useApp, useLoaded } from "../context.js";
import { AskText, Button, Card, Dialog, Empty, Name, Notice, Pager, Segments, Waiting, useName } from "../parts.js";
import { Builders } from "../builders.js";
import { Icon } from "../icons.js";
import { Tree } from "../tree.js";
import { count } from "../format.js";
import { texts } from "../texts.js";

const SIZE = 20;
const words = texts.hierarchies;

export function Hierarchies() {
  const { project, route, setQuery } = useApp();
  const names = project.columns.filter((column) => column.role === "quasi-identifier").map((column) => column.name);
  if (!names.length) return html`<${Empty} top icon="tree" title=${words.none}><p>${texts.steps.needsQuasi}</p></${Empty}>`;
  const column = names.includes(route.query.column) ? route.query.column : names[0];
  const hidden = project.goals.scheme.startsWith("cells");
  return html`<div class="title"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div></div>
  ${hidden && html`<div class="above"><${Notice}><p>${words.notUsed}</p></${Notice}></div>`}
  <div class="columns side-main">
    <nav class="card picks sticky" aria-label=${words.columns}><ul>${names.map((name) => {
      const facts = project.hierarchies[name] || {};
      return html`<li key=${name}><button type="button" aria-current=${name === column ? "true" : undefined} onClick=${() => setQuery({ column: name, view: route.query.view })}>
        <b><${Name} of=${name} /></b><span class="small">${facts.ok === false ? html`<span class="chip bad"><${Icon} name="warn" />${words.wrong}</span>` : html`${words.depth(facts.depth)} · ${facts.edited ? words.edited : facts.automatic ? words.automatic : words.chosen}`}</span></button></li>`;
    })}</ul></nav>
    <${Editor} key=${column} column=${column} />
  </div>`;
}

function Editor({ column }) {
  const { project, change, refresh, fail, notify, undo, route, setQuery } = useApp();
  const [search, setSearch] = useState("");
  const [find, setFind] = useState("");
  const [round, setRound] = useState(0);
  const [reveal, setReveal] = useState(null);
  const loaded = useRef({});
  const known = useRef(new Map());
  const query = () => ({ ...(find ? { find } : {}), ...(Object.keys(loaded.current).length && !find ? { loaded: JSON.stringify(loaded.current) } : {}) });
  const [found, error, again] = useLoaded(at.hierarchy(project.id, column, query()), stamp(project, column));
  const [shown, setShown] = useState(null);
  const [chosen, setChosen] = useState(new Set());
  const [asking, setAsking] = useState(null);
  const searchName = useName("tree-search");
  const picker = useRef(null);
  useEffect(() => {
    const timer = setTimeout(() => setFind(search.trim()), 250);
    return () => clearTimeout(timer);
  }, [search]);
  const view = route.query.view === "table" ? "table" : "tree";
  // Every node that was ever shown is remembered by its id, so that it stays selected while a search hides it.
  const show = (answer) => {
    const next = answer && { ...answer, tree: answer.tree && joined(answer.tree) };
    if (next && next.tree) flat(next.tree).forEach((node, id) => known.current.set(id, node));
    setShown(next);
  };
  // After undo, or a change in another tab, selected nodes may be gone or elsewhere: those still there stay selected, also
  // when somebody selects them while the tree is being reloaded.
  const now = stamp(project, column);
  const before = useRef(now);
  const changed = useRef(false);
  useEffect(() => {
    changed.current ||= before.current !== now;
    before.current = now;
  }, [now]);
  useEffect(() => {
    if (changed.current && found) known.current = new Map();
    show(found);
    if (changed.current && found) setChosen((ids) => new Set([...ids].filter((id) => known.current.has(id))));
    if (found) changed.current = false;
  }, [found]);

  const edit = (body, label) =>
    change(() => post(at.hierarchy(project.id, column, query()), body)).then(
      (answer) => {
        known.current = new Map();
        show(answer);
        setChosen(new Set());
        setAsking(null);
        if (answer.touched) setReveal({ id: answer.touched });
        if (!body.edit) setRound((number) => number + 1);
        refresh();
        if (label) notify(label, answer.change === null ? {} : { action: { label: texts.undo(), run: () => undo("undo", answer.change) } });
        return true;
      },
      () => false,
    );
  const tree = shown && shown.tree;
  const picked = [...chosen].map((id) => known.current.get(id)).filter(Boolean);
  const level = common(picked);
  const names = (nodes) => nodes.map((node) => node.name);
  const actions = {
    rename: (node, to) => edit({ edit: { op: "rename", level: node.level, name: node.name, to } }, words.renamed(to)),
    merge: (nodes, to) => edit({ edit: { op: "merge", level: Math.max(1, common(nodes)), names: names(nodes), to } }, words.merged(to)),
    group: (nodes, to) => edit({ edit: { op: "group", members: members(nodes), to } }, words.grouped(to)),
    move: (nodes, into) => edit({ edit: { op: "place", members: members(nodes), level: into.id === tree.id ? shown.height : into.low, name: into.name } }, into.id === tree.id ? words.movedOut : words.moved(into.label)),
    dissolve: (node) => {
      const last = (child) => (child.name === node.name ? 1 : 0);
      const parts = Object.fromEntries([...node.children].sort((one, other) => last(one) - last(other)).map((child) => [child.name, [child.name]]));
      return edit({ edit: { op: "split", level: node.low, name: node.name, parts } }, words.dissolved(node.name));
    },
    add: (above) => edit({ edit: { op: "add-level", above } }, words.levelAdded),
    remove: (taken) => edit({ edit: { op: "remove-level", level: taken } }, words.levelRemoved),
  };
  const onKey = (key, node) => {
    if (key === "F2" || key === "Enter") return node.level > 0 && node.level < shown.height && !node.missing && Boolean(setAsking({ kind: "rename", node }) || true);
    if (key === "m" || key === "M") {
      if (!chosen.has(node.id)) setChosen(new Set([node.id]));
      return Boolean(setAsking({ kind: "move" }) || true);
    }
    return false;
  };
  // Dropped on a group, entries move into it; on the root, out of all groups; on a value, they form a new group with it.
  const onMove = (ids, into) => {
    const nodes = ids.map((id) => known.current.get(id)).filter(Boolean);
    if (nodes.some((node) => node.missing)) return fail(new Error(words.notMissing));
    if (into.low === 0) return setAsking({ kind: "group", nodes: [into, ...nodes] });
    if (into.id !== tree.id && nodes.some((node) => node.low >= into.low)) return fail(new Error(words.oneAbove));
    return actions.move(nodes, into);
  };
  const onMore = async (node) => {
    const rest = await get(at.hierarchy(project.id, column, { level: node.low, block: node.block, offset: node.loaded })).catch(fail);
    if (!rest) return;
    const { children, more } = rest.tree;
    node.loaded += children.length;
    loaded.current[node.id] = node.loaded;
    node.children = [...node.children, ...children.map(joined)];
    node.more = more;
    flat(node).forEach((each, id) => known.current.set(id, each));
    setShown({ ...shown });
  };
  const bring = async (file) => {
    if (!file) return;
    if (file.size > 50e6) return fail(new Error(words.tooLarge));
    await edit({ csv: await file.text() }, words.imported);
    picker.current.value = "";
  };

  if (error) return html`<${Card} title=${column}><${Notice} kind="bad"><p>${error.message}</p><p><${Button} kind="compact" onClick=${again}>${texts.again}</${Button}></p></${Notice}></${Card}>`;
  if (!shown) return html`<${Waiting} tall />`;
  const single = picked.length === 1 ? picked[0] : null;
  const inner = single && single.level > 0 && single.level < shown.height && !single.missing;
  const some = picked.length > 0 && !picked.some((node) => node.missing);
  const asked = (asking && asking.nodes) || picked;
  const suggested = whole(asked.map((node) => node.label), 60);
  return html`<div class="stack">
    <${Card} title=${column} text=${words.builderText} actions=${html`<span class=${`chip ${shown.check.ok ? "good" : "bad"}`} role="status"><${Icon} name=${shown.check.ok ? "check" : "warn"} />${shown.check.ok ? words.fits : words.wrong}</span>`}>
      ${shown.check.message && html`<${Notice} kind=${shown.check.ok ? "" : "bad"} role="status"><p>${shown.check.message}</p></${Notice}>`}
      <${Builders} column=${project.columns.find((each) => each.name === column)} form=${shown.form} edited=${shown.edited} onBuild=${(builder) => edit({ builder }, builder === "auto" ? words.madeAuto : words.made)} />
    </${Card}>
    <${Card} title=${view === "tree" ? words.tree : words.table} actions=${html`
        <${Segments} label=${words.view} value=${view} onChange=${(name) => setQuery({ view: name === "tree" ? null : name })} options=${[{ name: "tree", title: words.asTree, icon: "tree" }, { name: "table", title: words.asTable, icon: "table" }]} />
        <${Button} kind="compact" icon="upload" onClick=${() => picker.current.click()}>${words.import}</${Button}>
        <input type="file" class="unseen" aria-hidden="true" tabindex="-1" accept=".csv,text/csv" aria-label=${words.import} ref=${picker} onChange=${(event) => bring(event.target.files[0])} />
        <a class="button compact" href=${at.hierarchyFile(project.id, column)} download><${Icon} name="download" />${words.export}</a>`}>
      ${tree && html`<${Levels} shown=${shown} onAdd=${actions.add} onRemove=${actions.remove} />`}
      ${view === "tree" && tree && html`
        <div class="toolbar" role="toolbar" aria-label=${words.actions}>
          <span class="small quiet" role="status">${picked.length ? words.picked(picked.length) : words.pickSome}</span>
          <${Button} kind="compact" icon="plus" disabled=${!some} onClick=${() => setAsking({ kind: "group" })}>${words.group}</${Button}>
          <${Button} kind="compact" icon="merge" disabled=${!some || level === null || picked.length < 2 || Math.min(...picked.map((node) => node.level)) < 1} onClick=${() => setAsking({ kind: "merge" })}>${words.merge}</${Button}>
          <${Button} kind="compact" icon="move" disabled=${!some || shown.height < 2} onClick=${() => setAsking({ kind: "move" })}>${words.move}</${Button}>
          <${Button} kind="compact" icon="pen" disabled=${!inner} onClick=${() => setAsking({ kind: "rename", node: single })}>${words.rename}</${Button}>
          <${Button} kind="compact" icon="split" disabled=${!inner || !single.children.length || Boolean(single.more) || Boolean(find)} onClick=${() => actions.dissolve(single)}>${words.split}</${Button}>
        </div>
        <div class="row tree-search"><label class="field grow" for=${searchName}><span class="unseen">${words.search}</span><input type="search" id=${searchName} value=${search} placeholder=${words.search} onInput=${(event) => setSearch(event.target.value)} onKeyDown=${(event) => event.key === "Enter" && setFind(search.trim())} /></label>
          <span class="small quiet" role="status">${find && tree.matches !== undefined ? words.matches(count(tree.matches), tree.matches > tree.most ? count(tree.most) : null) : ""}</span></div>
        <div class="treebox"><${Tree} root=${tree} all=${Boolean(find && tree.matches !== undefined)} reveal=${reveal} label=${words.treeOf(column)} chosen=${chosen} onChoose=${(ids) => setChosen(new Set([...ids].filter((id) => id !== tree.id)))} onMove=${onMove} onMore=${onMore} onKey=${onKey} total=${project.rows} openKey=${round} /></div>
        <p class="quiet small">${words.hint}</p>`}
      ${view === "table" && tree && html`<${Table} column=${column} stampNow=${stamp(project, column)} onRename=${(cell, to) => actions.rename(cell, to)} />`}
    </${Card}>
    ${asking && asking.kind === "rename" && html`<${AskText} title=${words.renameTitle} label=${words.newName} value=${asking.node.name} done=${words.rename} onClose=${() => setAsking(null)} onDone=${(to) => actions.rename(asking.node, to)} />`}
    ${asking && asking.kind === "merge" && html`<${AskText} title=${words.mergeTitle(picked.length)} label=${words.newName} value=${suggested} done=${words.merge} onClose=${() => setAsking(null)} onDone=${(to) => actions.merge(picked, to)} />`}
    ${asking && asking.kind === "group" && html`<${AskText} title=${words.groupTitle(asked.length)} label=${words.newName} help=${words.groupHelp} value=${suggested} done=${words.group} onClose=${() => setAsking(null)} onDone=${(to) => actions.group(asked, to)} />`}
    ${asking && asking.kind === "move" && some && html`<${MoveTo} tree=${tree} nodes=${picked} onClose=${() => setAsking(null)} onDone=${(into) => actions.move(picked, into)} />`}
  </div>`;
}

/** Changes whenever the hierarchy changes, so that it is reloaded after undo. */
const stamp = (project, column) => `${project.undo_label}/${project.redo_label}/${JSON.stringify(project.hierarchies[column])}`;

const members = (nodes) => nodes.map((node) => ({ level: node.low, name: node.name }));

/** Names joined by “or”, as many as fit as a whole, never cut in the middle of one. */
function whole(names, most) {
  const found = [];
  for (const name of names) {
    if ([...found, name].join(" or ").length > most) break;
    found.push(name);
  }
  if (!found.length && names.length) return names[0].split(/\s+/).reduce((text, word) => (`${text} ${word}`.length <= most ? `${text} ${word}`.trim() : text), "");
  return found.length < names.length ? `${found.join(" or ")} and others` : found.join(" or ");
}

/** A node as drawn: a chain of only children with the same name is one node, from `low` to `level`. */
export function joined(node) {
  let bottom = node;
  while (bottom.repeats && (bottom.children || []).length === 1) [bottom] = bottom.children;
  const children = (bottom.children || []).map(joined);
  return { ...node, low: bottom.level, block: bottom.block, children, loaded: children.length, more: bottom.more || 0 };
}

/** The lowest level shared by all of these nodes; null if there is none. */
function common(nodes) {
  if (!nodes.length) return null;
  const low = Math.max(...nodes.map((node) => node.low));
  return low <= Math.min(...nodes.map((node) => node.level)) ? low : null;
}

function flat(root) {
  const found = new Map();
  const walk = (node) => {
    found.set(node.id, node);
    node.children.forEach(walk);
  };
  walk(root);
  return found;
}

/** The levels from exact to nothing, with buttons to insert and remove one. */
function Levels({ shown, onAdd, onRemove }) {
  const top = shown.levels.length - 1;
  return html`<ol class="levels" aria-label=${words.levels}>${shown.levels.map((level, index) => html`<li key=${index}>
    <span class="level"><b>${index === 0 ? words.exact : index === top ? words.nothing : words.level(index)}</b><span class="small">${words.values(count(level.groups))}</span>
      ${index > 0 && index < top && html`<${Button} kind="bare icon compact" icon="close" label=${words.removeLevel(index)} onClick=${() => onRemove(index)} />`}</span>
    ${index < top && html`<${Button} kind="bare icon compact" icon="plus" label=${words.addLevel(index)} onClick=${() => onAdd(index)} />`}</li>`)}</ol>`;
}

function MoveTo({ tree, nodes, onClose, onDone }) {
  const name = useName("into");
  const targets = [...[...flat(tree).values()].filter((node) => node !== tree && !node.missing && node.low > 0 && !nodes.some((each) => each.id === node.id) && nodes.every((each) => each.low < node.low)), { ...tree, label: words.outOfAll }];
  const [into, setInto] = useState(targets[0] ? targets[0].id : "");
  return html`<${Dialog} title=${words.moveTitle(nodes.length)} onClose=${onClose} actions=${[
    html`<${Button} onClick=${onClose}>${texts.cancel}</${Button}>`,
    html`<${Button} kind="main" disabled=${!into} onClick=${() => onDone(targets.find((node) => node.id === into))}>${words.move}</${Button}>`,
  ]}><div class="field"><label for=${name}>${words.into}</label><select id=${name} value=${into} onChange=${(event) => setInto(event.target.value)}>${targets.map((node) => html`<option value=${node.id}>${node.label}</option>`)}</select></div></${Dialog}>`;
}

function Table({ column, stampNow, onRename }) {
  const { project } = useApp();
  const [offset, setOffset] = useState(0);
  const [page, error] = useLoaded(at.hierarchy(project.id, column, { offset, limit: SIZE }), stampNow);
  if (error) return html`<${Notice} kind="bad"><p>${error.message}</p></${Notice}>`;
  if (!page || !page.table) return html`<${Waiting} tall />`;
  const { rows, counts, total } = page.table;
  const top = page.height;
  const head = (index) => (index === 0 ? words.exact : index === top ? words.nothing : words.level(index));
  const cell = (value, index, row) => {
    if (index === 0 || index === top || value === null) return html`<span class="cell">${value === null ? texts.data.none : value}</span>`;
    const rest = (event) => {
      const to = event.target.value.trim();
      if (to && to !== value) onRename({ level: index, name: value }, to);
      else event.target.value = value;
    };
    // Keyed by its value, so that text being typed survives a reload of the table.
    return html`<input key=${value} type="text" class="compact" aria-label=${words.cell(index, row[0])} defaultValue=${value} onKeyDown=${(event) => event.key === "Enter" && event.target.blur()} onChange=${rest} />`;
  };
  return html`<div class="scroll framed" tabindex="0" role="region" aria-label=${words.table}><table class="grid"><thead><tr>${Array.from({ length: top + 1 }, (_, index) => html`<th scope="col">${head(index)}</th>`)}<th scope="col" class="num">${texts.data.rows}</th></tr></thead>
    <tbody>${rows.map((row, line) => html`<tr key=${offset + line}>${row.map((value, index) => html`<td>${cell(value, index, row)}</td>`)}<td class="num">${count(counts[line])}</td></tr>`)}</tbody></table></div>
    <${Pager} offset=${offset} size=${SIZE} total=${total} onMove=${setOffset} />
    <p class="quiet small">${words.tableHint}</p>`;
}
