// A page opened from disk may not start a worker: there the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  const send = (data, target) =>
    setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data })));
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => send(structuredClone(data), this);
      const script = this.inside.document.createElement("script");
      script.src = url;
      this.ready = new Promise((done) => (script.onload = done));
      this.inside.document.body.append(script);
    }
    postMessage(data) {
      const copy = structuredClone(data);
      this.ready.then(() => send(copy, this.inside));
    }
  };
}
