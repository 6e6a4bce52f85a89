// Charts as the server draws them, the same as in reports: fetched at the width of the screen, shown as they are.
import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { at } from "./api.js";
import { useLoaded } from "./context.js";
import { texts } from "./texts.js";

const STEP = 20; // widths are rounded, so that a chart is not fetched again for every pixel

/** The width of a chart, so that its text keeps its size on every screen. */
export function useWidth(first = 460, least = 300) {
  const box = useRef(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const see = () => box.current && setWidth(Math.max(least, Math.floor(box.current.clientWidth / STEP) * STEP));
    see();
    const watch = new ResizeObserver(see);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

/** Replace the content of an element by drawings; returns the first of them. */
function draw(holder, markup) {
  const found = new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${markup}</svg>`, "image/svg+xml");
  holder.replaceChildren(...[...found.documentElement.children].map((child) => document.importNode(child, true)));
  return holder.firstElementChild;
}

/** A drawing, or several below each other. */
export function Svg({ markup }) {
  const holder = useRef(null);
  useLayoutEffect(() => draw(holder.current, markup) && undefined, [markup]);
  return html`<div class="drawing" ref=${holder}></div>`;
}

/** A chart at an address of the server; `when` fetches it again, `empty` is shown if there is nothing to draw. */
export function Chart({ path, when, empty = null, part = "svg" }) {
  const [box, width] = useWidth();
  const [drawn, error] = useLoaded(path(width), when);
  return html`<div ref=${box}>${error ? html`<p class="quiet">${error.message}</p>` : drawn && (drawn[part] ? html`<${Svg} markup=${drawn[part]} />` : empty && html`<div class="chart-empty">${empty}</div>`)}</div>`;
}

/** A chart of a job by its name. */
export const JobChart = ({ id, name, column, ...rest }) => html`<${Chart} ...${rest} path=${(width) => at.chart(id, name, column === undefined ? { width } : { width, column })} />`;

/** The running search: best cost and lower bound over time. */
export function LiveChart({ job, running }) {
  const trace = job.trace || [];
  return html`<${JobChart} id=${job.id} name="trace" when=${`${job.state} ${trace.length} ${(trace[trace.length - 1] || [])[0]}`} empty=${running ? texts.run.noCostYet : texts.run.noTrace} />`;
}

/** A front whose points are chosen by mouse or arrow keys: a thin layer over the drawing, which numbers its points. */
export function FrontChart({ id, points, chosen, knee, onChoose }) {
  const [box, width] = useWidth();
  const [drawn, error] = useLoaded(at.chart(id, "front", { width }));
  const holder = useRef(null);
  const marks = () => (holder.current ? [...holder.current.querySelectorAll("[data-point]")] : []);
  const selected = points.some((point) => point.id === chosen) ? chosen : points[0] && points[0].id;
  useLayoutEffect(() => {
    const drawing = drawn && drawn.svg && draw(holder.current, drawn.svg);
    if (!drawing) return;
    drawing.setAttribute("role", "radiogroup");
    drawing.setAttribute("aria-label", texts.explore.frontLabel);
    for (const child of drawing.children) {
      if (!child.classList.contains("point")) {
        child.setAttribute("aria-hidden", "true");
        continue;
      }
      const point = points[drawn.order[child.dataset.i]];
      child.setAttribute("data-point", point.id);
      child.setAttribute("role", "radio");
      child.setAttribute("aria-label", texts.explore.pointLabel(point, point.id === knee));
    }
  }, [drawn]);
  useLayoutEffect(() => {
    for (const mark of marks()) {
      mark.setAttribute("aria-checked", mark.dataset.point === selected ? "true" : "false");
      mark.setAttribute("tabindex", mark.dataset.point === selected ? "0" : "-1");
    }
  }, [drawn, selected]);
  const onClick = (event) => {
    const mark = event.target.closest("[data-point]");
    if (mark) onChoose(mark.dataset.point);
  };
  const onKeyDown = (event) => {
    const here = points.findIndex((point) => point.id === selected);
    const next = { ArrowRight: here + 1, ArrowUp: here + 1, ArrowLeft: here - 1, ArrowDown: here - 1, Home: 0, End: points.length - 1 }[event.key];
    if (next === undefined || !points[next]) return;
    event.preventDefault();
    onChoose(points[next].id);
    marks().find((mark) => mark.dataset.point === points[next].id).focus();
  };
  return html`<div ref=${box}>${error && html`<p class="quiet">${error.message}</p>`}<div class="drawing front-drawing" ref=${holder} onClick=${onClick} onKeyDown=${onKeyDown}></div></div>`;
}
