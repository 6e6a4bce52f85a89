// The first screen: upload a file, try a sample, or open a recent project.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { at, get, post, send, upload } from "../api.js";
import { given, ReadingFields, USUAL } from "../reading.js";
import { useApp } from "../context.js";
import { Button, Card, Confirm, Meter, More, Name, Notice } from "../parts.js";
import { Icon } from "../icons.js";
import { ago, bytes, count, share } from "../format.js";
import { texts } from "../texts.js";

export function Start() {
  const { about, open, fail } = useApp();
  const [projects, setProjects] = useState(null);
  const [sending, setSending] = useState(null);
  const [problem, setProblem] = useState(null);
  const [over, setOver] = useState(false);
  const [erasing, setErasing] = useState(null);
  const [making, setMaking] = useState(null);
  const [reading, setReading] = useState(USUAL);
  const [refused, setRefused] = useState(null);
  const picker = useRef(null);
  const load = () => get(at.projects).then((found) => setProjects(found.projects || found), fail);
  useEffect(() => void load(), []);

  const take = async (file) => {
    if (!file || sending) return;
    setProblem(null);
    setSending({ name: file.name, share: 0 });
    try {
      const project = await upload(at.newProject(given(reading)), file, (part) => setSending({ name: file.name, share: part }));
      open(project.id);
    } catch (error) {
      setProblem(error.message);
      setRefused(file);
    } finally {
      setSending(null);
    }
  };
  const sample = async (name, rows) => {
    setProblem(null);
    setMaking(name);
    try {
      open((await post(at.projects, { sample: name, rows })).id);
    } catch (error) {
      setProblem(error.message);
    } finally {
      setMaking(null);
    }
  };
  const onDrop = (event) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const erase = async () => {
    await send("DELETE", at.project(erasing.id)).catch(fail);
    setErasing(null);
    load();
  };

  return html`<div class="start">
    <div class="hero">
      <div><h1>${texts.start.title}</h1><p class="lead">${texts.start.lead}</p></div>
      <${Crowd} />
    </div>
    ${problem && html`<${Notice} kind="bad" role="alert"><p>${problem}</p></${Notice}>`}
    <div class="columns two">
      <section aria-labelledby="drop-title" class=${`drop card ${over ? "over" : ""}`} onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
        <${Icon} name="upload" size=${44} />
        <h2 id="drop-title">${texts.start.drop}</h2>
        <p class="quiet">${texts.start.kinds}${about.limits && about.limits.upload ? ` ${texts.start.limit(bytes(about.limits.upload))}` : ""}</p>
        ${sending
          ? html`<div class="sending" role="status"><span>${texts.start.sending(sending.name, share(sending.share, 0))}</span><${Meter} value=${sending.share} kind="accent" label=${share(sending.share, 0)} /></div>`
          : html`<${Button} kind="main large" icon="folder" onClick=${() => picker.current.click()}>${texts.start.choose}</${Button}>`}
        <input type="file" class="unseen" aria-hidden="true" ref=${picker} tabindex="-1" aria-label=${texts.start.choose} accept=".csv,.tsv,.txt,.parquet,.json,.jsonl,.ndjson,.xlsx,.sav,.zsav,.por,.dta,.xpt,.sas7bdat,.gz" onChange=${(event) => take(event.target.files[0])} />
        <div class="reading-start"><${More} label=${texts.reading.title} open=${Boolean(refused)}><${ReadingFields} options=${reading} possible=${["na", "decimal", "encoding", "date_format"]} onChange=${setReading} />
          ${refused && !sending && html`<p class="row"><${Button} onClick=${() => take(refused)}>${texts.reading.again(refused.name)}</${Button}></p>`}</${More}></div>
        <p class="safe"><${Icon} name="lock" size=${18} />${texts.start.private}</p>
      </section>
      <div class="stack">
        ${(about.samples || []).map((each) => html`<${Sample} key=${each.name} sample=${each} busy=${making} onMake=${sample} />`)}
        ${projects && projects.length > 0 && html`<${Card} title=${texts.start.recent}><ul class="recent">
          ${projects.map((one) => html`<li key=${one.id}><a href=${`#/p/${encodeURIComponent(one.id)}/${one.step || "data"}`}><${Icon} name="table" /><span><b><${Name} of=${one.name} /></b>
              <span class="quiet small">${texts.start.project(count(one.rows), one.step ? texts.steps[one.step] : null, ago(one.created))}</span></span></a>
            <${Button} kind="bare icon compact" icon="trash" label=${texts.start.erase(one.name)} onClick=${() => setErasing(one)} /></li>`)}
        </ul></${Card}>`}
      </div>
    </div>
    <ol class="promise">${texts.start.promise.map(([icon, title, text]) => html`<li><${Icon} name=${icon} /><h3>${title}</h3><p>${text}</p></li>`)}</ol>
    ${erasing && html`<${Confirm} title=${texts.start.eraseTitle} done=${texts.start.eraseDo} kind="stop" onClose=${() => setErasing(null)} onDone=${erase}><p>${texts.start.eraseText(erasing.name)}</p></${Confirm}>`}
  </div>`;
}

function Sample({ sample, busy, onMake }) {
  const sizes = sample.sizes || [2000, 20000, 100000];
  const [rows, setRows] = useState(sample.rows && sizes.includes(sample.rows) ? sample.rows : sizes[1] || sizes[0]);
  return html`<${Card} title=${sample.title || sample.name} text=${sample.text}>
    <div class="row"><label class="row" for=${`rows-${sample.name}`}>${texts.start.rows}</label>
      <select id=${`rows-${sample.name}`} class="narrow" value=${rows} onChange=${(event) => setRows(Number(event.target.value))}>${sizes.map((size) => html`<option value=${size}>${count(size)}</option>`)}</select>
      <${Button} icon="spark" disabled=${Boolean(busy)} onClick=${() => onMake(sample.name, rows)}>${busy === sample.name ? texts.start.making : texts.start.take}</${Button}></div>
  </${Card}>`;
}

/** One person who stands out among others, then five who look the same. */
function Crowd() {
  const person = (x, y, kind) => html`<g class=${kind} transform=${`translate(${x} ${y})`}><circle cx="0" cy="0" r="8" /><path d="M-14 30a14 16 0 0 1 28 0z" /></g>`;
  const positions = [[30, 26], [70, 20], [110, 26], [50, 58], [90, 58]];
  return html`<svg class="crowd" viewBox="0 0 380 104" aria-hidden="true">
    ${positions.map(([x, y], index) => person(x, y, index === 3 ? "found" : "other"))}
    <path class="arrow" d="M158 52h52M200 42l11 10-11 10" />
    ${positions.map(([x, y]) => person(x + 230, y, "alike"))}
  </svg>`;
}
