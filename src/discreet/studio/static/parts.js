// Components shared by the screens: buttons, dialogs, segments, pagers, notices.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { Icon } from "./icons.js";
import { useApp } from "./context.js";
import { texts } from "./texts.js";
import { count } from "./format.js";

let serial = 0;

/** A unique, stable name for `id` and `aria-…`. */
export const useName = (stem = "n") => useState(() => `${stem}-${(serial += 1)}`)[0];

export function Button({ icon, end, children, kind = "", label, ...rest }) {
  return html`<button type="button" class=${`button ${kind}`} aria-label=${label} title=${label} ...${rest}>
    ${icon && html`<${Icon} name=${icon} />`}${children}${end && html`<${Icon} name=${end} />`}
  </button>`;
}

/** A name that may break after its separators rather than within a word. */
export const Name = ({ of: text }) => String(text).split(/(?<=[_.\-/])/).map((part, place) => (place ? [html`<wbr />`, part] : part));

export function Notice({ kind = "", icon, children, role }) {
  const drawn = icon || { good: "check", warn: "warn", bad: "stop" }[kind] || "info";
  return html`<div class=${`notice ${kind}`} role=${role}><${Icon} name=${drawn} /><div>${children}</div></div>`;
}

export function Card({ title, text, actions, children, kind = "", id }) {
  const name = useName("card");
  return html`<section class=${`card ${kind}`} aria-labelledby=${title && kind !== "flush" ? name : undefined} id=${id}>
    ${title && html`<header><h2 id=${name}>${title}</h2>${actions}${text && html`<p>${text}</p>`}</header>`}
    ${children}
  </section>`;
}

export function Stat({ value, label, of }) {
  return html`<div class="stat"><span>${label}</span><b>${value}</b>${of && html`<span class="of">${of}</span>`}</div>`;
}

export const Waiting = ({ tall, label = texts.waiting }) => html`<div role="status" aria-label=${label} class=${`ghost ${tall ? "tall" : ""}`}></div>`;

