// The graph, as shapes that the style sheet colours. It is laid out without chance, from what is drawn alone.
import { html, useLayoutEffect, useRef, useState } from "../lib/dom.js";

const MOST = 250; // Names that are drawn at once: more can be read by nobody.
const NEAR = 110; // How far apart lie two that are tied, if nothing else draws at them.
const RADIUS = 13;
const SHAPES = { Character: "M-13 0a13 13 0 1 0 26 0a13 13 0 1 0-26 0", Location: "M-12-10h24v20h-24z", Item: "M0-14 14 0 0 14-14 0z", Event: "M-13 0-6-11 6-11 13 0 6 11-6 11z" };

/** The `MOST` names with the most ties, those first, and the ties between them. */
function narrowed(nodes, edges) {
  const ties = new Map();
  for (const edge of edges) for (const end of [edge.source, edge.target]) ties.set(end, (ties.get(end) ?? 0) + 1);
  const kept = nodes.filter((each) => ties.has(each.id)).sort((a, b) => ties.get(b.id) - ties.get(a.id)).slice(0, MOST);
  const ids = new Set(kept.map((each) => each.id));
  return { nodes: kept, edges: edges.filter((each) => ids.has(each.source) && ids.has(each.target)), left: ties.size - kept.length };
}

/** Names with their places: ties draw together, all push each other away, and all drift to the middle of a box that is
    `wide` times as wide as it is high. */
function placed(nodes, edges, wide) {
  const spots = nodes.map((each, at) => ({ ...each, x: Math.cos(at * 2.4) * NEAR * Math.sqrt(at) * wide, y: Math.sin(at * 2.4) * NEAR * Math.sqrt(at), dx: 0, dy: 0 }));
  const of = new Map(spots.map((each) => [each.id, each]));
  const ties = edges.map((each) => [of.get(each.source), of.get(each.target)]);
  const rounds = Math.max(100, Math.min(300, 30_000 / spots.length)); // each costs the square of the names
  const push = (one, other, x, y) => {
    one.dx += x; one.dy += y; other.dx -= x; other.dy -= y;
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const each of spots) [each.dx, each.dy] = [-each.x / wide, -each.y * wide];
    spots.forEach((one, at) => {
      for (let next = at + 1; next < spots.length; next += 1) {
        const other = spots[next], x = one.x - other.x, y = one.y - other.y;
        const force = (NEAR * NEAR) / Math.max(1, x * x + y * y);
        push(one, other, x * force, y * force);
      }
    });
    for (const [one, other] of ties) {
      const x = one.x - other.x, y = one.y - other.y, force = -Math.hypot(x, y) / NEAR;
      push(one, other, x * force, y * force);
    }
    for (const each of spots) { // steps grow smaller, until all lies still
      const step = Math.min(1, (NEAR * (1 - round / rounds)) / Math.max(1, Math.hypot(each.dx, each.dy)));
      each.x += each.dx * step;
      each.y += each.dy * step;
    }
  }
  return spots;
}

/** Push names apart that lie on another's, along the way that is shorter, so that each can be read. */
function parted(spots) {
  for (let round = 0, touching = true; touching && round < 200; round += 1) {
    touching = false;
    spots.forEach((one, at) => {
      one.x *= 1.01; // crowds give way
      one.y *= 1.01;
      for (const other of spots.slice(at + 1)) {
        const wide = (one.wide + other.wide) / 2 - Math.abs(one.x - other.x), high = one.high - Math.abs(one.y - other.y);
        if (wide <= 0 || high <= 0) continue;
        touching = true;
        const [side, by] = wide < high ? ["x", wide / 2 + 1] : ["y", high / 2 + 1];
        const way = one[side] <= other[side] ? -by : by;
        one[side] += way;
        other[side] -= way;
      }
    });
  }
}

