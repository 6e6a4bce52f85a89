const element = (name, parent, attributes = {}) => {
  const made = parent.ownerDocument.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
};

function render({ model, el }) {
  const root = element("div", el, { class: "discreet-front" });
  const names = model.get("names"), last = names.length - 1;
  const chart = element("div", root, {
    class: "chart", tabindex: "0", role: "slider", "aria-valuemin": "1", "aria-valuemax": String(last + 1),
    "aria-label": "The choices, from the least private to the most",
  });
  chart.innerHTML = model.get("drawing");
  const drawing = chart.querySelector("svg");
  drawing.setAttribute("aria-hidden", "true");
  const side = element("div", root, { class: "side" });
  const chosen = element("p", side, { class: "chosen", "aria-live": "polite" });
  const card = element("div", side);

  const points = [];
  for (const point of drawing.querySelectorAll(".point")) {
    points[point.dataset.i] = [Number(point.dataset.x), Number(point.dataset.y)];
    point.querySelector("title")?.remove();
  }
  const shape = (name) => drawing.appendChild(drawing.ownerDocument.createElementNS("http://www.w3.org/2000/svg", name));
  const ring = shape("circle"), hover = shape("circle");
  ring.setAttribute("class", "ring");
  hover.setAttribute("class", "hover");
  for (const each of [ring, hover]) each.setAttribute("r", "10");
  const place = (circle, i) => {
    circle.setAttribute("cx", points[i][0]);
    circle.setAttribute("cy", points[i][1]);
  };

  const show = (i) => {
    card.innerHTML = model.get("cards")[i];
    place(hover, i);
  };
  const update = () => {
    const i = model.get("index");
    place(ring, i);
    show(i);
    chosen.textContent = `Chosen: ${names[i]}`;
    chart.setAttribute("aria-valuenow", String(i + 1));
    chart.setAttribute("aria-valuetext", names[i]);
  };
  const choose = (i) => {
    model.set("index", Math.max(0, Math.min(last, i)));
    model.save_changes();
    update();
  };
  const nearest = (event) => {
    const box = drawing.getBoundingClientRect(), scale = drawing.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    const far = points.map((point) => Math.hypot(point[0] - x, (point[1] - y) / 2));
    return far.indexOf(Math.min(...far));
  };
  const moved = (event) => event.pointerType === "mouse" && show(nearest(event));
  drawing.addEventListener("pointermove", moved);
  drawing.addEventListener("pointerleave", update);
  drawing.addEventListener("click", (event) => choose(nearest(event)));
  chart.addEventListener("keydown", (event) => {
    const now = model.get("index");
    const to = {
      ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1,
      PageUp: now + 5, PageDown: now - 5, Home: 0, End: last,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose(to);
  });
  model.on("change:index", update);
  update();
  return () => model.off("change:index", update);
}

export default { render };
