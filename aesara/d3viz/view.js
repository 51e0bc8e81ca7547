/* The page: draws the graph in #graph with GraphLayout, and answers the mouse and the keyboard.
 *
 * A graph is {nodes, edges}; a node {id, kind, label, rows, ...}, with `inner`, a graph of its own, if it can be opened;
 * an edge {from, to, text, effect}.  All texts come from the user's program and are only ever set as text.
 */
"use strict";

(() => {
  const page = JSON.parse(document.getElementById("graph").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const LIMIT = 800; // boxes drawn at once of one graph
  const LABEL = 34; // characters of a label
  const READABLE = 0.6; // the smallest scale to begin with
  const PAD = 16;
  const MARGIN = 20; // around the graph, in pixels
  const HEAD = 30;
  const byId = (name) => document.getElementById(name);
  const canvas = byId("canvas");
  const stage = byId("stage");

  /* All nodes, those of inner graphs too. */
  const nodes = new Map();
  const parents = new Map();
  const graphs = [];
  (function gather(graph, parent) {
    graphs.push(graph);
    for (const node of graph.nodes) {
      nodes.set(node.id, node);
      parents.set(node.id, parent);
      node.graph = graph;
      node.text = [node.label, ...node.rows.map((row) => row[1])].join("\n").toLowerCase();
      if (node.inner) gather(node.inner, node);
    }
  })(page.graph, null);
  const nested = [...nodes.values()].filter((node) => node.inner);
  const slowest = Math.max(0, ...[...nodes.values()].map((node) => node.seconds || 0));

  const state = { open: new Set(), found: new Set(), selected: null, focus: new Map(), colour: "kind" };
  const view = { x: 0, y: 0, scale: 1 };
  let moved = false; // whether the user has chosen what to look at
  const elements = new Map();
  let lines = [];
  let size = { width: 1, height: 1 };

  function element(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, sans-serif";
  const short = (text) => (text.length <= LABEL ? text : `${text.slice(0, LABEL - 1)}…`);

  /* The nodes of a graph that are drawn: all, or those nearest to what is looked at. */
  function drawn(graph) {
    if (graph.nodes.length <= LIMIT) return graph.nodes;
    const near = new Map(graph.nodes.map((node) => [node.id, []]));
    for (const edge of graph.edges) {
      near.get(edge.from).push(edge.to);
      near.get(edge.to).push(edge.from);
    }
    const focus = state.focus.get(graph);
    const start = focus ? [focus] : graph.nodes.filter((node) => node.kind === "output").map((node) => node.id);
    const chosen = new Set(start.slice(0, LIMIT));
    for (const id of chosen) {
      for (const other of near.get(id)) if (chosen.size < LIMIT) chosen.add(other);
    }
    for (const node of graph.nodes) if (!chosen.size) chosen.add(node.id);
    return graph.nodes.filter((node) => chosen.has(node.id));
  }

  function arranged(graph) {
    const shown = drawn(graph);
    const number = new Map(shown.map((node, k) => [node.id, k]));
    const inner = new Map();
    const sizes = shown.map((node) => {
      const title = pen.measureText(short(node.label)).width + (node.inner ? 46 : 22);
      if (!node.inner || !state.open.has(node.id)) return [Math.max(title, 34), 28];
      const part = arranged(node.inner);
      inner.set(node.id, part);
      return [Math.max(title, part.width + 2 * PAD), part.height + HEAD + PAD];
    });
    const edges = graph.edges.filter((edge) => number.has(edge.from) && number.has(edge.to));
    const cut = new Set();
    if (edges.length < graph.edges.length) {
      for (const edge of graph.edges) {
        if (number.has(edge.from) !== number.has(edge.to)) cut.add(number.has(edge.from) ? edge.from : edge.to);
      }
    }
    const places = GraphLayout.arrange(sizes, edges.map((edge) => [number.get(edge.from), number.get(edge.to)]));
    return { graph, shown, sizes, edges, inner, cut, ...places };
  }

  function curve(points) {
    let text = `M${points[0].map((v) => v.toFixed(1)).join(" ")}`;
    for (let k = 1; k < points.length; k++) {
      const [x0, y0] = points[k - 1];
      const [x1, y1] = points[k];
      const half = (y1 - y0) / 2;
      text += `C${[x0, y0 + half, x1, y1 - half, x1, y1].map((v) => v.toFixed(1)).join(" ")}`;
    }
    return text;
  }

  function paint(layout, group, left, top) {
    layout.edges.forEach((edge, k) => {
      const line = element("path", {
        class: `edge ${edge.effect || ""}`, d: curve(layout.paths[k].map(([x, y]) => [x + left, y + top])),
        "marker-end": "url(#arrow)", "data-from": edge.from, "data-to": edge.to,
      });
      const title = element("title", {});
      title.textContent = edge.text;
      line.append(title);
      lines.push(line);
      group.append(line);
    });
    layout.shown.forEach((node, k) => {
      const [width, height] = layout.sizes[k];
      const x = left + layout.x[k];
      const y = top + layout.y[k];
      const open = layout.inner.get(node.id);
      const box = element("g", { class: `node ${node.kind}`, "data-id": node.id, tabindex: 0, role: "button" });
      box.setAttribute("aria-label", node.label);
      if (node.inner) box.classList.add("nested");
      if (open) box.classList.add("open");
      if (node.python) box.classList.add("python");
      if (layout.cut.has(node.id)) box.classList.add("cut");
      const round = node.kind === "op" ? 13 : 3;
      box.append(element("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: round }));
      const label = element("text", { x: x + (node.inner ? 8 : 0), y: open ? y - height / 2 + 19 : y + 4 });
      label.textContent = short(node.label);
      box.append(label);
      if (node.inner) {
        const [cx, cy] = [x - width / 2 + 14, y - height / 2 + 14];
        const sign = element("text", { x: cx, y: cy + 4 });
        sign.textContent = open ? "−" : "+";
        const toggle = element("g", { class: "toggle" }, element("circle", { cx, cy, r: 8 }), sign);
        toggle.setAttribute("data-toggle", node.id);
        box.append(toggle);
      }
      elements.set(node.id, { box, x, y });
      group.append(box);
      if (open) paint(open, group, x - open.width / 2, y - height / 2 + HEAD);
    });
  }

  function draw() {
    elements.clear();
    lines = [];
    stage.replaceChildren();
    const layout = arranged(page.graph);
    size = { width: layout.width, height: layout.height };
    paint(layout, stage, 0, 0);
    const all = page.graph.nodes.length;
    byId("notice").textContent = layout.shown.length < all
      ? `${layout.shown.length} of ${all} boxes, the nearest to ${state.focus.has(page.graph) ? "the one chosen" : "the results"}; search finds the others`
      : `${page.notice}`;
    byId("whole").hidden = !state.focus.has(page.graph);
    mark();
  }

  /* Colours and frames, without drawing anew. */
  function mark() {
    for (const [id, { box }] of elements) {
      const node = nodes.get(id);
      box.classList.toggle("found", state.found.has(id));
      box.classList.toggle("selected", state.selected === id);
      const colour = colourOf(node);
      box.classList.toggle("coloured", Boolean(colour));
      box.firstChild.style.fill = colour || "";
    }
    for (const line of lines) {
      const ends = [line.getAttribute("data-from"), line.getAttribute("data-to")];
      line.classList.toggle("lit", state.selected !== null && ends.includes(state.selected));
    }
  }

  const hue = (number) => `hsl(${(number * 137.5) % 360} 70% 82%)`;
  const heat = (share) => `hsl(${50 - 50 * share} 95% ${94 - 36 * share}%)`;

  function colourOf(node) {
    if (state.colour === "time" && node.seconds !== undefined) {
      return heat(slowest ? Math.sqrt(node.seconds / slowest) : 0);
    }
    if (state.colour === "step" && node.step !== undefined) return hue(node.step);
    return null;
  }

  /* What the colours of boxes, and of lines, mean: of those that the page has. */
  function legend() {
    const all = [...nodes.values()];
    const has = (kind) => all.some((node) => node.kind === kind);
    const kinds = [["input", "input"], ["shared", "shared variable"], ["constant", "constant"],
      ["variable", "intermediate result"], ["output", "result"], ["op", "operation"]].filter(([kind]) => has(kind));
    const rows = {
      kind: [...kinds, ...(nested.length ? [["loop", "with a graph inside"]] : [])]
        .map(([name, text]) => ["box", `var(--${name})`, text]),
      time: [["box", heat(0), "0 s"], ["box", heat(0.5), time(slowest / 4)], ["box", heat(1), time(slowest)]],
      step: page.steps.slice(0, 12).map((text, k) => ["box", hue(k), short(text)]),
    }[state.colour];
    const effects = new Set(graphs.flatMap((graph) => graph.edges.map((edge) => edge.effect)));
    if (all.some((node) => node.python)) rows.push(["python", "none", "runs in Python"]);
    if (effects.has("destroy")) rows.push(["line", "var(--destroy)", "is overwritten"]);
    if (effects.has("view")) rows.push(["line", "var(--view)", "shares its memory"]);
    byId("legend").replaceChildren(...rows.map(([shape, colour, text]) => {
      const row = document.createElement("span");
      const spot = document.createElement("i");
      spot.className = shape;
      spot.style.background = colour;
      row.append(spot, text);
      return row;
    }));
  }

  function time(seconds) {
    const [unit, factor] = seconds >= 1 ? ["s", 1] : seconds >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6];
    return `${(seconds * factor).toPrecision(3)} ${unit}`;
  }

  /* Where we look */

  function place() {
    stage.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    stage.classList.toggle("far", view.scale < 0.22);
  }

  /* The part of the canvas that the legend leaves free. */
  function room() {
    const { width, height } = canvas.getBoundingClientRect();
    return { width, height: Math.max(height - byId("legend").offsetHeight - 10, height / 2) };
  }

  function fit() {
    const { width, height } = room();
    view.scale = Math.min(1.4, (width - 2 * MARGIN) / size.width, (height - 2 * MARGIN) / size.height) || 1;
    view.scale = Math.max(view.scale, 0.02);
    view.x = (width - size.width * view.scale) / 2;
    view.y = (height - size.height * view.scale) / 2;
    place();
  }

  /* Everything, if labels can be read then; otherwise the results. */
  function begin() {
    fit();
    if (view.scale >= READABLE) return;
    const ends = page.graph.nodes.filter((node) => node.kind === "output" && elements.has(node.id));
    const { x } = elements.get((ends[0] || page.graph.nodes[0]).id);
    const { width, height } = room();
    view.scale = READABLE;
    view.x = width / 2 - x * view.scale;
    const extent = size.height * view.scale;
    view.y = extent + 2 * MARGIN <= height ? (height - extent) / 2 : height - MARGIN - extent;
    place();
  }

  function zoom(factor, x, y) {
    moved = true;
    const scale = Math.min(6, Math.max(0.02, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    place();
  }

  function zoomMiddle(factor) {
    const { width, height } = canvas.getBoundingClientRect();
    zoom(factor, width / 2, height / 2);
  }

  function goTo(id) {
    moved = true;
    for (let parent = parents.get(id); parent; parent = parents.get(parent.id)) {
      state.open.add(parent.id);
      if (parent.graph.nodes.length > LIMIT) state.focus.set(parent.graph, parent.id);
    }
    const node = nodes.get(id);
    if (node.graph.nodes.length > LIMIT) state.focus.set(node.graph, id);
    draw();
    const { x, y } = elements.get(id);
    const { width, height } = canvas.getBoundingClientRect();
    view.scale = Math.max(view.scale, 0.8);
    view.x = width / 2 - x * view.scale;
    view.y = height / 2 - y * view.scale;
    place();
    select(id);
  }

  function select(id) {
    state.selected = id;
    const panel = byId("details");
    panel.hidden = id === null;
    panel.replaceChildren();
    if (id !== null) {
      const node = nodes.get(id);
      const head = document.createElement("h2");
      head.textContent = node.label;
      const list = document.createElement("dl");
      for (const [name, text] of rowsOf(node)) {
        const term = document.createElement("dt");
        const value = document.createElement("dd");
        term.textContent = name;
        value.textContent = text;
        list.append(term, value);
      }
      panel.append(head, list);
    }
    mark();
  }

  function rowsOf(node) {
    const rows = [...node.rows];
    if (node.seconds !== undefined) {
      rows.push(["time", `${time(node.seconds)} in ${node.calls} calls`]);
    }
    if (node.step !== undefined) rows.push(["computed in", `${node.step + 1}. ${page.steps[node.step]}`]);
    if (node.outer) rows.push(["stands for", nodes.get(node.outer).label]);
    return rows;
  }

  /* Open or close a graph inside of a node; the node stays where it is on the screen. */
  function toggle(id) {
    moved = true;
    const before = elements.get(id);
    if (!state.open.delete(id)) state.open.add(id);
    const at = [view.x + before.x * view.scale, view.y + before.y * view.scale];
    draw();
    const after = elements.get(id);
    view.x = at[0] - after.x * view.scale;
    view.y = at[1] - after.y * view.scale;
    place();
  }

  function search(text) {
    const wanted = text.trim().toLowerCase();
    const hits = wanted ? [...nodes.values()].filter((node) => node.text.includes(wanted)) : [];
    state.found = new Set(hits.map((node) => node.id));
    const panel = byId("results");
    panel.hidden = !wanted;
    const rows = hits.slice(0, 100).map((node) => {
      const row = document.createElement("button");
      row.textContent = node.label;
      row.title = node.rows.map((one) => one.join(": ")).join("\n");
      row.addEventListener("click", () => goTo(node.id));
      return row;
    });
    const count = document.createElement("div");
    count.textContent = `${hits.length} found${hits.length > rows.length ? `, ${rows.length} shown` : ""}`;
    panel.replaceChildren(count, ...rows);
    mark();
  }

  /* Mouse, touch and keys */

  const nodeAt = (target) => (target.closest ? target.closest(".node") : null);
  const pointers = new Map();
  let dragged = false;

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (!dragged && Math.hypot(dx, dy) < 3) return;
    dragged = moved = true;
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (others.length) {
      const [ox, oy] = others[0][1];
      const before = Math.hypot(last[0] - ox, last[1] - oy);
      const box = canvas.getBoundingClientRect();
      if (before) zoom(Math.hypot(event.clientX - ox, event.clientY - oy) / before, ox - box.left, oy - box.top);
    } else {
      view.x += dx;
      view.y += dy;
      place();
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("click", (event) => {
    if (dragged) return;
    const button = event.target.closest(".toggle");
    const box = nodeAt(event.target);
    if (button) toggle(button.getAttribute("data-toggle"));
    else select(box ? box.getAttribute("data-id") : null);
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = nodeAt(event.target);
    if (box && nodes.get(box.getAttribute("data-id")).inner) toggle(box.getAttribute("data-id"));
  });
  canvas.addEventListener("pointerover", (event) => {
    const box = nodeAt(event.target);
    const tip = byId("tip");
    tip.hidden = !box || pointers.size > 0;
    if (tip.hidden) return;
    const node = nodes.get(box.getAttribute("data-id"));
    tip.textContent = [node.label, ...rowsOf(node).map(([name, text]) => `${name}: ${text}`)].join("\n");
    const area = canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - area.left + 14, area.width - tip.offsetWidth - 8);
    const top = Math.min(event.clientY - area.top + 16, area.height - tip.offsetHeight - 8);
    tip.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  });
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });

  byId("search").addEventListener("input", (event) => search(event.target.value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      const first = byId("results").querySelector("button");
      if (first) first.click();
    } else if (event.key === "Escape") {
      event.target.value = "";
      search("");
      event.target.blur();
    }
  });
  byId("colour").addEventListener("change", (event) => {
    state.colour = event.target.value;
    legend();
    mark();
  });
  byId("fit").addEventListener("click", () => {
    moved = true;
    fit();
  });
  byId("closer").addEventListener("click", () => zoomMiddle(1.3));
  byId("farther").addEventListener("click", () => zoomMiddle(1 / 1.3));
  byId("expand").addEventListener("click", () => {
    for (const node of nested) state.open.add(node.id);
    moved = true;
    draw();
    fit();
  });
  byId("collapse").addEventListener("click", () => {
    state.open.clear();
    moved = true;
    draw();
    fit();
  });
  byId("whole").addEventListener("click", () => {
    state.focus.clear();
    draw();
    begin();
  });
  window.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = nodeAt(event.target);
    const id = box && box.getAttribute("data-id");
    if (event.key === "/") byId("search").focus();
    else if (event.key === "0") byId("fit").click();
    else if (event.key === "+" || event.key === "=") zoomMiddle(1.3);
    else if (event.key === "-") zoomMiddle(1 / 1.3);
    else if (event.key === "Escape") select(null);
    else if (box && event.key === "Enter") select(id);
    else if (box && event.key === " " && nodes.get(id).inner) toggle(id);
    else return;
    event.preventDefault();
  });

  const choice = (value, text) => byId("colour").append(new Option(text, value));
  if (slowest > 0) choice("time", "by time");
  if (page.steps.length) choice("step", "by step of native code");
  byId("expand").hidden = byId("collapse").hidden = !nested.length;
  legend();
  draw();
  begin();
  // Pages may get their final size after they have been loaded.
  const again = () => { if (!moved) begin(); };
  new ResizeObserver(again).observe(canvas);
  window.addEventListener("resize", again);
})();
