// Find somebody: who matches what a neighbour knows, before and in the release, and what that tells.
import { html, useState } from "../vendor/preact.js";
import { at, post } from "../api.js";
import { useLoaded } from "../context.js";
import { Svg, useWidth } from "../charts.js";
import { Button, Card, Name, Notice, Stat, Waiting } from "../parts.js";
import { count } from "../format.js";
import { texts } from "../texts.js";

const words = texts.find;
const FEW = 5;
const WIDE = 760; // where two charts fit beside each other

export function Find({ id }) {
  const [result] = useLoaded(`${at.job(id)}/result`);
  return result ? html`<${Form} id=${id} result=${result} />` : html`<${Waiting} tall />`;
}

function Form({ id, result }) {
  const [known, setKnown] = useState({});
  const [more, setMore] = useState([]);
  const [answer, setAnswer] = useState({});
  const [box, width] = useWidth(420);
  const quasi = result.attributes.map((each) => each.name);
  const others = result.others.map((each) => each.name).filter((name) => !more.includes(name));
  const look = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value.trim()));
    setAnswer({ busy: true });
    try {
      setAnswer({ found: await post(`${at.job(id)}/find`, { known: given, width: width > WIDE ? Math.floor(width / 2) - 20 : width }) });
    } catch (error) {
      setAnswer({ error });
    }
  };
  return html`<${Card} title=${words.title} text=${words.text}>
    <form class="find" onSubmit=${look}>
      ${[...quasi, ...more].map((name) => html`<label class="field" key=${name}><span><${Name} of=${name} /></span><input type="text" autocomplete="off" spellcheck=${false} value=${known[name] || ""}
        aria-invalid=${answer.error && answer.error.field === name ? "true" : undefined} onInput=${(event) => setKnown({ ...known, [name]: event.target.value })} /></label>`)}
      ${others.length > 0 && html`<label class="field"><span>${words.more}</span><select value="" onChange=${(event) => event.target.value && setMore([...more, event.target.value])}><option value="">${words.choose}</option>${others.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
      <${Button} kind="main" icon="eye" type="submit" disabled=${answer.busy || !Object.values(known).some((value) => value.trim())}>${words.look}</${Button}>
    </form>
    <p class="small quiet">${words.hint}</p>
    <div class="found stack" role="status" aria-live="polite" ref=${box}>
      ${answer.busy && html`<p class="quiet"><span class="spinner"></span> ${words.looking}</p>`}
      ${answer.error && html`<${Notice} kind="warn"><p>${answer.error.message}</p></${Notice}>`}
      ${answer.found && html`<${Found} found=${answer.found} />`}
    </div>
  </${Card}>`;
}

function Found({ found }) {
  const certain = found.learnt.filter((each) => each.tells);
  return html`<div class="stats"><${Stat} label=${words.before} value=${count(found.before)} of=${words.beforeText} /><${Stat} label=${words.after} value=${count(found.after)} of=${words.afterText(found.after)} /></div>
    <${Notice} kind=${found.found || certain.length ? "bad" : found.after && found.after < FEW ? "warn" : "good"}>${found.sentences.map((each) => html`<p>${each}</p>`)}</${Notice}>
    ${found.after > 0 && html`<div class="columns two">${found.learnt.map((each) => html`<section key=${each.column}><h3>${each.column} ${each.sensitive && html`<span class="chip secret">${words.sensitive}</span>`}</h3><${Svg} markup=${found.charts[each.column]} />
      ${each.values.length > words.most && html`<p class="small quiet">${words.others(each.values.length - words.most)}</p>`}</section>`)}</div>`}
    ${found.notes.map((each) => html`<p class="small quiet">${each}</p>`)}`;
}