const around = (x, y, wide, high) => ({ x1: x - wide / 2, x2: x + wide / 2, y1: y - high / 2, y2: y + high / 2 });
const apart = (one, other) => one.x1 > other.x2 || one.x2 < other.x1 || one.y1 > other.y2 || one.y2 < other.y1;
/** What a name takes, and its shape above it. */
const boxesOf = ({ x, y, wide, high }) => [around(x, y, 2 * RADIUS + 4, 2 * RADIUS + 4), around(x, y + high / 2, wide, high - 2 * RADIUS - 2)];

/** The lines of ties: the second between two bends out of the way of the first. What a tie is called stands where nothing
    else does, in its middle or beside that, the strongest first. */
function lines(edges, spots, size, measured) {
  const of = new Map(spots.map((each) => [each.id, each]));
  const taken = spots.flatMap(boxesOf);
  const pairs = new Map();
  return [...edges].sort((one, other) => Math.abs(other.strength) - Math.abs(one.strength)).map((edge) => {
    const one = of.get(edge.source), other = of.get(edge.target), pair = [edge.source, edge.target].sort().join(" ");
    const bend = (pairs.get(pair) ?? 0) * (edge.source < edge.target ? 1 : -1);
    pairs.set(pair, Math.abs(bend) + 30);
    const far = Math.max(1, Math.hypot(other.x - one.x, other.y - one.y));
    const [x, y] = [(other.x - one.x) / far, (other.y - one.y) / far];
    const [midX, midY] = [(one.x + other.x) / 2 - y * bend, (one.y + other.y) / 2 + x * bend];
    const last = Math.max(1, Math.hypot(other.x - midX, other.y - midY)), short = (RADIUS + 7) / last;
    const path = `M${one.x} ${one.y}Q${midX} ${midY} ${other.x - (other.x - midX) * short} ${other.y - (other.y - midY) * short}`;
    const long = measured(edge.name) * (size / 12), wide = Math.abs(x) * long + Math.abs(y) * size * 1.5, high = Math.abs(y) * long + Math.abs(x) * size * 1.5;
    const on = (part, from, mid, to) => (1 - part) ** 2 * from + 2 * part * (1 - part) * mid + part ** 2 * to;
    const free = edge.type === "RELATES_TO" && edge.name && [0.5, 0.4, 0.6, 0.3, 0.7].map((part) => ({ x: on(part, one.x, midX, other.x), y: on(part, one.y, midY, other.y) }))
      .find((at) => taken.every((each) => apart(each, around(at.x, at.y, wide, high))));
    if (free) taken.push(around(free.x, free.y, wide, high));
    return { ...edge, path, at: free && { ...free, turn: (Math.atan(y / (x || 1e-9)) * 180) / Math.PI }, mood: edge.strength < 0 ? "bad" : edge.type === "RELATES_TO" ? "good" : "plain" };
  });
}

