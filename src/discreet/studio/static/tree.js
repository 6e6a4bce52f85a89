// A hierarchy as a tree view, with selection and drag and drop, by mouse and keyboard.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { Icon } from "./icons.js";
import { texts } from "./texts.js";
import { count } from "./format.js";

/** The visible nodes from top to bottom, with depth and parent. */
function visible(root, open) {
  const found = [];
  const walk = (node, depth, parent, position, siblings) => {
    found.push({ node, depth, parent, position, siblings });
    if (!open.has(node.id)) return;
    const children = node.children || [];
    children.forEach((child, index) => walk(child, depth + 1, node, index + 1, children.length));
    if (node.more) found.push({ more: node.more, depth: depth + 1, parent: node });
  };
  walk(root, 0, null, 1, 1);
  return found;
}

/** The nodes to expand at first: whole levels while the tree stays short. */
function unfolded(root, most = 28) {
  const open = new Set();
  let [layer, shown] = [[root], 1];
  while (layer.length) {
    const next = layer.flatMap((node) => node.children || []);
    if (shown + next.length > most && open.size) break;
    layer.forEach((node) => node.children && node.children.length && open.add(node.id));
    shown += next.length;
    layer = next;
  }
  return open;
}

/** The ids on the way from the root to a node; null if it is not loaded. */
function wayTo(root, id) {
  if (root.id === id) return [id];
  for (const child of root.children || []) {
    const way = wayTo(child, id);
    if (way) return [root.id, ...way];
  }
  return null;
}

/** All nodes that have children. */
const inside = (root) => [root, ...(root.children || []).flatMap(inside)].filter((node) => (node.children || []).length);

/**
 * The tree. `chosen` is the set of selected ids, `onChoose(ids)` is called with a new one. `onMove(ids, node)` is called when
 * nodes are dropped on another, `onKey(key, node)` for other keys. `mark(node)` returns the CSS class of a node. Which nodes are
 * open and has the focus is remembered by id, over edits, until `openKey` changes. `reveal` is the id of a node to go to, and
 * `all` opens everything that is there, for the matches of a search.
 */
