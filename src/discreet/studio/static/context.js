// Shared state of the screens: the project, how to change it, and the route.
import { createContext, useContext, useEffect, useRef, useState } from "./vendor/preact.js";
import { at, get, post } from "./api.js";

export const App = createContext(null);
export const useApp = () => useContext(App);

/** Load `path` whenever it changes: [answer, error, reload]. The last answer stays until the next arrives. */
export function useLoaded(path, ...when) {
  const [state, setState] = useState({ path: null, data: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    get(path, stop.signal).then(
      (data) => setState({ path, data, error: null }),
      (error) => error.name !== "AbortError" && setState({ path, data: null, error }),
    );
    return () => stop.abort();
  }, [path, round, ...when]);
  return [path ? state.data : null, state.error, () => setRound((number) => number + 1), state.path !== path];
}

const finished = (job) => ["done", "failed", "cancelled"].includes(job.state) && !Object.values(job.evaluation || {}).some((state) => ["waiting", "running"].includes(state));

/** A job, updated by server-sent events, or by polling where these do not work. */
export function useJob(id) {
  const [job, setJob] = useState(null);
  const [error, setError] = useState(null);
  const latest = useRef(null);
  useEffect(() => {
    setJob(null);
    setError(null);
    latest.current = null;
    if (!id) return undefined;
    let [gone, timer, source] = [false, 0, null];
    const take = (found) => {
      if (gone) return;
      latest.current = found;
      setJob(found);
    };
    const poll = () => {
      if (gone) return;
      get(at.job(id)).then(
        (found) => {
          take(found);
          if (!finished(found)) timer = setTimeout(poll, 1000);
        },
        (problem) => {
          if (gone) return;
          setError(problem);
          if (!problem.status) timer = setTimeout(poll, 3000);
        },
      );
    };
    const listen = () => {
      source = new EventSource(`${at.job(id)}/events`);
      source.onmessage = (event) => {
        const found = JSON.parse(event.data);
        take(found);
        if (finished(found)) source.close();
      };
      source.onerror = () => {
        source.close();
        if (!latest.current || !finished(latest.current)) poll();
      };
    };
    get(at.job(id)).then(
      (found) => {
        take(found);
        if (!gone && !finished(found)) listen();
      },
      (problem) => gone || setError(problem),
    );
    return () => {
      gone = true;
      clearTimeout(timer);
      if (source) source.close();
    };
  }, [id]);
  return [job && job.id === id ? job : null, error];
}

/**
 * Start a job with the settings that this page shows, and the changes it has just sent; refused if another tab changed them. The
 * version is taken when its turn comes: changes that are still on their way when somebody clicks have their own answers by then.
 */
export const startJob = ({ project, change, versionOf }, fields) => change(() => post(at.jobs(project.id), { version: versionOf(project), ...fields }));

/** The newest finished job of a kind, for screens opened without a job in the address. */
export function newest(project, kind) {
  return project.jobs.find((job) => job.kind === kind && job.state === "done") || null;
}
