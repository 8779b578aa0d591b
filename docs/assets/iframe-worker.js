// Browsers refuse a worker on a page that was opened from disk. There the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const page = frame.contentWindow;
      page.document.open();
      page.document.write(
        "<body><script>" +
          "self.postMessage = (data) => parent.postMessage(data, '*');" +
          "self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {" +
          "const script = document.createElement('script'); script.src = url; script.onload = done;" +
          "document.body.append(script); })), Promise.resolve());" +
          `</script><script src="${url}"></script></body>`
      );
      page.document.close();
      this.ready = new Promise((done) => page.addEventListener("load", done));
      this.page = page;
      addEventListener("message", (event) => {
        if (event.source !== page) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        const message = new MessageEvent("message", { data });
        this.page.dispatchEvent(message);
      });
    }
  };
}
