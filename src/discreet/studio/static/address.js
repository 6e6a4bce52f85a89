// The address says where the reader is: #/p/ID/goals?job=…; reloading comes back to the same place.

export const STEPS = ["data", "hierarchies", "goals", "run", "explore", "risk", "release"];

/** Read an address such as `#/p/3f2a/explore?job=7`. */
export function read(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [room, project, step] = path.split("/").map(decodeURIComponent);
  const query = Object.fromEntries(new URLSearchParams(search));
  if (room !== "p" || !project) return { project: null, step: "start", query };
  return { project, step: STEPS.includes(step) ? step : "data", query };
}

/** Write an address; what is empty in the query is left out. */
export function write(project, step, query = {}) {
  if (!project) return "#/";
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = kept.length ? `?${new URLSearchParams(kept)}` : "";
  return `#/p/${encodeURIComponent(project)}/${step}${search}`;
}
