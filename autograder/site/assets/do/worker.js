// MicroPython in a worker of its own, so that an endless loop of a student's stops by ending the worker and never the page.
import { loadMicroPython } from "../../site_vendor/micropython/micropython.mjs";

let python = null,
  printed = [];
const KEPT_LINES = 200;

self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "load") {
      const url =
        data.wasm instanceof Uint8Array
          ? URL.createObjectURL(new Blob([data.wasm], { type: "application/wasm" }))
          : data.wasm;
      const keep = (line) => {
        if (printed.length < KEPT_LINES) printed.push(line);
      };
      python = await loadMicroPython({
        url,
        stdout: keep,
        stderr: keep,
        heapsize: 8 * 1024 * 1024,
        pystack: 32 * 1024,
      });
      python.registerJsModule("course_page", { exponential: (x) => x.toExponential() });
      python.runPython(data.program);
      python.runPython("import sys\n_version = '.'.join(str(n) for n in sys.implementation.version[:3])");
      self.postMessage({ kind: "ready", version: python.globals.get("_version") });
    } else {
      printed = [];
      const answer = python.globals.get("run")(data.request);
      self.postMessage({ kind: "done", id: data.id, answer, printed });
    }
  } catch (e) {
    self.postMessage({ kind: "failed", id: data.id, reason: String((e && e.message) || e) });
  }
};
