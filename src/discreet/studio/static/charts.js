// Charts in SVG: histograms before and after, the live search, the front, group sizes.
import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { texts } from "./texts.js";
import { count, number, seconds, share, shorten, ticks } from "./format.js";

/** The width of a chart, so that its text keeps its size on every screen. */
export function useWidth(first = 640, least = 240) {
  const box = useRef(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const see = () => box.current && setWidth(Math.max(least, Math.round(box.current.clientWidth)));
    see();
    const watch = new ResizeObserver(see);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

const steps = (points, x, y) => points.map(([a, b], index) => `${index ? `H${x(a)}V${y(b)}` : `M${x(a)} ${y(b)}`}`).join("");
const round = (value) => Math.round(value * 10) / 10;

/** Bars of one distribution. */
export function Bars({ bars, height = 190, label, kind = "after" }) {
  const [box, width] = useWidth();
  const top = Math.max(1, ...bars.map((bar) => bar.count));
  const foot = 26;
  const band = width / Math.max(bars.length, 1);
  const y = (value) => (height - foot) * (1 - value / top);
  const every = Math.max(1, Math.ceil(bars.length / Math.max(1, Math.floor(width / 74))));
  const letters = Math.max(3, Math.floor((band * every) / 7.4));
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${label}>
    <line class="axis" x1="0" x2=${width} y1=${height - foot} y2=${height - foot} />
    ${bars.map((bar, index) => html`<g><title>${`${bar.label}: ${count(bar.count)}`}</title>
      <rect class=${kind} x=${round(index * band + Math.min(2, band * 0.1))} width=${round(Math.max(1, band - Math.min(4, band * 0.2)))} y=${round(y(bar.count))}
        height=${round(height - foot - y(bar.count))} rx=${Math.min(3, band / 4)} />
      ${index % every === 0 && html`<text x=${round(index * band + (every > 1 ? 1 : band / 2))} y=${height - 8} text-anchor=${every > 1 ? "start" : "middle"}>${shorten(String(bar.label), letters)}</text>`}</g>`)}
  </svg></div>`;
}

/** A column before (grey) and in the release (outlines as wide as the values they cover). */
export function BeforeAfter({ before, after, height = 210, label }) {
  const [box, width] = useWidth();
  const covering = after.length > 0 && after.every((bar) => bar.from !== undefined && bar.from !== null);
  const slots = covering ? before : merged(before, after);
  const heights = covering
    ? [...before.map((bar) => bar.count), ...after.map((bar) => bar.count / (bar.to - bar.from + 1))]
    : slots.flatMap((slot) => [slot.before, slot.after]);
  const top = Math.max(1, ...heights);
  const foot = 26;
  const band = width / Math.max(slots.length, 1);
  const y = (value) => (height - foot) * (1 - value / top);
  const every = Math.max(1, Math.ceil(slots.length / Math.max(1, Math.floor(width / 74))));
  const letters = Math.max(3, Math.floor((band * every) / 7.4));
  const bar = (index, value, kind, from = 0, part = 1) =>
    html`<rect class=${kind} x=${round((index + from) * band + 1)} width=${round(Math.max(1, band * part - Math.min(3, band * 0.18)))} y=${round(y(value))} height=${round(Math.max(0, height - foot - y(value)))} rx="2" />`;
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${label}>
    <line class="axis" x1="0" x2=${width} y1=${height - foot} y2=${height - foot} />
    ${slots.map((slot, index) => html`<g><title>${`${slot.label}: ${count(covering ? slot.count : slot.before)}`}</title>
      ${covering ? bar(index, slot.count, "before") : [bar(index, slot.before, "before", 0, 0.5), bar(index, slot.after, "outline", 0.5, 0.5)]}
      ${index % every === 0 && html`<text x=${round(index * band + (every > 1 ? 1 : band / 2))} y=${height - 8} text-anchor=${every > 1 ? "start" : "middle"}>${shorten(String(slot.label), letters)}</text>`}</g>`)}
    ${covering && after.map((bar) => {
      const mean = bar.count / (bar.to - bar.from + 1);
      return html`<g><title>${`${bar.label}: ${count(bar.count)}`}</title><rect class="outline" x=${round(bar.from * band + 1.5)} width=${round(Math.max(2, (bar.to - bar.from + 1) * band - 3))}
        y=${round(y(mean))} height=${round(Math.max(0, height - foot - y(mean)))} rx="3" /></g>`;
    })}
  </svg>
  <div class="legend"><span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-before" width="26" height="12" rx="2" /></svg>${texts.chart.before}</span>
    <span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-after" x="1" y="1" width="24" height="10" rx="2" /></svg>${texts.chart.after}</span></div></div>`;
}

function merged(before, after) {
  const slots = new Map(before.map((bar) => [bar.label, { label: bar.label, before: bar.count, after: 0 }]));
  for (const bar of after) {
    if (!slots.has(bar.label)) slots.set(bar.label, { label: bar.label, before: 0, after: 0 });
    slots.get(bar.label).after = bar.count;
  }
  return [...slots.values()];
}

/** The running search: best cost (solid) and lower bound (dashed) over time. */
export function LiveChart({ trace, height = 300, running }) {
  const [box, width] = useWidth();
  const finite = (value) => (value === undefined || value === null || Math.abs(value) > 1e200 ? null : value);
  const points = (trace || []).map(([time, best, bound]) => [time, finite(best), finite(bound)]).filter(([, best, bound]) => best !== null || bound !== null);
  if (points.length === 0) return html`<div ref=${box} class="chart-empty">${running ? texts.run.noCostYet : texts.run.noTrace}</div>`;
  const known = points.flatMap(([, best, bound]) => [best, bound]).filter((value) => value !== null && value !== undefined);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  const air = (high - low > Math.abs(high) * 1e-6 ? high - low : Math.abs(high) || 1) * 0.12; // best and bound may differ by rounding only
  [low, high] = [Math.max(0, low - air), high + air];
  const end = Math.max(points[points.length - 1][0] * 1.06, 0.001);
  const left = 62;
  const foot = 30;
  const x = (value) => round(left + (value / end) * (width - left - 14));
  const y = (value) => round(10 + (1 - (value - low) / (high - low || 1)) * (height - foot - 10));
  const best = points.filter((point) => point[1] !== null).map(([time, value]) => [time, value]);
  const bound = points.filter((point) => point[2] !== null && point[2] !== undefined).map(([time, , value]) => [time, value]);
  const extend = (list) => (list.length ? [...list, [end, list[list.length - 1][1]]] : list);
  const [bests, bounds] = [extend(best), extend(bound)];
  const between = bests.length && bounds.length ? `${steps(bests, x, y)}V${y(bounds[bounds.length - 1][1])}${[...bounds].reverse().map(([time, value], index, all) => `${index ? `V${y(value)}` : ""}H${x(index + 1 < all.length ? time : bests[0][0])}`).join("")}Z` : "";
  const last = (list) => list[list.length - 1];
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${texts.run.chartLabel(number(last(best)?.[1]), number(last(bound)?.[1]))}>
    ${ticks(low, high, 5).map((value) => html`<line class="gridline" x1=${left} x2=${width - 14} y1=${y(value)} y2=${y(value)} /><text x=${left - 9} y=${y(value) + 4} text-anchor="end">${number(value)}</text>`)}
    ${ticks(0, end, Math.min(6, Math.floor(width / 100))).map((value) => html`<text x=${x(value)} y=${height - 6} text-anchor="middle">${seconds(value)}</text>`)}
    <line class="axis" x1=${left} x2=${width - 14} y1=${height - foot} y2=${height - foot} />
    ${between && html`<path class="between" d=${between} />`}
    ${bounds.length > 0 && html`<path class="bound" d=${steps(bounds, x, y)} /><rect class="dot bound-dot" x=${x(end) - 4} y=${y(last(bounds)[1]) - 4} width="8" height="8" />`}
    ${bests.length > 0 && html`<path class="best" d=${steps(bests, x, y)} /><circle class="dot" cx=${x(end)} cy=${y(last(bests)[1])} r="5" />`}
  </svg>
  <div class="legend"><span><svg viewBox="0 0 26 12" aria-hidden="true"><path class="swatch-best" d="M0 6h26" /></svg>${texts.run.best}</span>
    <span><svg viewBox="0 0 26 12" aria-hidden="true"><path class="swatch-bound" d="M0 6h26" /></svg>${texts.run.bound}</span></div></div>`;
}

/** The front: privacy to the right, loss upwards; points are chosen by mouse or arrow keys. */
export function FrontChart({ points, chosen, knee, onChoose, height = 360 }) {
  const [box, width] = useWidth();
  const marks = useRef([]);
  const left = 58;
  const foot = 46;
  const xs = points.map((point) => point.x);
  const logarithmic = Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 12;
  const place = (value) => (logarithmic ? Math.log(value) : value);
  const [low, high] = [place(Math.min(...xs)), place(Math.max(...xs))];
  const most = Math.max(...points.map((point) => point.loss), 1e-9);
  const x = (value) => round(left + 16 + ((place(value) - low) / (high - low || 1)) * (width - left - 40));
  const y = (value) => round(12 + (1 - value / (most * 1.06)) * (height - foot - 12));
  const lines = logarithmic ? decades(Math.min(...xs), Math.max(...xs), width) : ticks(Math.min(...xs), Math.max(...xs), 6);
  const path = steps(points.map((point) => [point.x, point.loss]), x, y);
  const at = Math.max(0, points.findIndex((point) => point.id === chosen));
  const onKeyDown = (event) => {
    const next = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: points.length - 1 }[event.key];
    if (next === undefined || !points[next]) return;
    event.preventDefault();
    onChoose(points[next].id);
    marks.current[next].focus();
  };
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="radiogroup" aria-label=${texts.explore.frontLabel} onKeyDown=${onKeyDown}>
    <g aria-hidden="true">
    ${ticks(0, most, 5).map((value) => html`<line class="gridline" x1=${left} x2=${width - 8} y1=${y(value)} y2=${y(value)} /><text x=${left - 9} y=${y(value) + 4} text-anchor="end">${share(value, value && most < 0.05 ? 1 : 0)}</text>`)}
    ${lines.map((value) => html`<text x=${x(value)} y=${height - foot + 20} text-anchor="middle">${number(value)}</text>`)}
    <line class="axis" x1=${left} x2=${width - 8} y1=${height - foot} y2=${height - foot} />
    <text x=${width - 8} y=${height - 6} text-anchor="end">${texts.explore.xAxis}</text>
    <path class="front-area" d=${`${path}V${height - foot}H${x(points[0].x)}Z`} /><path class="front-line" d=${path} />
    ${points[at] && html`<line class="guide" x1=${x(points[at].x)} x2=${x(points[at].x)} y1=${y(points[at].loss)} y2=${height - foot} /><line class="guide" x1=${left} x2=${x(points[at].x)} y1=${y(points[at].loss)} y2=${y(points[at].loss)} />`}
    </g>
    ${points.map((point, index) => {
      const [cx, cy] = [x(point.x), y(point.loss)];
      const [is, suggested] = [point.id === chosen, point.id === knee];
      return html`<g class="mark" key=${point.id} role="radio" aria-checked=${is ? "true" : "false"} tabindex=${index === at ? 0 : -1} ref=${(node) => (marks.current[index] = node)} data-point=${point.id}
        aria-label=${texts.explore.pointLabel(point, suggested)} onClick=${() => onChoose(point.id)}>
        <title>${texts.explore.pointLabel(point, suggested)}</title>
        ${is && html`<circle class="halo" cx=${cx} cy=${cy} r="13" />`}
        ${suggested ? html`<path class=${`knee ${is ? "chosen" : ""}`} d=${`M${cx} ${cy - 9}L${cx + 9} ${cy}L${cx} ${cy + 9}L${cx - 9} ${cy}Z`} />` : html`<circle class=${`point ${is ? "chosen" : ""}`} cx=${cx} cy=${cy} r=${is ? 8 : 5.5} />`}
        <circle class="ring" cx=${cx} cy=${cy} r="15" /><circle class="hit" cx=${cx} cy=${cy} r="15" />
        ${is && html`<text class="strong" x=${Math.min(width - 24, Math.max(left + 26, cx))} y=${Math.max(12, cy - 19)} text-anchor="middle">${point.title}</text>`}
      </g>`;
    })}
  </svg>
  <div class="legend"><span><svg viewBox="0 0 26 12" aria-hidden="true"><circle class="swatch-point" cx="13" cy="6" r="4.5" /></svg>${texts.explore.legendPoint}</span>
    ${knee && html`<span><svg viewBox="0 0 26 12" aria-hidden="true"><path class="swatch-knee" d="M13 0.500 18.500 6 13 11.500 7.500 6z" /></svg>${texts.explore.legendKnee}</span>`}</div></div>`;
}

function decades(low, high, width) {
  const wanted = width < 480 ? [1] : width < 640 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const base of wanted) if (base * 10 ** power >= low * 0.999 && base * 10 ** power <= high * 1.001) found.push(base * 10 ** power);
  }
  return found;
}

