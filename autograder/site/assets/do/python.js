// Python for the page: loaded when first asked for, each request with a time limit.
//   coursePython.run(request, told) -> {items, case, printed, version} | {slow: seconds} | {died: reason} | {cannot: word}
//       told("loading" | "running"): what it is doing
(() => {
  "use strict";
  const base = new URL("./", document.currentScript.src);
  const fromFile = location.protocol === "file:";
  const limits = { load: 60, run: 5 }; // seconds
  let worker = null,
    loading = null,
    version = "",
    next = 0;

  const script = (name) =>
    new Promise((done, failed) => {
      const tag = document.createElement("script");
      tag.src = new URL(name, base);
      tag.onload = done;
      tag.onerror = () => {
        tag.remove();
        failed(new Error(`${name} could not be loaded`));
      };
      document.head.append(tag);
    });
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

  // One answer of the worker, or null after so many seconds; a worker that breaks is a failure.
  const answer = (seconds, message) =>
    new Promise((done) => {
      const timer = setTimeout(() => done(null), seconds * 1000);
      const end = (value) => {
        clearTimeout(timer);
        done(value);
      };
      worker.onmessage = (e) => end(e.data);
      worker.onerror = (e) => {
        e.preventDefault();
        end({ kind: "failed", reason: e.message || "" });
      };
      worker.postMessage(message);
    });
  const stop = () => {
    if (worker) worker.terminate();
    worker = null;
    loading = null;
  };

  const start = async () => {
    if (!window.courseProgram) await script("program.js");
    let wasm = new URL("../../site_vendor/micropython/micropython.wasm", base).href;
    if (fromFile) {
      if (!window.courseFromFile) await script("from-file.js");
      wasm = bytes(window.courseFromFile.wasm);
      worker = new Worker(URL.createObjectURL(new Blob([window.courseFromFile.worker], { type: "text/javascript" })));
    } else {
      worker = new Worker(new URL("worker.js", base), { type: "module" });
    }
    const said = await answer(limits.load, { kind: "load", wasm, program: window.courseProgram.source });
    if (!said || said.kind !== "ready") throw new Error(said ? said.reason : "slow");
    version = said.version;
  };

  let queue = Promise.resolve();
  const run = async (request, told) => {
    if (typeof WebAssembly !== "object" || typeof Worker !== "function") return { cannot: "cannot_wasm" };
    try {
      if (!loading) {
        told("loading");
        loading = start();
      }
      await loading;
    } catch (e) {
      console.info("Python was not loaded:", e.message);
      stop();
      return { cannot: "cannot_load" };
    }
    told("running");
    const id = next++;
    const said = await answer(limits.run, {
      kind: "run",
      id,
      request: JSON.stringify({ ...request, names: window.courseProgram.names }),
    });
    if (!said) {
      stop();
      return { slow: limits.run };
    }
    if (said.kind === "failed") {
      stop();
      return { died: said.reason };
    }
    return { ...JSON.parse(said.answer), printed: said.printed, version };
  };
  window.coursePython = {
    limits,
    run(request, told = () => {}) {
      const mine = queue.then(() => run(request, told));
      queue = mine.catch(() => {});
      return mine;
    },
  };
})();
