// The graph, on a canvas and without a GPU. Its libraries are loaded with the page, while what it draws is read.
import { html, useEffect, useRef, useState } from "../lib/dom.js";

const LIBRARIES = Promise.all([import("../vendor/cytoscape.js"), import("../vendor/dagre.js")]);
const MOST = 250; // Names that are drawn at once: more can be read by nobody.
const SHAPES = { Character: "ellipse", Location: "round-rectangle", Item: "round-diamond", Event: "hexagon" };

/** The `MOST` names with the most ties, and the ties between them. */
function narrowed(nodes, edges) {
  const ties = new Map();
  for (const edge of edges) for (const end of [edge.source, edge.target]) ties.set(end, (ties.get(end) ?? 0) + 1);
  const kept = nodes.filter((each) => ties.has(each.id)).sort((a, b) => ties.get(b.id) - ties.get(a.id)).slice(0, MOST);
  const ids = new Set(kept.map((each) => each.id));
  return { nodes: kept, edges: edges.filter((each) => ids.has(each.source) && ids.has(each.target)), left: ties.size - kept.length };
}

/** Of all ties those that lead to each name first, from the names with the most ties on: a tree for each group. */
function leading(nodes, edges) {
  const at = new Map(nodes.map((each) => [each.id, []]));
  for (const edge of edges) {
    at.get(edge.source).push([edge.target, edge]);
    at.get(edge.target).push([edge.source, edge]);
  }
  const reached = new Set();
  const found = [];
  for (const { id: first } of nodes) {
    if (reached.has(first)) continue;
    reached.add(first);
    const open = [first];
    for (const here of open) {
      for (const [there, edge] of at.get(here)) {
        if (reached.has(there)) continue;
        reached.add(there);
        open.push(there);
        found.push(edge);
      }
    }
  }
  return found;
}

/** Where names lie at first: dagre's layers of the ties that lead to them, for with all of them it takes ten times as
    long. What is tied is then drawn together from there, without chance. */
function placed(dagre, nodes, edges, tall) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: tall ? "TB" : "LR", nodesep: 40, ranksep: 70, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const each of nodes) graph.setNode(each.id, { width: 46, height: 46 });
  for (const each of leading(nodes, edges)) graph.setEdge(each.source, each.target);
  dagre.layout(graph);
  return (id) => ({ x: graph.node(id).x, y: graph.node(id).y });
}

/** Rounds in which what is tied is drawn together: the more names, the fewer, for each round costs their square. */
function rounds(names) {
  return Math.max(100, Math.min(600, Math.round(25_000 / names)));
}

/** Push names apart that lie on another's, along the way that is shorter, so that each can be read. */
function parted(graph) {
  const boxes = graph.nodes().map((node) => ({ node, ...boxOf(node), x: 0, y: 0 }));
  for (let round = 0, touching = true; touching && round < 200; round += 1) {
    touching = false;
    for (const [at, one] of boxes.entries()) for (const other of boxes.slice(at + 1)) {
      const wide = Math.min(one.x2 + one.x, other.x2 + other.x) - Math.max(one.x1 + one.x, other.x1 + other.x);
      const high = Math.min(one.y2 + one.y, other.y2 + other.y) - Math.max(one.y1 + one.y, other.y1 + other.y);
      if (wide <= 0 || high <= 0) continue;
      touching = true;
      const [side, by] = wide < high ? ["x", wide] : ["y", high];
      const first = one.node.position(side) + one[side] <= other.node.position(side) + other[side];
      one[side] += (first ? -1 : 1) * (by / 2 + 1);
      other[side] += (first ? 1 : -1) * (by / 2 + 1);
    }
  }
  graph.batch(() => boxes.forEach(({ node, x, y }) => node.shift({ x, y })));
  graph.fit(undefined, 28);
}

/** What a tie is called stands on it where nothing else does, the strongest first. */
function named(graph) {
  const taken = graph.nodes().map(boxOf);
  for (const tie of graph.edges("[kind = 'RELATES_TO']").sort((one, other) => other.data("width") - one.data("width"))) {
    const own = tie.boundingBox({ includeEdges: false, includeOverlays: false });
    if (taken.some((each) => Math.min(each.x2, own.x2) > Math.max(each.x1, own.x1) && Math.min(each.y2, own.y2) > Math.max(each.y1, own.y1))) tie.data("name", "");
    else taken.push(own);
  }
}

