// The page: the screen named by the address, between the header with its steps and the footer.
import { html, render, useCallback, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { at, get, post, send } from "./api.js";
import { read, STEPS, write } from "./address.js";
import { App } from "./context.js";
import { AskText, Button, Notice, Waiting } from "./parts.js";
import { Icon } from "./icons.js";
import { texts } from "./texts.js";
import { Start } from "./screens/start.js";
import { Data } from "./screens/data.js";
import { Hierarchies } from "./screens/hierarchies.js";
import { Goals } from "./screens/goals.js";
import { Run } from "./screens/run.js";
import { Explore } from "./screens/explore.js";
import { Risk } from "./screens/risk.js";
import { Release } from "./screens/release.js";

const SCREENS = { data: Data, hierarchies: Hierarchies, goals: Goals, run: Run, explore: Explore, risk: Risk, release: Release };

/** Why a step cannot be opened yet; null if it can. */
function locked(step, project) {
  if (!project) return texts.steps.needsProject;
  const quasi = project.columns.some((column) => column.role === "quasi-identifier");
  if (["hierarchies", "goals", "run"].includes(step) && !quasi) return texts.steps.needsQuasi;
  if (["explore", "risk", "release"].includes(step) && !project.jobs.some((job) => job.state === "done")) return project.jobs.some((job) => ["waiting", "running"].includes(job.state)) ? texts.steps.searching : texts.steps.needsResult;
  return null;
}

/** Whether the results of a step were made with other settings than the current ones. */
function outdated(step, project) {
  if (!project || !["run", "explore", "risk", "release"].includes(step)) return false;
  const latest = project.jobs.find((job) => job.kind === "release" && job.state === "done");
  return Boolean(latest && latest.changed_since.length);
}

function done(step, project, current) {
  if (!project) return false;
  if (["data", "hierarchies", "goals"].includes(step)) return STEPS.indexOf(step) < STEPS.indexOf(current) || project.jobs.some((job) => job.state === "done");
  if (step === "run") return project.jobs.some((job) => job.state === "done");
  return STEPS.indexOf(step) < STEPS.indexOf(current);
}

function Stepper({ project, step, link }) {
  const current = useRef(null);
  useEffect(() => {
    const here = current.current;
    const row = here && here.closest("nav");
    if (row) row.scrollTo({ left: row.scrollLeft + here.getBoundingClientRect().left - row.getBoundingClientRect().left - 60 });
  }, [step, Boolean(project)]);
  return html`<nav class="stepper" aria-label=${texts.steps.label}><ol>
    ${STEPS.map((name, index) => {
      const why = locked(name, project);
      const here = name === step;
      const old = !why && outdated(name, project);
      const finished = !here && !why && !old && done(name, project, step);
      const content = html`<span class="number" aria-hidden="true">${finished ? html`<${Icon} name="check" size=${14} />` : index + 1}</span><span class="label">${texts.steps[name]}</span>
        ${finished && html`<span class="unseen">${texts.steps.done}</span>`}${old && html`<span class="old" title=${texts.steps.old}><${Icon} name="clock" size=${15} /><span class="unseen">${texts.steps.old}</span></span>`}`;
      const spoken = [texts.steps[name], finished && texts.steps.done, old && texts.steps.old].filter(Boolean).join(", "); // on phones the label is hidden
      return html`<li key=${name}>${why
        ? html`<span class="step locked" role="link" title=${why} aria-disabled="true" aria-label=${`${texts.steps[name]}: ${why}`}>${content}</span>`
        : html`<a class=${`step ${finished ? "done" : ""}`} href=${link(name)} aria-current=${here ? "step" : undefined} ref=${here ? current : undefined} aria-label=${spoken}>${content}</a>`}</li>`;
    })}
  </ol></nav>`;
}

/** The project as it will be after a change, shown until the server answers. */
function optimistic(project, { name = project.name, goals = {}, roles = {}, types = {}, pseudonyms = project.pseudonyms }) {
  const columns = project.columns.map((column) => ({ ...column, role: roles[column.name] || column.role, type: types[column.name] || column.type }));
  return { ...project, name, pseudonyms, goals: { ...project.goals, ...goals }, columns };
}

const THEMES = ["auto", "light", "dark"];

function ThemeSwitch() {
  const [theme, setTheme] = useState(() => localStorage.getItem("discreet-theme") || "auto");
  const turn = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    if (next === "auto") {
      localStorage.removeItem("discreet-theme");
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem("discreet-theme", next);
      document.documentElement.dataset.theme = next;
    }
    setTheme(next);
  };
  return html`<${Button} kind="bare icon" icon=${{ auto: "auto", light: "sun", dark: "moon" }[theme]} label=${texts.theme[theme]} onClick=${turn} />`;
}

