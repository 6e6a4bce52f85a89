// Talking to the server: one place for addresses, headers and errors.
import { texts } from "./texts.js";

/** An answer that is an error, with the server's one sentence and the field it is about. */
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

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(texts.errors.offline);
  }
  return answer(response);
}

export const get = (path, signal) => ask(path, { signal });

export const send = (method, path, body) =>
  ask(path, {
    method,
    headers: body === undefined ? HEADERS : { ...HEADERS, "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

export const post = (path, body = {}) => send("POST", path, body);

/** Send a file; `onProgress` hears the share sent so far. */
export function upload(path, file, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("X-Discreet", "studio");
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(new ApiError(texts.errors.offline));
    request.onload = () => {
      if (request.status < 300) return resolve(request.response);
      const error = (request.response && request.response.error) || {};
      return reject(new ApiError(error.message || texts.errors.server(request.status), error.field || null, request.status));
    };
    const form = new FormData();
    form.append("file", file, file.name);
    request.send(form);
  });
}

const part = encodeURIComponent;

/** Addresses of the server, made in one place. */
export const at = {
  about: "/api/about",
  projects: "/api/projects",
  project: (id) => `/api/projects/${part(id)}`,
  rows: (id, query) => `/api/projects/${part(id)}/rows?${new URLSearchParams(query)}`,
  column: (id, name) => `/api/projects/${part(id)}/column?${new URLSearchParams({ name })}`,
  hierarchy: (id, column, query = {}) => `/api/projects/${part(id)}/hierarchy?${new URLSearchParams({ column, ...query })}`,
  hierarchyFile: (id, column) => `/api/projects/${part(id)}/hierarchy.csv?${new URLSearchParams({ column })}`,
  jobs: (id) => `/api/projects/${part(id)}/jobs`,
  job: (id) => `/api/jobs/${part(id)}`,
  file: (id, name) => `/api/jobs/${part(id)}/files/${part(name)}`,
};
