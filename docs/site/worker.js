// Browsers start no workers for pages opened from the disk, and the search is one. There, let a hidden frame be the worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write("<!doctype html><html><body></body></html>");
      inside.document.close();
      inside.postMessage = data => this.tell(new MessageEvent("message", { data }));
      const load = source => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: source, onload: done, onerror: failed });
        inside.document.body.appendChild(script);
      });
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.inside = inside;
      this.ready = load(new URL(url, location).href);
    }
    tell(event) {
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() { this.frame.remove(); }
  };
}
