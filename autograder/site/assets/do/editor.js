// A small editor for a few lines of Python: a textarea in which Tab indents, Enter keeps the indentation, and Esc frees Tab to leave.
//   courseEditor(area, run): area, a textarea; run, what Ctrl+Enter does
(() => {
  "use strict";
  const STEP = "    ";
  const put = (area, text, from, to) => {
    area.setSelectionRange(from, to);
    // this way the browser's own undo knows of it
    if (!document.execCommand || !document.execCommand("insertText", false, text)) {
      area.setRangeText(text, from, to, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  const lines = (area) => {
    const from = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const end = area.value.indexOf("\n", Math.max(area.selectionStart, area.selectionEnd - 1));
    return [from, end < 0 ? area.value.length : end];
  };
  const shift = (area, back) => {
    if (!back && area.selectionStart === area.selectionEnd) {
      const column = area.selectionStart - lines(area)[0];
      put(area, STEP.slice(column % STEP.length), area.selectionStart, area.selectionEnd);
      return;
    }
    const [from, to] = lines(area);
    const old = area.value.slice(from, to);
    const text = old
      .split("\n")
      .map((l) => (back ? l.replace(/^ {1,4}/, "") : l && STEP + l))
      .join("\n");
    if (text === old) return;
    const at = Math.max(from, area.selectionStart + (text.length - old.length));
    const many = area.selectionStart !== area.selectionEnd;
    put(area, text, from, to);
    area.setSelectionRange(many ? from : at, many ? from + text.length : at);
  };
  window.courseEditor = (area, run) => {
    let free = false;
    area.spellcheck = false;
    area.autocapitalize = "off";
    area.setAttribute("autocorrect", "off");
    area.setAttribute("autocomplete", "off");
    const fit = () => {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight + 4}px`;
    };
    area.addEventListener("input", fit);
    window.addEventListener("resize", fit);
    area.addEventListener("blur", () => {
      free = false;
    });
    area.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        free = true;
        return;
      }
      if (e.key === "Tab" && !free && !e.altKey && !e.ctrlKey && !e.metaKey) {
        e.preventDefault();
        shift(area, e.shiftKey);
      } else if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault();
        run();
      } else if (e.key === "Enter" && !e.shiftKey && !e.altKey && !e.isComposing) {
        e.preventDefault();
        const line = area.value.slice(lines(area)[0], area.selectionStart);
        put(
          area,
          "\n" + line.match(/^ */)[0] + (/:\s*(#.*)?$/.test(line) ? STEP : ""),
          area.selectionStart,
          area.selectionEnd,
        );
      }
      if (e.key !== "Shift") free = false;
    });
    fit();
    return fit;
  };
})();
