// How a table is read: which texts are empty cells, decimal commas, encodings, dates and sheets.
import { html, useState } from "./vendor/preact.js";
import { at, send } from "./api.js";
import { useApp } from "./context.js";
import { Button, Dialog, Notice, useName } from "./parts.js";
import { count } from "./format.js";
import { list, texts } from "./texts.js";

const words = texts.reading;
const ENCODINGS = ["utf-8", "windows-1252", "latin1", "utf-16", "cp1250", "cp1251", "mac_roman"];
const DATES = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d"];
const OTHER = "other";

export const USUAL = { na: [], decimal: ".", encoding: null, date_format: null, sheet: null, missing_codes: "keep" };

/** The options of a form that differ from the usual ones, as the server takes them. */
export const given = (options) => Object.fromEntries(Object.entries(options).filter(([name, value]) => name in USUAL && JSON.stringify(value) !== JSON.stringify(USUAL[name])));

/** Texts separated by commas; in quotes, a text may have a comma itself. */
const split = (text) => [...text.matchAll(/\s*(?:"([^"]*)"|([^",]+))\s*(?:,|$)/g)].map(([, quoted, plain]) => quoted ?? plain.trim()).filter(Boolean);
const join = (marks) => marks.map((mark) => (mark.includes(",") ? `"${mark}"` : mark)).join(", ");

/** The fields for the options that a format has. */
export function ReadingFields({ options, possible, sheets = [], onChange }) {
  const [marks, setMarks] = useState(join(options.na));
  const [other, setOther] = useState(options.date_format !== null && !DATES.includes(options.date_format));
  const names = Object.fromEntries(Object.keys(USUAL).map((name) => [name, useName(name)]));
  const set = (change) => onChange({ ...options, ...change });
  const choice = (name, value, choices, help, more) => html`<div class="field"><label for=${names[name]}>${words[name]}</label>
    <select id=${names[name]} value=${value} onChange=${(event) => (more || ((chosen) => set({ [name]: chosen })))(event.target.value)}>${choices.map(([each, title]) => html`<option value=${each}>${title}</option>`)}</select>${help && html`<p class="help">${help}</p>`}</div>`;
  const encodings = [...new Set([...ENCODINGS, options.encoding ?? "utf-8"])];
  const fields = {
    na: () => html`<div class="field"><label for=${names.na}>${words.na}</label><input type="text" id=${names.na} spellcheck=${false} autocomplete="off" placeholder="NA, ?, -1" value=${marks}
      onInput=${(event) => (setMarks(event.target.value), set({ na: split(event.target.value) }))} /><p class="help">${words.naHelp}</p></div>`,
    decimal: () => choice("decimal", options.decimal, [[".", words.point], [",", words.comma]]),
    encoding: () => choice("encoding", options.encoding ?? "utf-8", encodings.map((each) => [each, words.encodings[each] || each]), words.encodingHelp, (chosen) => set({ encoding: chosen === "utf-8" ? null : chosen })),
    date_format: () => html`<div class="stack tight">${choice("date_format", other ? OTHER : options.date_format ?? "", [["", words.isoDate], ...DATES.map((each) => [each, words.dates[each]]), [OTHER, words.otherDate]], null,
      (chosen) => (setOther(chosen === OTHER), set({ date_format: chosen === OTHER ? options.date_format : chosen || null })))}
      ${other && html`<input type="text" class="mono" aria-label=${words.pattern} spellcheck=${false} autocomplete="off" placeholder="%d.%m.%Y" value=${options.date_format ?? ""} onInput=${(event) => set({ date_format: event.target.value || null })} /><p class="help small quiet">${words.patternHelp}</p>`}</div>`,
    sheet: () => choice("sheet", options.sheet ?? sheets[0], sheets.map((each) => [each, each]), null, (chosen) => set({ sheet: chosen === sheets[0] ? null : chosen })),
    missing_codes: () => choice("missing_codes", options.missing_codes, [["missing", words.codesMissing], ["keep", words.codesKept]]),
  };
  return html`<div class="fields reading">${possible.filter((name) => fields[name] && (name !== "sheet" || sheets.length)).map((name) => html`<div key=${name}>${fields[name]()}</div>`)}</div>`;
}

/** Dialog in which an open table is read in another way. */
export function ReadAgain({ onClose }) {
  const { project, change, setProject, notify } = useApp();
  const facts = project.reading;
  const [options, setOptions] = useState(() => Object.fromEntries(Object.keys(USUAL).map((name) => [name, facts[name]])));
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const read = () => {
    setProblem(null);
    setBusy(true);
    change(() => send("PATCH", at.project(project.id), { reading: given(options) }), { quiet: true }).then(
      (found) => (setProject(found), notify(words.done), onClose()),
      (error) => (setProblem(error.message), setBusy(false)),
    );
  };
  return html`<${Dialog} title=${words.title} wide onClose=${onClose} actions=${[
    html`<${Button} onClick=${onClose}>${texts.cancel}</${Button}>`,
    html`<${Button} kind="main" disabled=${busy} onClick=${read}>${busy ? words.busy : words.apply}</${Button}>`,
  ]}>
    <p class="quiet">${words.text(project.file)}</p>
    ${problem && html`<${Notice} kind="bad" role="alert"><p>${problem}</p></${Notice}>`}
    <${ReadingFields} options=${options} possible=${facts.possible} sheets=${facts.sheets} onChange=${setOptions} />
    <p class="small quiet">${words.keeps}</p>
  </${Dialog}>`;
}

/** What differs from the usual way to read a file, in a sentence. */
export function readingText(facts) {
  const found = [];
  if (facts.na.length) found.push(words.said.na(list(facts.na)));
  if (facts.decimal !== ".") found.push(words.said.decimal);
  if (facts.encoding) found.push(words.said.encoding(words.encodings[facts.encoding] || facts.encoding));
  if (facts.date_format) found.push(words.said.dates(words.dates[facts.date_format] || facts.date_format));
  if (facts.sheet) found.push(words.said.sheet(facts.sheet));
  if (facts.missing_codes === "missing") found.push(words.said.codes);
  return found.join("; ");
}

/** Texts such as NA, and numbers such as -999, that were read as values, and a way to read them as empty cells. */
export function Marks() {
  return html`<${Marked} of="marks" said=${words.marks} why=${words.marksText} /><${Marked} of="codes" said=${words.codes} why=${words.codesText} />`;
}

function Marked({ of: kind, said, why }) {
  const { project, patch } = useApp();
  const marked = project.columns.filter((column) => Object.keys(column[kind]).length);
  if (!marked.length) return null;
  const marks = [...new Set(marked.flatMap((column) => Object.keys(column[kind])))];
  const cells = marked.flatMap((column) => Object.values(column[kind])).reduce((sum, number) => sum + number, 0);
  const facts = project.reading;
  const read = () => patch({ reading: given({ ...facts, na: [...new Set([...facts.na, ...marks])] }) });
  return html`<${Notice} role="status"><p><b>${said(count(cells), cells, list(marks, "or"), list(marked.map((column) => column.name)))}</b> ${why}</p>
    <p class="row"><${Button} kind="compact" onClick=${read}>${words.marksDo(list(marks))}</${Button}></p></${Notice}>`;
}