/** All that is drawn in a box of `wide` to `high` pixels: `spots`, `ties`, the `size` of names, and the `view` that shows all. */
function drawing(nodes, edges, wide, high, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${font}`;
  const measured = (text) => pen.measureText(text).width;
  const found = narrowed(nodes, edges);
  const spots = placed(found.nodes, found.edges, Math.min(2, Math.max(0.5, wide / high)));
  const reach = (side) => Math.max(...spots.map((each) => Math.abs(each[side]))) * 2 + 120;
  const grown = Math.min(2, Math.max(1, 0.95 * Math.max(reach("x") / wide, reach("y") / high))); // drawn small, names stay as large as can be read
  for (const each of spots) {
    const letters = [...each.name];
    while (measured(each.name) > 120) each.name = `${letters.splice(-1) && letters.join("")}…`;
    each.wide = Math.max(2 * RADIUS, measured(each.name) * grown) + 6;
    each.high = 2 * RADIUS + 6 + 12 * grown * 1.5;
  }
  parted(spots);
  const ties = lines(found.edges, spots, 10 * grown, measured);
  const boxes = spots.flatMap(boxesOf);
  const [x1, y1] = ["x1", "y1"].map((side) => Math.min(...boxes.map((each) => each[side])) - 12);
  const [x2, y2] = ["x2", "y2"].map((side) => Math.max(...boxes.map((each) => each[side])) + 12);
  const unit = Math.max((x2 - x1) / wide, (y2 - y1) / high, 0.7);
  return { spots, ties, grown, left: found.left, view: { x: (x1 + x2 - wide * unit) / 2, y: (y1 + y2 - high * unit) / 2, unit, wide, high } };
}

/** Draws `nodes` (`id`, `label`, `name`, `player`, `dead`) and `edges` (`source`, `target`, `type`, `name`, `strength`). */
export function Graph({ nodes, edges, label, left, open, chosen }) {
  const box = useRef(null);
  const fingers = useRef(new Map());
  const [drawn, put] = useState(null);
  const [view, look] = useState(null);
  useLayoutEffect(() => {
    const found = drawing(nodes, edges, box.current.clientWidth, box.current.clientHeight, getComputedStyle(box.current).fontFamily);
    put(found);
    look(found.view);
    left(found.left);
  }, [nodes, edges]);
  /** Nearer or farther, with the point of the screen in its place. */
  const zoom = (by, { clientX, clientY }) => {
    const { left: x, top: y } = box.current.getBoundingClientRect();
    look((was) => ({ ...was, unit: was.unit * by, x: was.x + (clientX - x) * was.unit * (1 - by), y: was.y + (clientY - y) * was.unit * (1 - by) }));
  };
  const wheel = (event) => {
    event.preventDefault();
    zoom(1.002 ** event.deltaY, event);
  };
  const move = (event) => {
    const was = fingers.current.get(event.pointerId);
    if (!was) return;
    const [x, y] = [event.clientX - was.clientX, event.clientY - was.clientY];
    if (!box.current.hasPointerCapture(event.pointerId)) {
      if (Math.hypot(x, y) < 4) return; // a click
      box.current.setPointerCapture(event.pointerId);
    }
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    const far = (one) => Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
    if (other) zoom(far(was) / far(event), other);
    else look((last) => ({ ...last, x: last.x - x * last.unit, y: last.y - y * last.unit }));
    fingers.current.set(event.pointerId, event);
  };
  const lift = (event) => fingers.current.delete(event.pointerId);
  const size = drawn?.grown * 12;
  return html`<div class="graph" ref=${box} role="img" aria-label=${label} data-item="graph" data-drawn=${drawn !== null} onWheel=${wheel} onPointerMove=${move}
    onPointerDown=${(event) => fingers.current.set(event.pointerId, event)} onPointerUp=${lift} onPointerCancel=${lift} onPointerLeave=${lift}>
    ${drawn && html`<svg viewBox=${`${view.x} ${view.y} ${view.wide * view.unit} ${view.high * view.unit}`}>
      <defs>${["plain", "good", "bad"].map((mood) => html`<marker key=${mood} id=${`tip-${mood}`} viewBox="0 0 8 8" refX="1" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class=${mood} d="M0 0 8 4 0 8z" /></marker>`)}</defs>
      ${drawn.ties.map((each, at) => html`<path key=${at} class=${`tie ${each.mood}`} d=${each.path} marker-end=${`url(#tip-${each.mood})`} stroke-width=${1.2 + Math.min(4, Math.abs(each.strength) / 2)} />`)}
      ${drawn.spots.map((each) => html`<g key=${each.id} class=${["node", each.player && "player", each.dead && "dead", each.id === chosen && "chosen"].filter(Boolean).join(" ")} transform=${`translate(${each.x} ${each.y})`} onClick=${() => open(each.id)}>
        <path d=${SHAPES[each.label] ?? SHAPES.Character} /><text y=${RADIUS + 2 + size} font-size=${size}>${each.name}</text></g>`)}
      ${drawn.ties.filter((each) => each.at).map((each, at) => html`<text key=${at} class="tie-name" transform=${`translate(${each.at.x} ${each.at.y}) rotate(${each.at.turn})`} dy=".35em" font-size=${drawn.grown * 10}>${each.name}</text>`)}</svg>`}</div>`;
}