/** People in groups of each size; those below the limit are marked by colour and stripes. */
export function SizeBars({ bars, limit, height = 230, label }) {
  const [box, width] = useWidth();
  const top = Math.max(1e-9, ...bars.map((bar) => bar.share));
  const foot = 46;
  const band = width / Math.max(bars.length, 1);
  const brief = bars.some((bar) => bar.label.length * 7 + 8 > band);
  const y = (value) => 18 + (height - foot - 18) * (1 - value / top);
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${label}>
    <defs><pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="risky" /><rect width="2" height="6" class="stripe" /></pattern></defs>
    <line class="axis" x1="0" x2=${width} y1=${height - foot} y2=${height - foot} />
    ${bars.map((bar, index) => {
      const risky = bar.to !== null && bar.to !== undefined && bar.to < limit;
      return html`<g><title>${`${bar.label}: ${share(bar.share)}`}</title>
        <rect class=${risky ? "" : "after"} fill=${risky ? "url(#stripes)" : undefined} x=${round(index * band + (band - Math.min(72, band * 0.76)) / 2)} width=${round(Math.min(72, band * 0.76))} y=${round(y(bar.share))} height=${round(Math.max(0, height - foot - y(bar.share)))} rx="4" />
        ${bar.share > 0 && html`<text class="strong" x=${round(index * band + band / 2)} y=${round(y(bar.share) - 6)} text-anchor="middle">${band > 44 ? share(bar.share) : share(bar.share, 0)}</text>`}
        <text x=${round(index * band + band / 2)} y=${height - foot + 17} text-anchor="middle">${brief ? bar.label.split("–")[0] : bar.label}</text></g>`;
    })}
    <text x=${width / 2} y=${height - 6} text-anchor="middle">${brief ? texts.risk.sizeAxisFrom : texts.risk.sizeAxis}</text>
  </svg></div>`;
}

/** Two values on a line from 0 to 1: a hollow mark before, a filled one after. */
export function Shift({ before, after, label }) {
  const [box, width] = useWidth(200, 110);
  const at = (value) => round(7 + Math.max(0, Math.min(1, value)) * (width - 14));
  const known = before !== null && before !== undefined;
  return html`<div ref=${box} class="shift"><svg class="chart" viewBox=${`0 0 ${width} 20`} width=${width} height="20" role="img" aria-label=${label}>
    <line class="gridline thick" x1="7" x2=${width - 7} y1="10" y2="10" />
    ${known && html`<line class="shift-line" x1=${at(before)} x2=${at(after)} y1="10" y2="10" /><circle class="shift-before" cx=${at(before)} cy="10" r="5" />`}
    <rect class="shift-after" x=${at(after) - 4.5} y="5.500" width="9" height="9" rx="2" />
  </svg></div>`;
}

const DAY = 86400000;
const day = (value) => new Date(value * DAY).toISOString().slice(0, 10);

/** Numbers or dates before (grey, filled) and in the release (outline), on one axis. */
export function StepsChart({ before, after, height = 230, label }) {
  const [box, width] = useWidth();
  const foot = 28;
  const edges = [...before.edges, ...after.edges];
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  const density = (steps) => steps.rows.map((rows, index) => rows / (steps.edges[index + 1] - steps.edges[index] || 1));
  const [was, is] = [density(before), density(after)];
  const top = Math.max(...was, ...is, 1e-12);
  const x = (value) => round(2 + ((value - low) / (high - low || 1)) * (width - 4));
  const y = (value) => round(6 + (height - foot - 6) * (1 - value / top));
  const outline = (steps, heights) => `M${x(steps.edges[0])} ${height - foot}${heights.map((value, index) => `V${y(value)}H${x(steps.edges[index + 1])}`).join("")}V${height - foot}Z`;
  const name = (value) => (before.date ? (high - low > 1500 ? day(value).slice(0, 4) : day(value).slice(0, 7)) : number(value));
  const wanted = Math.max(2, Math.min(7, Math.floor(width / 90)));
  const marks = before.date ? Array.from({ length: wanted + 1 }, (_, index) => low + ((high - low) * index) / wanted) : ticks(low, high, wanted);
  const anchor = (index) => (index === 0 && x(marks[0]) < 20 ? "start" : index === marks.length - 1 && x(marks[index]) > width - 20 ? "end" : "middle");
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${label}>
    <path class="before" d=${outline(before, was)} /><path class="outline" d=${outline(after, is)} />
    <line class="axis" x1="0" x2=${width} y1=${height - foot} y2=${height - foot} />
    ${marks.map((value, index) => html`<text x=${x(value)} y=${height - 8} text-anchor=${anchor(index)}>${name(value)}</text>`)}
  </svg><${Legend} /></div>`;
}