/** The place of a node and its name. */
const boxOf = (node) => {
  const { x1, x2, y1, y2 } = node.boundingBox({ includeOverlays: false });
  return { x1, x2, y1, y2 };
};

function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

function styles() {
  const of = colours();
  return [
    { selector: "node", style: { label: "data(name)", shape: "data(shape)", width: 26, height: 26, "background-color": of("wash"), "border-width": 2, "border-color": of("accent"),
      color: of("ink"), "font-size": 12, "text-valign": "bottom", "text-margin-y": 4, "text-wrap": "ellipsis", "text-max-width": 120, "text-background-color": of("raised"), "text-background-opacity": 0.85 } },
    { selector: "node[?player]", style: { "background-color": of("accent") } },
    { selector: "node[?dead]", style: { "border-style": "dashed", "border-color": of("soft"), color: of("soft") } },
    { selector: "edge", style: { width: "data(width)", "line-color": of("line"), "curve-style": "bezier", "target-arrow-shape": "triangle", "target-arrow-color": of("line"), "arrow-scale": 0.8 } },
    { selector: "edge[kind='RELATES_TO']", style: { "line-color": of("good"), "target-arrow-color": of("good"), label: "data(name)", "font-size": 10, color: of("ink"), "text-rotation": "autorotate", "text-background-color": of("raised"), "text-background-opacity": 1 } },
    { selector: "edge[strength<0]", style: { "line-color": of("bad"), "target-arrow-color": of("bad"), "line-style": "dashed" } },
    { selector: "node:selected", style: { "border-width": 5 } },
  ];
}

/** Draws `nodes` (`id`, `label`, `name`, `player`, `dead`) and `edges` (`source`, `target`, `type`, `name`, `strength`). */
export function Graph({ nodes, edges, label, left, open, chosen }) {
  const box = useRef(null);
  const made = useRef(null);
  const [drawn, say] = useState(false);
  useEffect(() => {
    let over = false;
    LIBRARIES.then(([{ default: cytoscape }, { default: dagre }]) => {
      if (over || !box.current) return; // the page was left meanwhile
      const found = narrowed(nodes, edges);
      const at = placed(dagre, found.nodes, found.edges, box.current.clientHeight > box.current.clientWidth);
      made.current = cytoscape({
        container: box.current,
        style: styles(),
        boxSelectionEnabled: false,
        layout: { name: "preset", positions: (node) => at(node.id()) },
        elements: [
          ...found.nodes.map((each) => ({ data: { ...each, shape: SHAPES[each.label] ?? "ellipse" }, selected: each.id === chosen })),
          ...found.edges.map((each, number) => ({ data: { id: `tie ${number}`, source: each.source, target: each.target, kind: each.type, name: each.name, strength: each.strength, width: 1.2 + Math.min(4, Math.abs(each.strength) / 2) } })),
        ],
      });
      const most = rounds(found.nodes.length);
      made.current.layout({
        name: "cose", animate: false, randomize: false, fit: true, padding: 28, numIter: most, coolingFactor: 0.001 ** (1 / most), nodeDimensionsIncludeLabels: true,
        idealEdgeLength: () => 70, nodeRepulsion: () => 9_000, componentSpacing: 60, gravity: 0.6,
      }).run();
      // Drawn small, names stay as large as can be read.
      const grown = Math.min(2, Math.max(1, 0.95 / made.current.zoom()));
      made.current.style().selector("node").style({ "font-size": 12 * grown, "text-max-width": 120 * grown }).selector("edge[kind='RELATES_TO']").style({ "font-size": 10 * grown }).update();
      parted(made.current);
      made.current.on("tap", "node", (event) => open(event.target.id()));
      left(found.left);
      made.current.one("render", () => { // where the names of ties lie is known once they were drawn
        named(made.current);
        say(true);
      });
    });
    return () => {
      over = true;
      made.current?.destroy();
      made.current = null;
    };
  }, [nodes, edges]);
  return html`<div class="graph" ref=${box} role="img" aria-label=${label} data-item="graph" data-drawn=${drawn} />`;
}
