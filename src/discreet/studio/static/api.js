// Requests to the server: paths, headers and errors.
import { texts } from "./texts.js";

/** An error answer: the message of the server and the field it is about. */
export class ApiError extends Error {
  constructor(message, field = null, status = 0) {
    super(message);
    this.field = field;
    this.status = status;
  }
}

const HEADERS = { "X-Discreet": "studio" };

async function answer(response) {
  const kind = response.headers.get("content-type") || "";
  const body = kind.includes("json") ? await response.json() : null;
  if (response.ok) return body;
  const error = (body && body.error) || {};
  const message = error.message || (response.status === 403 ? texts.errors.forbidden : texts.errors.server(response.status));
  throw new ApiError(message, error.field || null, response.status);
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(texts.errors.offline);
  }
  return answer(response);
}

export const get = (path, signal) => request(path, { signal });

export const send = (method, path, body) =>
  request(path, {
    method,
    headers: body === undefined ? HEADERS : { ...HEADERS, "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

export const post = (path, body = {}) => send("POST", path, body);

/** Upload a file; `onProgress` is called with the share sent so far. */
export function upload(path, file, onProgress) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", path);
    sending.setRequestHeader("X-Discreet", "studio");
    sending.responseType = "json";
    sending.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    sending.onerror = () => reject(new ApiError(texts.errors.offline));
    sending.onload = () => {
      if (sending.status < 300) return resolve(sending.response);
      const error = (sending.response && sending.response.error) || {};
      return reject(new ApiError(error.message || texts.errors.server(sending.status), error.field || null, sending.status));
    };
    const form = new FormData();
    form.append("file", file, file.name);
    sending.send(form);
  });
}

const part = encodeURIComponent;

/** Paths of the API. */
export const at = {
  about: "/api/about",
  projects: "/api/projects",
  newProject: (reading) => `/api/projects?${new URLSearchParams({ reading: JSON.stringify(reading) })}`,
  project: (id) => `/api/projects/${part(id)}`,
  rows: (id, query) => `/api/projects/${part(id)}/rows?${new URLSearchParams(query)}`,
  column: (id, name) => `/api/projects/${part(id)}/column?${new URLSearchParams({ name })}`,
  hierarchy: (id, column, query = {}) => `/api/projects/${part(id)}/hierarchy?${new URLSearchParams({ column, ...query })}`,
  hierarchyFile: (id, column) => `/api/projects/${part(id)}/hierarchy.csv?${new URLSearchParams({ column })}`,
  jobs: (id) => `/api/projects/${part(id)}/jobs`,
  job: (id) => `/api/jobs/${part(id)}`,
  chart: (id, name, query) => `/api/jobs/${part(id)}/charts/${part(name)}?${new URLSearchParams(query)}`,
  columnChart: (id, name, width) => `/api/projects/${part(id)}/chart?${new URLSearchParams({ name, width })}`,
  file: (id, name) => `/api/jobs/${part(id)}/files/${part(name)}`,
};
