// Building a hierarchy by a rule: the rules that suit a column and their arguments.
import { html, useEffect, useState } from "./vendor/preact.js";
import { useApp } from "./context.js";
import { Button, useName } from "./parts.js";
import { readForm } from "./forms.js";
import { texts } from "./texts.js";

const words = texts.builders;
const NUMBERS = ["integer", "decimal"];

/** The rules that suit a column of this type, most useful first. */
function suitable(type) {
  if (type === "date") return ["auto", "dates", "ranges", "flat"];
  if (NUMBERS.includes(type)) return ["auto", "intervals", "ranges", "flat"];
  return ["auto", "mask", "groups", "ordered", "flat"];
}

const FIRST = { auto: "auto", flat: "flat", dates: "dates(month, year, decade)", intervals: "intervals(5, 10, 20)", ranges: "ranges([0, 18, 65])", mask: "mask", groups: "groups({First: [a, b], Second: [c, d]})", ordered: "ordered([low, middle, high])" };
const FREE = ["intervals", "ranges", "mask", "groups", "ordered", "dates"];
/** Rules of any type start from an example with numbers; of dates from one with dates. */
const FIRST_OF_DATES = { ranges: "ranges([1950-01-01, 1980-01-01])", top: "top(2010-01-01)", bottom: "bottom(1940-01-01)" };
const UNITS = ["week", "month", "quarter", "year", "decade"];

/** Rules that have no field of their own here: those that were added to the vocabulary, if they suit the type. */
const added = (rules, type) => rules.filter((each) => !FIRST[each.name] && (!each.types?.length || each.types.includes(type))).map((each) => each.name);

export function Builders({ column, form, edited, onBuild }) {
  const { about } = useApp();
  const offered = [...suitable(column.type), ...added(about.vocabulary.builders, column.type)];
  const known = new Map(about.vocabulary.builders.map((each) => [each.name, each]));
  const firstForm = (each) => (column.type === "date" && FIRST_OF_DATES[each]) || FIRST[each] || known.get(each)?.example || each;
  const current = edited ? "own" : form ? readForm(form).name : "auto";
  const [name, setName] = useState(current);
  const [text, setText] = useState(form || "auto");
  const [field, rule] = [useName("form"), useName("rule")];
  useEffect(() => (setName(current), setText(form || "auto")), [form, edited]);
  const pick = (next) => {
    setName(next);
    setText(next === current && form ? form : firstForm(next));
    if (["auto", "flat"].includes(next) && next !== current) onBuild(firstForm(next));
  };
  const names = offered.includes(name) ? offered : [name, ...offered];
  const title = (each) => words[each]?.title || known.get(each)?.title || each;
  return html`<div class="builder">
    <div class="field"><label for=${rule}>${words.rule}</label><select id=${rule} value=${name} onChange=${(event) => pick(event.target.value)}>${names.map((each) => html`<option value=${each}>${title(each)}</option>`)}</select></div>
    ${name === "dates" ? html`<${Units} text=${text} onText=${(next) => (setText(next), onBuild(next))} />` : (FREE.includes(name) || (known.has(name) && !FIRST[name])) && html`<div class="field wide"><label for=${field}>${words[name]?.label || title(name)}</label>
      <div class="row nowrap"><input type="text" id=${field} class="mono" spellcheck=${false} autocomplete="off" value=${inner(text)} placeholder=${inner(firstForm(name))} onInput=${(event) => setText(outer(name, event.target.value))} onKeyDown=${(event) => event.key === "Enter" && onBuild(text)} />
        <${Button} kind=${text !== form ? "main" : ""} disabled=${text === form} onClick=${() => onBuild(text)}>${words.apply}</${Button}></div></div>`}
    <p class="help quiet small">${words[name]?.text || known.get(name)?.text || ""}</p>
  </div>`;
}

/** The arguments of a form, and the form of some arguments. */
const inner = (text) => (text.includes("(") ? text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")) : "");
const outer = (name, given) => (given.trim() ? `${name}(${given.trim()})` : name);

function Units({ text, onText }) {
  const on = new Set(inner(text).split(",").map((each) => each.trim().replace(/["']/g, "")).filter(Boolean));
  const turn = (unit) => {
    const next = UNITS.filter((each) => (each === unit ? !on.has(unit) : on.has(each)));
    if (next.length) onText(`dates(${next.join(", ")})`);
  };
  return html`<fieldset class="units"><legend>${words.dates.label}</legend>${UNITS.map((unit) => html`<label class="tick"><input type="checkbox" checked=${on.has(unit)} onChange=${() => turn(unit)} />${words.units[unit] || unit}</label>`)}</fieldset>`;
}
