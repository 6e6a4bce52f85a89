// Values that are replaced before anything else: shifted dates and keyed pseudonyms.
import { html, useState } from "./vendor/preact.js";
import { at, send } from "./api.js";
import { useApp } from "./context.js";
import { Notice, NumberField, useName } from "./parts.js";
import { readForm, writeForm } from "./forms.js";
import { texts } from "./texts.js";

const words = texts.derive;
const DAYS = 180;
const LENGTH = 20;
const MOST_DAYS = 36525;

/** What becomes of the values of a column, in a sentence. */
export function deriveText(form) {
  const { name, plain, options } = readForm(form);
  if (name === "shift_dates") return words.shifted(options.person ?? plain[0], options.days ?? plain[1] ?? DAYS);
  return words.pseudonyms;
}

/** How to replace the values of a column. */
export function Derive({ column }) {
  const { about, project, change, setProject } = useApp();
  const [problem, setProblem] = useState(null);
  const [choiceName, personName, daysName, lengthName] = [useName("derive"), useName("person"), useName("days"), useName("length")];
  const ways = about.vocabulary.derivations.filter((each) => each.name !== "shift_dates" || column.type === "date" || column.derive);
  const now = column.derive ? readForm(column.derive) : null;
  const people = project.columns.filter((each) => each.name !== column.name);
  const likely = people.find((each) => each.role === "person") || people.find((each) => each.suggested === "identifier") || people[0];
  const person = now && (now.options.person ?? now.plain[0]);
  const days = Number((now && (now.options.days ?? now.plain[1])) ?? DAYS);
  const length = Number((now && (now.options.length ?? now.plain[0])) ?? LENGTH);
  const set = (form) => {
    setProblem(null);
    change(() => send("PATCH", at.project(project.id), { derive: { [column.name]: form } }), { quiet: true }).then(setProject, (error) => setProblem(error.message));
  };
  const shift = (who, by) => set(writeForm("shift_dates", [], { person: who, days: by }));
  const pick = (name) => (name === "" ? set(null) : name === "shift_dates" ? shift(likely.name, DAYS) : set(name));
  return html`<section class="derive" aria-label=${words.title}><h3>${words.title}</h3>
    <div class="fields"><div class="field"><label for=${choiceName}>${words.choose}</label><select id=${choiceName} value=${now ? now.name : ""} onChange=${(event) => pick(event.target.value)}>
      <option value="">${words.leave}</option>${ways.filter((each) => each.name !== "shift_dates" || people.length).map((each) => html`<option value=${each.name}>${each.title}</option>`)}</select>
      <p class="help">${now ? (ways.find((each) => each.name === now.name) || {}).text : words.leaveText}</p></div>
    ${now && now.name === "shift_dates" && html`<div class="field"><label for=${personName}>${words.person}</label><select id=${personName} value=${person} onChange=${(event) => shift(event.target.value, days)}>${people.map((each) => html`<option value=${each.name}>${each.name}</option>`)}</select><p class="help">${words.personHelp}</p></div>
      <div class="field"><label for=${daysName}>${words.days}</label><${NumberField} id=${daysName} value=${days} min=${1} max=${MOST_DAYS} step=${1} onRest=${(value) => shift(person, Math.round(value))} /></div>`}
    ${now && now.name === "pseudonym" && html`<div class="field"><label for=${lengthName}>${words.length}</label><${NumberField} id=${lengthName} value=${length} min=${16} max=${64} step=${1} onRest=${(value) => set(`pseudonym(length=${Math.round(value)})`)} /></div>`}</div>
    ${problem && html`<${Notice} kind="bad" role="alert"><p>${problem}</p></${Notice}>`}
    ${now && html`<${Notice} kind="warn"><p>${words.warning[now.name] || ""} ${words.key}</p></${Notice}>`}
  </section>`;
}
