// Lays out the types of a dataset on an ellipse, with their links.

export interface Link { type: string; from: string; to: string }
export interface Node { name: string; x: number; y: number }
export interface Edge { from: Node; to: Node; label: string; returns: boolean }
export interface Graph { nodes: Node[]; edges: Edge[]; width: number; height: number }

const MOST = 24; // types; a picture with more is not readable

const LOOP = 74; // height of a link of a type to itself

// Links in the same direction between two types share one line, with all their names.
export function graphOf(types: string[], links: Link[]): Graph {
  const shown = types.slice(0, MOST);
  // An ellipse, because names are wider than they are high.
  const radius = { x: Math.max(210, shown.length * 44), y: Math.max(130, shown.length * 28) };
  const width = radius.x * 2 + 180;
  const nodes = shown.map((name, index) => {
    const angle = (index / Math.max(1, shown.length)) * 2 * Math.PI - Math.PI / 2;
    const spread = shown.length > 1 ? 1 : 0;
    return { name, x: width / 2 + Math.cos(angle) * radius.x * spread, y: Math.sin(angle) * radius.y * spread };
  });
  const loops = new Set(links.filter((link) => link.from === link.to).map((link) => link.from));
  const top = Math.min(0, ...nodes.map((node) => node.y - (loops.has(node.name) ? LOOP : 20)));
  const height = Math.max(0, ...nodes.map((node) => node.y)) + 28 - top;
  for (const node of nodes) node.y -= top;
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const edges = new Map<string, Edge>();
  for (const link of links) {
    const from = byName.get(link.from);
    const to = byName.get(link.to);
    if (!from || !to) continue;
    const key = `${link.from}\n${link.to}`;
    const before = edges.get(key);
    if (before) before.label += `, ${link.type}`;
    else edges.set(key, { from, to, label: link.type, returns: links.some((other) => other.from === link.to && other.to === link.from) });
  }
  return { nodes, edges: [...edges.values()], width, height };
}

// Returns the direction of a link and its control point. Links bend, so that links in both directions do not overlap.
function bendOf({ from, to, returns }: Edge) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const across = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const aside = { x: -across.y, y: across.x };
  const by = returns ? 56 : 24;
  return { across, aside, middle: { x: (from.x + to.x) / 2 + aside.x * by, y: (from.y + to.y) / 2 + aside.y * by } };
}

export function pathOf(edge: Edge): string {
  const { from, to } = edge;
  if (from === to) return `M ${from.x - 24} ${from.y - 18} C ${from.x - 60} ${from.y - LOOP}, ${from.x + 60} ${from.y - LOOP}, ${from.x + 24} ${from.y - 22}`;
  const { across, middle } = bendOf(edge);
  const start = Math.min(52 / Math.max(Math.abs(across.x), 0.01), 20 / Math.max(Math.abs(across.y), 0.01));
  const end = start + 6;
  return `M ${from.x + across.x * start} ${from.y + across.y * start} Q ${middle.x} ${middle.y} ${to.x - across.x * end} ${to.y - across.y * end}`;
}

export interface Label { x: number; y: number; anchor: 'start' | 'middle' | 'end' }

// Where on its line a label stands: nearer to the beginning, because lines across the ellipse meet in the middle.
const ALONG = 0.32;

export function labelAt(edge: Edge): Label {
  const { from, to } = edge;
  if (from === to) return { x: from.x, y: from.y - LOOP + 8, anchor: 'middle' };
  const { aside, middle } = bendOf(edge);
  const at = (a: number, b: number, c: number) => (1 - ALONG) ** 2 * a + 2 * ALONG * (1 - ALONG) * b + ALONG ** 2 * c;
  const anchor = aside.x > 0.5 ? 'start' : aside.x < -0.5 ? 'end' : 'middle';
  return { x: at(from.x, middle.x, to.x) + aside.x * 6, y: at(from.y, middle.y, to.y) + aside.y * 10 + 4, anchor };
}
