// The route is kept in the address, #/p/ID/goals?job=…, so that it survives a reload.

export const STEPS = ["data", "hierarchies", "goals", "run", "explore", "risk", "release"];

/** Read an address such as `#/p/3f2a/explore?job=7`. */
export function read(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [prefix, project, step] = path.split("/").map(decodeURIComponent);
  const query = Object.fromEntries(new URLSearchParams(search));
  if (prefix !== "p" || !project) return { project: null, step: "start", query };
  return { project, step: STEPS.includes(step) ? step : "data", query };
}

/** Write an address; empty query parameters are dropped. */
export function write(project, step, query = {}) {
  if (!project) return "#/";
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = kept.length ? `?${new URLSearchParams(kept)}` : "";
  return `#/p/${encodeURIComponent(project)}/${step}${search}`;
}