function Toasts({ toasts, onClose }) {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.map((toast) => html`<div class="toast" key=${toast.id}><${Icon} name=${toast.bad ? "warn" : "check"} /><p>${toast.text}</p>
      ${toast.action && html`<button type="button" onClick=${() => (toast.action.run(), onClose(toast.id))}>${toast.action.label}</button>`}
      <button type="button" aria-label=${texts.close} onClick=${() => onClose(toast.id)}><${Icon} name="close" size=${15} /></button></div>`)}
  </div>`;
}

let toastSerial = 0;

/** Shows an error of a screen instead of the screen; the rest of the page keeps working. */
function Safe({ children }) {
  const [error, reset] = useErrorBoundary((problem) => console.error(problem));
  if (!error) return children;
  return html`<${Notice} kind="bad" role="alert"><p>${texts.errors.page(error.message)}</p><p><${Button} kind="compact" onClick=${reset}>${texts.again}</${Button}></p></${Notice}>`;
}

function Page() {
  const [route, setRoute] = useState(read);
  const [about, setAbout] = useState(null);
  const [project, setProject] = useState(null);
  const [failure, setFailure] = useState(null);
  const [toasts, setToasts] = useState([]);
  const [renaming, setRenaming] = useState(false);
  const [saving, setSaving] = useState(0);
  const main = useRef(null);
  const queue = useRef(Promise.resolve());
  const own = useRef({});

  const closeToast = useCallback((id) => setToasts((list) => list.filter((toast) => toast.id !== id)), []);
  const notify = useCallback((text, options = {}) => {
    const toast = { id: (toastSerial += 1), text, ...options };
    setToasts((list) => [...list.slice(-2), toast]);
    setTimeout(() => closeToast(toast.id), options.bad ? 9000 : 5000);
  }, []);
  const fail = useCallback((error) => error.name !== "AbortError" && notify(error.message, { bad: true }), []);

  useEffect(() => {
    const onHash = () => setRoute(read());
    addEventListener("hashchange", onHash);
    get(at.about).then(setAbout, setFailure);
    return () => removeEventListener("hashchange", onHash);
  }, []);

  useEffect(() => {
    setFailure(null);
    if (!route.project) return setProject(null);
    if (project && project.id === route.project) return undefined;
    setProject(null);
    let gone = false;
    get(at.project(route.project)).then((found) => gone || setProject(found), (error) => gone || setFailure(error));
    return () => (gone = true);
  }, [route.project]);

  // A new screen starts at the top and gets the focus, so that a screen reader reads its heading.
  const before = useRef(null);
  useLayoutEffect(() => {
    document.title = route.step === "start" ? texts.title : `${texts.steps[route.step]} · ${project ? project.name : ""} · ${texts.title}`;
    const screen = `${route.project}/${route.step}`;
    if (before.current !== null && before.current !== screen) {
      scrollTo(0, 0);
      if (main.current) main.current.focus({ preventScroll: true });
    }
    before.current = screen;
  }, [route.project, route.step, project && project.name]);

  // Content that arrives late moves the rest of the page: what the keyboard is on stays in sight, unless somebody scrolled away from it.
  useEffect(() => {
    let sight = false;
    const look = () => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      sight = document.activeElement !== document.body && bottom > 0 && top < innerHeight;
    };
    const watch = new ResizeObserver(() => sight && document.activeElement.matches(":focus-visible") && document.activeElement.scrollIntoView({ block: "nearest" }));
    watch.observe(document.body);
    addEventListener("focusin", look);
    addEventListener("scroll", look);
    return () => (watch.disconnect(), removeEventListener("focusin", look), removeEventListener("scroll", look));
  }, []);

  // Remember the step, so that the list of projects leads back to it.
  useEffect(() => {
    if (project && project.id === route.project && route.step !== project.step) send("PATCH", at.project(project.id), { step: route.step }).catch(() => null);
  }, [project && project.id, route.step]);

  /** The version of the settings that this tab made or showed: that of `shown`, or of its own changes answered since. */
  const versionOf = useCallback((shown) => Math.max(shown.version, own.current[shown.id] ?? 0), []);
  const keepVersion = (found) => (found && found.version !== undefined && (own.current[found.id] = found.version), found);
  /** Changes are sent one after the other; the answer is the new state of the project. Who shows errors itself asks for `quiet`. */
  const change = useCallback((work, { quiet = false } = {}) => {
    setSaving((number) => number + 1);
    const next = queue.current.then(work).then(keepVersion).then(
      (answer) => (setSaving((number) => number - 1), answer),
      (error) => {
        setSaving((number) => number - 1);
        if (!quiet) fail(error);
        if (error.status === 409) refresh((found) => found).catch(() => null);
        throw error;
      },
    );
    queue.current = next.catch(() => undefined);
    return next;
  }, []);
  // Queued as well: an answer from before a change would hide that change.
  const refresh = useCallback((keep = keepVersion) => {
    const next = queue.current.then(() => get(at.project(read().project))).then(keep).then((found) => (setProject(found), found));
    queue.current = next.catch(() => undefined);
    return next;
  }, []);
  const patch = useCallback((body) => {
    setProject((now) => now && optimistic(now, body));
    return change(() => send("PATCH", at.project(read().project), body)).then((found) => (setProject(found), found), () => refresh().catch(() => null));
  }, []);
  /** Undo or redo the last change, or undo the one with a number. */
  const undo = useCallback((direction, number) => change(() => post(`${at.project(read().project)}/${direction}`, number === undefined ? {} : { change: number })).then((found) => (setProject(found), found), () => null), []);

  // Other tabs with the same project show its changes too, so that nobody runs goals they do not see.
  const tabs = useRef(null);
  useEffect(() => {
    const channel = new BroadcastChannel("discreet-studio");
    tabs.current = channel;
    channel.onmessage = ({ data }) => {
      const now = shown.current;
      if (now && data.project === now.id && data.version !== now.version) refresh((found) => found).then(() => notify(texts.otherTab), () => null);
    };
    return () => channel.close();
  }, []);
  useEffect(() => {
    if (project && project.version !== undefined && !saving && tabs.current) tabs.current.postMessage({ project: project.id, version: project.version });
  }, [project && project.id, project && project.version, saving]);

  // Key handlers use the project as shown: effects run later, and a key pressed in between would be lost.
  const shown = useRef(project);
  shown.current = project;
  useEffect(() => {
    const onKeyDown = (event) => {
      const project = shown.current;
      if (!(event.ctrlKey || event.metaKey) || event.altKey || !project) return;
      const target = event.target;
      const typing = target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && ["text", "number", "search"].includes(target.type) && target.value !== target.defaultValue);
      if (typing || document.querySelector("dialog[open]")) return;
      const key = event.key.toLowerCase();
      const direction = key === "z" && !event.shiftKey ? "undo" : key === "y" || (key === "z" && event.shiftKey) ? "redo" : null;
      if (!direction) return;
      event.preventDefault();
      if (project[`can_${direction}`]) undo(direction);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);

  // The selected job stays in the address from screen to screen.
  const link = (step, query) => write(route.project, step, query || (route.query.job && ["run", "explore", "risk", "release"].includes(step) ? { job: route.query.job } : {}));
  const go = (step, query) => (location.hash = link(step, query));
  const setQuery = (query) => {
    const next = write(route.project, route.step, { ...route.query, ...query });
    if (next !== location.hash) {
      history.replaceState(null, "", next);
      setRoute(read());
    }
  };
  const open = (id, step = "data") => (location.hash = write(id, step));

  const context = { about, project, setProject, route, patch, change, versionOf, undo, refresh, notify, fail, go, setQuery, link, open };
  const Screen = SCREENS[route.step];
  const index = STEPS.indexOf(route.step);
  const [previous, next] = [STEPS[index - 1], STEPS[index + 1]];
  const why = next && locked(next, project);

  return html`<${App.Provider} value=${context}>
    <a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), main.current.focus())}>${texts.skip}</a>
    <div class="frame">
      <div class="top">
        <header class="bar">
          <a class="brand" href="#/" aria-label=${texts.home}><img src="/static/icon.svg" alt="" /><span>${texts.title}</span></a>
          ${project && html`<div class="project-name"><${Button} kind="bare compact" onClick=${() => setRenaming(true)} label=${`${project.name}: ${texts.rename}`}>${project.name}</${Button}></div>`}
          <span class="grow"></span>
          <span class="unseen" role="status" aria-live="polite">${saving ? texts.saving : ""}</span>
          ${project && html`<${Button} kind="bare icon" icon="undo" disabled=${!project.can_undo} label=${texts.undo(project.undo_label)} onClick=${() => undo("undo")} />
            <${Button} kind="bare icon" icon="redo" disabled=${!project.can_redo} label=${texts.redo(project.redo_label)} onClick=${() => undo("redo")} />`}
          <${ThemeSwitch} />
        </header>
        ${route.project && html`<${Stepper} project=${project} step=${route.step} link=${(step) => link(step)} />`}
      </div>
      <main id="main" tabindex="-1" ref=${main}>
        ${failure
          ? html`<${Notice} kind="bad" role="alert"><p>${failure.message}</p><p><a href="#/">${texts.toStart}</a></p></${Notice}>`
          : !about || (route.project && !project)
            ? html`<div class="stack"><${Waiting} /><${Waiting} tall /></div>`
            : route.step === "start"
              ? html`<${Start} />`
              : html`<${Safe} key=${`${project.id}/${route.step}`}><${Screen} /></${Safe}>`}
      </main>
      ${project && route.step !== "start" && html`<nav class="foot" aria-label=${texts.steps.ways}><div>
        ${previous && html`<a class="button" href=${link(previous)}><${Icon} name="back" />${texts.steps[previous]}</a>`}
        <span class="note">${why || ""}</span>
        ${next && (why ? html`<button type="button" class="button main" disabled title=${why}>${texts.steps[next]}<${Icon} name="next" /></button>` : html`<a class="button main" href=${link(next)}>${texts.steps[next]}<${Icon} name="next" /></a>`)}
      </div></nav>`}
      ${renaming && html`<${AskText} title=${texts.rename} label=${texts.projectName} value=${project.name} done=${texts.save} onClose=${() => setRenaming(false)}
        onDone=${(name) => (setRenaming(false), patch({ name }))} />`}
      <${Toasts} toasts=${toasts} onClose=${closeToast} />
    </div>
  </${App.Provider}>`;
}

render(html`<${Page} />`, document.getElementById("page"));
