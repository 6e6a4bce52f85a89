// The field's terms and the plain words for them on the page. docs/studio.md shows the same table.

export const TERMS = {
  identifier: { role: "Remove", word: "removed" },
  "quasi-identifier": { role: "Make coarser", word: "made coarser" },
  sensitive: { role: "Protect", word: "protected" },
  class: { role: "Predict", word: "predicted" },
  insensitive: { role: "Keep", word: "kept" },
  person: { role: "Whose row", word: "the person of a row" },
  household: { role: "Household", word: "the household of a row" },
  "equivalence class": { word: "group" },
  suppressed: { word: "left out" },
  "privacy model": { word: "promise" },
  "information loss": { word: "detail lost" },
  "generalization scheme": { word: "how values may be joined" },
  cost: { word: "what is kept low" },
  solver: { word: "method" },
  "lower bound": { word: "cannot go below" },
  "Pareto front": { word: "every trade-off" },
  hierarchy: { word: "tree" },
};

/** What to do with a column of each role. */
export const ROLES = Object.fromEntries(
  Object.entries(TERMS)
    .filter(([, { role }]) => role)
    .map(([term, { role }]) => [term, role]),
);