export function Tree({ root, label, chosen, onChoose, onMove, onMore, onKey, mark, total, openKey, reveal, all }) {
  const [opened, setOpen] = useState(() => unfolded(root));
  const open = all ? new Set(inside(root).map((node) => node.id)) : opened;
  const [focus, setFocus] = useState(root.id);
  const [dragged, setDragged] = useState(null);
  const [over, setOver] = useState(null);
  const list = useRef(null);
  const anchor = useRef(null);
  const whole = total || root.count || 1;
  const first = useRef(openKey);
  useEffect(() => {
    if (first.current !== openKey) setOpen(unfolded(root));
    first.current = openKey;
  }, [openKey]);
  // Go to the node that an edit made or filled: open the groups it is in, and give it the focus.
  useEffect(() => {
    const way = reveal && wayTo(root, reveal.id);
    if (!way) return undefined;
    setOpen((now) => new Set([...now, ...way]));
    setFocus(reveal.id);
    const timer = setTimeout(() => {
      const item = find(reveal.id);
      if (!item) return;
      item.focus({ preventScroll: true });
      item.scrollIntoView({ block: "nearest" });
    }, 30);
    return () => clearTimeout(timer);
  }, [reveal]);
  const find = (id) => list.current && [...list.current.querySelectorAll("[role=treeitem]")].find((each) => each.dataset.id === id);

  const shown = visible(root, open);
  const nodes = shown.filter((row) => row.node);
  const here = nodes.some((row) => row.node.id === focus) ? focus : root.id;
  const fold = (node, to) => {
    if (all) return;
    const next = new Set(open);
    if (to ?? !next.has(node.id)) next.add(node.id);
    else next.delete(node.id);
    setOpen(next);
  };
  const go = (id) => {
    setFocus(id);
    const item = find(id);
    if (item) item.focus();
  };
  const choose = (node, event) => {
    if (!onChoose) return;
    setFocus(node.id);
    const next = new Set(event.ctrlKey || event.metaKey || event.shiftKey || event.toggle ? chosen : []);
    if (event.shiftKey && anchor.current) {
      const range = [anchor.current, node.id].map((id) => nodes.findIndex((row) => row.node.id === id)).sort((a, b) => a - b);
      nodes.slice(Math.max(0, range[0]), range[1] + 1).forEach((row) => row.parent && next.add(row.node.id));
    } else if (next.has(node.id)) next.delete(node.id);
    else next.add(node.id);
    anchor.current = node.id;
    onChoose(next);
  };
  const onKeyDown = (event) => {
    const index = nodes.findIndex((row) => row.node.id === here);
    const row = nodes[index];
    const inner = (row.node.children || []).length > 0;
    const to = (target) => nodes[target] && (event.preventDefault(), go(nodes[target].node.id));
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown") to(index + 1);
    else if (event.key === "ArrowUp") to(index - 1);
    else if (event.key === "Home") to(0);
    else if (event.key === "End") to(nodes.length - 1);
    else if (event.key === "ArrowRight") {
      event.preventDefault();
      if (inner && !open.has(here)) fold(row.node, true);
      else if (inner) to(index + 1);
    } else if (event.key === "ArrowLeft") {
      event.preventDefault();
      if (inner && open.has(here)) fold(row.node, false);
      else if (row.parent) go(row.parent.id);
    } else if (event.key === " ") {
      event.preventDefault();
      choose(row.node, { toggle: true });
    } else if (onKey && onKey(event.key, row.node)) event.preventDefault();
  };

  // Dragging: by mouse with the browser's own drag and drop, by touch or pen with the grip.
  const carried = (node) => (chosen && chosen.has(node.id) ? [...chosen] : [node.id]);
  const drop = (ids, id) => {
    const target = nodes.find((row) => row.node.id === id);
    setDragged(null);
    setOver(null);
    if (target && ids && !ids.includes(id) && !target.node.missing) onMove(ids, target.node);
  };
  const under = (event) => {
    const item = document.elementFromPoint(event.clientX, event.clientY);
    const node = item && item.closest("[role=treeitem]");
    return node && list.current.contains(node) ? node.dataset.id : null;
  };
  const grip = (node) => ({
    onPointerDown: (event) => {
      if (event.pointerType === "mouse") return;
      event.preventDefault();
      event.currentTarget.setPointerCapture(event.pointerId);
      setDragged(carried(node));
    },
    onPointerMove: (event) => {
      if (event.pointerType === "mouse" || !dragged) return;
      setOver(under(event));
      const box = list.current.parentElement.getBoundingClientRect();
      if (event.clientY > box.bottom - 40) list.current.parentElement.scrollBy(0, 12);
      else if (event.clientY < box.top + 40) list.current.parentElement.scrollBy(0, -12);
    },
    onPointerUp: (event) => event.pointerType !== "mouse" && dragged && drop(dragged, under(event)),
    onPointerCancel: () => (setDragged(null), setOver(null)),
    onClick: (event) => event.stopPropagation(),
  });

  return html`<ul class="tree" role="tree" aria-label=${label} aria-multiselectable=${onChoose ? "true" : undefined} ref=${list} onKeyDown=${onKeyDown}>
    ${shown.map((row) => {
      const indent = Array.from({ length: row.depth }, () => html`<i class="indent"></i>`);
      if (row.more) {
        return html`<li role="none" class="node more-row" key=${`${row.parent.id}/more`}>${indent}<button type="button" class="button bare compact" onClick=${() => onMore && onMore(row.parent)} disabled=${!onMore}>${texts.tree.more(count(row.more))}</button></li>`;
      }
      const { node } = row;
      const inner = (node.children || []).length > 0 || node.more > 0;
      const name = node.label ?? node.name;
      const is = chosen && chosen.has(node.id);
      const movable = onMove && row.parent && !node.missing;
      const droppable = onMove && dragged && !dragged.includes(node.id) && !node.missing;
      return html`<li role="treeitem" key=${node.id} data-id=${node.id} class=${`node ${is ? "chosen" : ""} ${over === node.id && droppable ? "over" : ""} ${dragged && dragged.includes(node.id) ? "dragged" : ""} ${mark ? mark(node, row) : ""}`}
        aria-level=${row.depth + 1} aria-posinset=${row.position} aria-setsize=${row.siblings} aria-expanded=${inner ? (open.has(node.id) ? "true" : "false") : undefined} aria-selected=${onChoose ? (is ? "true" : "false") : undefined}
        aria-label=${texts.tree.item(name, count(node.count), mark ? mark(node, row) : "")} tabindex=${node.id === here ? 0 : -1} draggable=${movable ? "true" : undefined}
        onFocus=${() => setFocus(node.id)} onClick=${(event) => choose(node, event)} onDblClick=${() => onKey && onKey("F2", node)}
        onDragStart=${(event) => {
          event.dataTransfer.setData("text/plain", node.name);
          event.dataTransfer.effectAllowed = "move";
          setDragged(carried(node));
        }} onDragEnd=${() => (setDragged(null), setOver(null))}
        onDragOver=${(event) => droppable && (event.preventDefault(), setOver(node.id))} onDragLeave=${() => over === node.id && setOver(null)}
        onDrop=${(event) => {
          event.preventDefault();
          drop(dragged, node.id);
        }}>
        ${indent}
        ${inner ? html`<span class="fold" data-open=${open.has(node.id) ? "yes" : "no"} onClick=${(event) => (event.stopPropagation(), fold(node))}><${Icon} name="right" size=${16} /></span>` : html`<span class="leaf-dot"></span>`}
        ${onChoose && row.parent && html`<span class=${`box ${is ? "on" : ""}`} onClick=${(event) => (event.stopPropagation(), choose(node, { toggle: true }))}>${is && html`<${Icon} name="check" size=${13} />`}</span>`}
        <span class=${`name ${inner || node.low > 0 ? "group" : ""}`} title=${name === node.name ? undefined : texts.tree.inFile(node.name)}>${name}</span>
        ${movable && html`<span class="grip" title=${texts.tree.drag} ...${grip(node)}><${Icon} name="grip" size=${16} /></span>`}
        <span class="count"><svg viewBox="0 0 84 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="84" height="8" rx="4" /><rect class="part" width=${Math.max(node.count ? 1.5 : 0, (84 * (node.count || 0)) / whole)} height="8" rx="4" /></svg><span class="rows">${count(node.count)}</span></span>
      </li>`;
    })}
  </ul>`;
}