export function Empty({ icon = "info", title, children, top }) {
  return html`<div class="empty"><${Icon} name=${icon} size=${46} />${top ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`}${children}</div>`;
}

/** A row of buttons, one of them pressed; arrow keys move. */
export function Segments({ label, options, value, onChange, describe }) {
  const box = useRef(null);
  const at = options.findIndex((option) => option.name === value);
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (at + step + options.length) % options.length;
    onChange(options[next].name);
    box.current.children[next].focus();
  };
  return html`<div class="segments" role="radiogroup" aria-label=${label} aria-describedby=${describe} ref=${box} onKeyDown=${onKeyDown}>
    ${options.map(
      (option, index) => html`<button type="button" role="radio" key=${option.name} aria-checked=${option.name === value ? "true" : "false"}
        tabindex=${index === Math.max(at, 0) ? 0 : -1} title=${option.text} data-name=${option.name} onClick=${() => onChange(option.name)}>
        ${option.icon && html`<${Icon} name=${option.icon} />`}<span>${option.title}</span></button>`,
    )}
  </div>`;
}

/** A modal dialog; the focus returns to where it was when it closes. */
export function Dialog({ title, onClose, children, actions, wide }) {
  const box = useRef(null);
  const name = useName("dialog");
  useLayoutEffect(() => {
    const dialog = box.current;
    const opener = document.activeElement;
    dialog.showModal();
    const first = dialog.querySelector("[data-first], input, select, textarea");
    if (first) first.focus();
    return () => {
      dialog.close();
      if (opener && opener.isConnected) opener.focus();
    };
  }, []);
  return html`<dialog ref=${box} class=${wide ? "wide" : ""} aria-labelledby=${name} onCancel=${(event) => (event.preventDefault(), onClose())}
    onClick=${(event) => event.target === box.current && onClose()}>
    <header><h2 id=${name}>${title}</h2><${Button} kind="bare icon compact" icon="close" label=${texts.close} onClick=${onClose} /></header>
    <div class="body">${children}</div>
    ${actions && html`<footer>${actions}</footer>`}
  </dialog>`;
}

/** Dialog that asks for a text. */
export function AskText({ title, label, help, value = "", done, onDone, onClose, rows }) {
  const [text, setText] = useState(value);
  const field = useRef(null);
  useEffect(() => field.current && field.current.select && field.current.select(), []);
  const name = useName("ask");
  const finish = (event) => {
    event && event.preventDefault();
    if (text.trim()) onDone(text.trim());
  };
  const onKeyDown = (event) => event.key === "Enter" && (!rows || event.ctrlKey || event.metaKey) && finish(event);
  const shared = { id: name, ref: field, value: text, onInput: (event) => setText(event.target.value), onKeyDown };
  return html`<${Dialog} title=${title} onClose=${onClose} actions=${[
    html`<${Button} onClick=${onClose}>${texts.cancel}</${Button}>`,
    html`<${Button} kind="main" disabled=${!text.trim()} onClick=${finish}>${done}</${Button}>`,
  ]}>
    <div class="field"><label for=${name}>${label}</label>
      ${rows ? html`<textarea rows=${rows} ...${shared}></textarea>` : html`<input type="text" autocomplete="off" ...${shared} />`}
      ${help && html`<p class="help">${help}</p>`}
    </div>
  </${Dialog}>`;
}

/** Dialog that asks for a confirmation. */
export function Confirm({ title, children, done, onDone, onClose, kind = "main" }) {
  return html`<${Dialog} title=${title} onClose=${onClose} actions=${[
    html`<${Button} data-first onClick=${onClose}>${texts.cancel}</${Button}>`,
    html`<${Button} kind=${kind} onClick=${onDone}>${done}</${Button}>`,
  ]}>${children}</${Dialog}>`;
}

export function Switch({ label, checked, onChange, hidden }) {
  return html`<label class="switch"><input type="checkbox" role="switch" checked=${checked} onChange=${(event) => onChange(event.target.checked)} />
    <span class=${hidden ? "unseen" : ""}>${label}</span></label>`;
}

/** A slider; `onMove` while it moves, `onRest` when it is released. */
export function Slider({ id, label, value, min, max, step = 1, onMove, onRest, text, describe }) {
  const [moving, setMoving] = useState(null);
  const shown = moving ?? value;
  const filled = ((Math.min(Math.max(shown, min), max) - min) / (max - min || 1)) * 100;
  const input = useRef(null);
  useLayoutEffect(() => input.current.style.setProperty("--filled", `${filled}%`), [filled]);
  useEffect(() => setMoving(null), [value]);
  const rest = (event) => {
    setMoving(null);
    if (Number(event.target.value) !== value) onRest(Number(event.target.value));
  };
  return html`<input type="range" ref=${input} id=${id} min=${min} max=${max} step=${step} value=${shown} aria-label=${label} aria-valuetext=${text ? text(shown) : undefined}
    aria-describedby=${describe} onInput=${(event) => (setMoving(Number(event.target.value)), onMove && onMove(Number(event.target.value)))} onChange=${rest} />`;
}

/** A number field with bounds; `onRest` on Enter or blur. */
export function NumberField({ id, label, value, min, max, step = "any", onRest, kind = "" }) {
  const { notify } = useApp();
  const [text, setText] = useState(null);
  const shown = text ?? (value ?? "");
  const bad = text !== null && (text === "" || !Number.isFinite(Number(text)) || (min !== undefined && min !== null && Number(text) < min) || (max !== undefined && max !== null && Number(text) > max));
  const rest = () => {
    if (text !== null && !bad && Number(text) !== value) onRest(Number(text));
    if (bad) notify(texts.errors.range(min ?? null, max ?? null, value), { bad: true });
    setText(null);
  };
  return html`<input type="number" id=${id} class=${kind} aria-label=${label} inputmode="decimal" min=${min} max=${max} step=${step} value=${shown} aria-invalid=${bad ? "true" : undefined}
    onInput=${(event) => setText(event.target.value)} onChange=${rest} onBlur=${rest} onKeyDown=${(event) => event.key === "Enter" && rest()} />`;
}

export function Pager({ offset, size, total, onMove, label }) {
  const last = Math.min(offset + size, total);
  return html`<nav class="pager" aria-label=${label || texts.pager.label}>
    <span class="figures" aria-live="polite">${total ? texts.pager.shown(count(offset + 1), count(last), count(total)) : texts.pager.none}</span><span class="grow"></span>
    <${Button} kind="compact icon" icon="left" label=${texts.pager.before} disabled=${offset <= 0} onClick=${() => onMove(Math.max(0, offset - size))} />
    <${Button} kind="compact icon" icon="right" label=${texts.pager.after} disabled=${last >= total} onClick=${() => onMove(offset + size)} />
  </nav>`;
}

export function More({ label, children, open }) {
  return html`<details class="more" open=${open}><summary><${Icon} name="right" size=${16} />${label}</summary>${children}</details>`;
}

/** Levels as small boxes; those filled are levels of detail that are kept, as on the page of a front. */
export function Pips({ level, levels, label }) {
  const boxes = Array.from({ length: Math.max(levels, 1) }, (_, index) => html`<i class=${index < Math.max(levels, 1) - level ? "on" : ""}></i>`);
  return html`<span class="pips" role="img" aria-label=${label || texts.levelOf(level, levels)}>${boxes}</span>`;
}

/** A thin bar for a share between 0 and 1. */
export function Meter({ value, kind = "after", label }) {
  return html`<div class="meter" role="img" aria-label=${label}><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width=${Math.max(0, Math.min(1, value || 0)) * 100} height="8" fill=${`var(--${kind})`} /></svg></div>`;
}
