// The points of a front as the chart draws them.
import { texts } from "./texts.js";

/** Points with position, title and id; and the id of the suggested one. */
export function frontPoints(found) {
  const points = found.points.map((point) => {
    const x = point.k ?? Object.values(point.values)[0];
    return { ...point, id: String(point.number), x, loss: point.normalized_loss ?? point.loss, title: texts.explore.pointTitle(x) };
  });
  return { points, knee: found.knee ? String(found.knee.point) : null };
}
