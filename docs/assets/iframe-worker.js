/* Search needs a worker, and browsers refuse workers to pages of the file system. There, a hidden frame is the worker. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      const page = this.scope.document;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.onload = () => { this.ready = true; this.waiting.splice(0).forEach((data) => this.deliver(data)); };
      script.src = url;
      page.body.appendChild(script);
    }
    deliver(data) {
      this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.ready) { setTimeout(() => this.deliver(data)); } else { this.waiting.push(data); }
    }
    terminate() {}
  };
}