/** Released values as bars, each divided into its original values, with the people left out in grey. */
export function ReleasedBars({ bars, label }) {
  const [box, width] = useWidth();
  const line = 30;
  const names = Math.min(190, Math.max(90, width * 0.3));
  const top = Math.max(1, ...bars.map((bar) => bar.rows + (bar.left_out || 0)));
  const scale = (rows) => round((rows / top) * (width - names - 62));
  return html`<div ref=${box}><svg class="chart" viewBox=${`0 0 ${width} ${bars.length * line + 4}`} width=${width} height=${bars.length * line + 4} role="img" aria-label=${label}>
    ${bars.map((bar, index) => {
      const y = index * line + 4;
      let at = 0;
      const cuts = (bar.parts || []).slice(0, -1).map((rows) => (at += rows));
      return html`<g><title>${`${bar.name}: ${count(bar.rows)}`}</title><text x=${names - 10} y=${y + 15.5} text-anchor="end">${shorten(String(bar.name), Math.floor(names / 7.2))}</text>
        <rect class="before" x=${names} y=${y + 2} width=${scale(bar.rows + (bar.left_out || 0))} height="18" rx="3" /><rect class="after" x=${names} y=${y + 2} width=${scale(bar.rows)} height="18" rx="3" />
        ${cuts.map((rows) => html`<line class="cutline" x1=${names + scale(rows)} x2=${names + scale(rows)} y1=${y + 2} y2=${y + 20} />`)}
        <text class="strong" x=${names + scale(bar.rows + (bar.left_out || 0)) + 7} y=${y + 15.5}>${count(bar.rows)}</text></g>`;
    })}
  </svg><p class="small quiet">${texts.explore.partsText}</p></div>`;
}

