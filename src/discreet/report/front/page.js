"use strict";
(() => {
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const chart = document.getElementById("chart");
  const cards = all(".card"), rows = all("tbody tr"), drawings = all("svg", chart);
  const ask = document.getElementById("ask"), answer = document.getElementById("answer");
  let pinned = cards.findIndex((card) => !card.hidden), shown = -1;

  const shape = (name, parent) => parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
  const marks = drawings.map((drawing) => {
    const points = [];
    for (const point of all(".point", drawing)) {
      points[point.dataset.i] = [Number(point.dataset.x), Number(point.dataset.y)];
      point.querySelector("title").remove();
    }
    const focus = shape("g", drawing);
    focus.setAttribute("class", "focus");
    const lines = shape("path", focus), ring = shape("circle", focus);
    ring.setAttribute("r", 10);
    lines.setAttribute("fill", "none");
    const [left, bottom] = [Number(drawing.dataset.left), Number(drawing.dataset.bottom)];
    const move = (i) => {
      const [x, y] = points[i];
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      lines.setAttribute("d", `M${x} ${y + 10}V${Math.max(bottom, y + 10)}M${x - 10} ${y}H${Math.min(left, x - 10)}`);
    };
    const nearest = (event) => {
      const box = drawing.getBoundingClientRect(), scale = drawing.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      const far = points.map((point) => Math.hypot(point[0] - x, (point[1] - y) / 2));
      return far.indexOf(Math.min(...far));
    };
    const point = (event) => (event.pointerType === "mouse" ? show(nearest(event)) : pin(nearest(event), false));
    drawing.addEventListener("pointermove", point);
    drawing.addEventListener("pointerdown", point);
    drawing.addEventListener("click", (event) => pin(nearest(event), true));
    return move;
  });

  function show(i) {
    if (i === shown) return;
    shown = i;
    cards.forEach((card, j) => { card.hidden = j !== i; });
    rows.forEach((row, j) => row.classList.toggle("now", j === i));
    marks.forEach((move) => move(i));
    chart.setAttribute("aria-valuenow", i + 1);
    chart.setAttribute("aria-valuetext", cards[i].getAttribute("aria-label"));
  }

  function pin(i, open) {
    pinned = Math.max(0, Math.min(cards.length - 1, i));
    show(pinned);
    const make = cards[pinned].querySelector("details");
    if (open && make) make.open = true;
  }

  chart.addEventListener("pointerleave", () => show(pinned));
  chart.addEventListener("keydown", (event) => {
    const last = cards.length - 1;
    const to = {
      ArrowRight: pinned + 1, ArrowUp: pinned + 1, ArrowLeft: pinned - 1, ArrowDown: pinned - 1,
      PageUp: pinned + 5, PageDown: pinned - 5, Home: 0, End: last, Enter: pinned, " ": pinned,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    pin(to, event.key === "Enter" || event.key === " ");
  });
  all(".pick").forEach((button, i) => button.addEventListener("click", () => {
    pin(i, true);
    chart.scrollIntoView({ block: "nearest" });
  }));

  ask.form.hidden = false;
  ask.form.addEventListener("submit", (event) => event.preventDefault());
  ask.addEventListener("input", () => {
    const lower = chart.dataset.lower === "true", wanted = Number(ask.value);
    answer.textContent = "";
    if (ask.value === "") return;
    let best = -1;
    cards.forEach((card, i) => {
      const value = Number(card.dataset.value), meets = lower ? value <= wanted : value >= wanted;
      if (meets && (best < 0 || Number(card.dataset.loss) < Number(cards[best].dataset.loss))) best = i;
    });
    if (best < 0) answer.textContent = "No recoding that was found reaches that.";
    else pin(best, false);
  });

  for (const code of all(".code")) {
    const button = document.createElement("button"), pre = code.querySelector("pre");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    code.append(button);
  }
  show(pinned);
})();
