// The points of a front as the chart draws them.
import { texts } from "./texts.js";

/** Points with position, title and id; the id of the suggested one, if one is, and of the one to show first. */
export function frontPoints(found) {
  const points = found.points.map((point) => {
    const x = point.k ?? Object.values(point.values)[0];
    return { ...point, id: String(point.number), x, loss: point.normalized_loss ?? point.loss, title: texts.explore.pointTitle(x) };
  });
  const first = found.knee ? String(found.knee.point) : points.length ? points[0].id : null;
  return { points, first, knee: found.knee && found.knee.recommended ? first : null };
}