const Legend = () => html`<div class="legend"><span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-before" width="26" height="12" rx="2" /></svg>${texts.chart.before}</span>
  <span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-after" x="1" y="1" width="24" height="10" rx="2" /></svg>${texts.chart.after}</span></div>`;

/** A tree from its root down to single values; released nodes are filled, the line is the cut. */
export function Icicle({ levels, label }) {
  const [box, width] = useWidth();
  const line = 44;
  const whole = Math.max(1, ...levels.filter(Array.isArray).map((boxes) => boxes.reduce((sum, each) => sum + each.rows, 0)));
  return html`<div ref=${box}><svg class="chart icicle" viewBox=${`0 0 ${width} ${levels.length * line}`} width=${width} height=${levels.length * line} role="img" aria-label=${label}>
    ${levels.map((boxes, depth) => {
      const y = depth * line;
      const crowded = Array.isArray(boxes) && width / boxes.length < 7 && !boxes.some((each) => each.state === "released");
      if (crowded || !Array.isArray(boxes)) return html`<g><rect class="many" x="1" y=${y + 2} width=${width - 2} height=${line - 6} rx="6" /><text x=${width / 2} y=${y + line / 2 + 4} text-anchor="middle">${texts.explore.manyNodes(count(crowded ? boxes.length : boxes))}</text></g>`;
      let at = 0;
      return boxes.map((each) => {
        const x = (at / whole) * width;
        at += each.rows;
        const wide = (each.rows / whole) * width;
        const letters = Math.floor((wide - 12) / 7.4);
        return html`<g class=${each.state}><title>${`${each.name || "…"}: ${count(each.rows)}`}</title><rect x=${round(x + Math.min(1, wide * 0.1))} y=${y + 2} width=${round(Math.max(0.6, wide - Math.min(2, wide * 0.2)))} height=${line - 6} rx=${Math.min(6, wide / 3)} />
          ${each.name && letters >= 2 && html`<text x=${round(x + wide / 2)} y=${y + line / 2 + 4} text-anchor="middle">${shorten(each.name, letters)}</text>`}</g>`;
      });
    })}
  </svg>
  <div class="legend"><span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-full" width="26" height="12" rx="3" /></svg>${texts.explore.shownNodes}</span><span><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="swatch-hidden" x="0.500" y="0.500" width="25" height="11" rx="3" /></svg>${texts.explore.hiddenNodes}</span></div></div>`;
}
