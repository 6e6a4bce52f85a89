// Small line drawings, decoration only: the words beside them say the same.
import { html } from "./vendor/preact.js";

const PATHS = {
  check: "M4 12.5l5.2 5L20 6.5",
  warn: "M12 3.2 22 20.5H2zM12 10v4.6M12 17.4v.2",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5.5M12 7.6v.2",
  stop: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 8.5l7 7M15.5 8.5l-7 7",
  undo: "M8 5 3.5 9.5 8 14M4 9.5h10a6 6 0 0 1 0 12h-3",
  redo: "M16 5l4.500 4.500L16 14M20 9.500H10a6 6 0 0 0 0 12h3",
  sun: "M12 16.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM12 2v2.500M12 19.500V22M2 12h2.500M19.500 12H22M5 5l1.700 1.700M17.300 17.300 19 19M19 5l-1.700 1.700M6.700 17.300 5 19",
  moon: "M20.500 14.500A8.500 8.500 0 0 1 9.500 3.500a8.500 8.500 0 1 0 11 11z",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 7h6.500M12 12h8.500M12 17h6",
  right: "M9 5l7 7-7 7",
  left: "M15 5l-7 7 7 7",
  next: "M4 12h15M13 6l6 6-6 6",
  back: "M20 12H5M11 6l-6 6 6 6",
  close: "M5.500 5.500l13 13M18.500 5.500l-13 13",
  upload: "M12 16V4M7 9l5-5 5 5M4 16v3a1.500 1.500 0 0 0 1.500 1.500h13A1.500 1.500 0 0 0 20 19v-3",
  download: "M12 4v12M7 11l5 5 5-5M4 16v3a1.500 1.500 0 0 0 1.500 1.500h13A1.500 1.500 0 0 0 20 19v-3",
  file: "M6 2.500h8l5 5V21.500H6zM14 2.500v5h5",
  trash: "M4 6.500h16M9 6.500V4h6v2.500M6 6.500l1 14h10l1-14M10 10.500v6M14 10.500v6",
  pen: "M4 20l1-4.500L16.500 4a2 2 0 0 1 2.800 0l.700.700a2 2 0 0 1 0 2.800L8.500 19z",
  merge: "M5 4v4a4 4 0 0 0 4 4h10M5 20v-4a4 4 0 0 1 4-4M15 8l4 4-4 4",
  split: "M4 12h6a4 4 0 0 0 4-4V4M10 12a4 4 0 0 1 4 4v4M11 6.500 14 4l3 2.500M11 17.500l3 2.500 3-2.500",
  move: "M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  grip: "M9 6v.1M9 12v.1M9 18v.1M15 6v.1M15 12v.1M15 18v.1",
  play: "M7 4.500v15l12-7.500z",
  person: "M12 11.500a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20.500a7.500 7.500 0 0 1 15 0",
  identifier: "M3 5.500h18v13H3zM8 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.500 16a2.800 2.800 0 0 1 5 0M14 10h4M14 13.500h4",
  "quasi-identifier": "M5 18.500c-1.200-7 1-13 7-13s8 5 7 12M8.500 20.500c-1.500-6-.500-11 3.500-11s4.500 4.500 4 9M12 13v7.500",
  sensitive: "M12 20.500S3.500 15.500 3.500 9.300A4.600 4.600 0 0 1 12 6.700a4.600 4.600 0 0 1 8.500 2.600c0 6.200-8.500 11.200-8.500 11.200z",
  class: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 16.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM12 12v.1",
  insensitive: "M4 12h16M4 7h16M4 17h10",
  lock: "M6 10.500h12v10H6zM8.500 10.500V7.500a3.500 3.500 0 0 1 7 0v3",
  shield: "M12 3l7.500 3v5.500c0 5-3.500 8-7.500 9.500-4-1.500-7.500-4.500-7.500-9.500V6zM8.500 12l2.500 2.500 4.500-5",
  eye: "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  spark: "M12 3l1.800 6.200L20 11l-6.200 1.800L12 19l-1.800-6.200L4 11l6.200-1.800zM19 16v4M17 18h4",
  table: "M3.500 5h17v14h-17zM3.500 10h17M3.500 14.500h17M9 5v14",
  tree: "M12 4v5M12 9H6v4M12 9h6v4M4 13h4v4H4zM16 13h4v4h-4zM10 13h4v4h-4zM12 9v4",
  chart: "M4 20V4M4 20h16M8 16v-5M12 16V7M16 16v-3",
  code: "M8.500 7 3.500 12l5 5M15.500 7l5 5-5 5",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.500 2",
  folder: "M3 6.500h6l2 2.500h10v10.500H3z",
  external: "M13 4h7v7M20 4l-9 9M18 14v6H4V6h6",
};

/** A drawing by its name; unknown names draw nothing. */
export function Icon({ name, size = 24 }) {
  return html`<svg viewBox="0 0 24 24" width=${size} height=${size} fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round"
    stroke-linejoin="round" aria-hidden="true" focusable="false"><path d=${PATHS[name] || ""} /></svg>`;
}
