// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const some = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export const count = (value) => (value === null || value === undefined ? "–" : whole.format(value));

export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value) || Math.abs(value) > 1e200) return "–";
  if (Math.abs(value) >= 1e15) return value.toExponential(2);
  return Math.abs(value) >= 1000 ? whole.format(value) : some.format(value);
}

/** A share such as 0.0314 as “3.1 %”. */
export function share(value, digits) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const hundred = value > -5e-5 && value < 0 ? 0 : value * 100; // a rounding error is no loss below zero
  const places = digits ?? (hundred === 0 || hundred >= 99.95 ? 0 : hundred < 0.1 ? 3 : hundred < 10 ? 1 : hundred % 1 < 0.05 ? 0 : 1);
  return `${hundred.toFixed(places)} %`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0 s";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "KB", "MB", "GB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(value, 1)) / 3));
  return `${(value / 1000 ** step).toFixed(step && value / 1000 ** step < 10 ? 1 : 0)} ${units[step]}`;
}

export function ago(stamp) {
  const time = typeof stamp === "number" ? stamp * 1000 : Date.parse(stamp);
  if (!Number.isFinite(time)) return "";
  const minutes = Math.round((Date.now() - time) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`;
  return new Date(time).toLocaleDateString("en");
}
