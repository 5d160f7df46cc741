// The types of a dataset on a circle, and their links.

export interface Link { type: string; from: string; to: string }
export interface Node { name: string; x: number; y: number }
export interface Edge { from: Node; to: Node; label: string }
export interface Graph { nodes: Node[]; edges: Edge[]; width: number; height: number }

const MOST = 24; // types; more are not readable as a picture

// Links between the same two types are one line with all their names.
export function graphOf(types: string[], links: Link[]): Graph {
  const shown = types.slice(0, MOST);
  const radius = Math.max(90, shown.length * 26);
  const width = radius * 2 + 180;
  const height = radius * 2 + 80;
  const nodes = shown.map((name, index) => {
    const angle = (index / Math.max(1, shown.length)) * 2 * Math.PI - Math.PI / 2;
    const spread = shown.length > 1 ? radius : 0;
    return { name, x: width / 2 + Math.cos(angle) * spread, y: height / 2 + Math.sin(angle) * spread };
  });
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const edges = new Map<string, Edge>();
  for (const link of links) {
    const from = byName.get(link.from);
    const to = byName.get(link.to);
    if (!from || !to) continue;
    const key = `${link.from}\n${link.to}`;
    const before = edges.get(key);
    if (before) before.label += `, ${link.type}`;
    else edges.set(key, { from, to, label: link.type });
  }
  return { nodes, edges: [...edges.values()], width, height };
}

// From the edge of one box to that of the other, bent a little so that both directions can be told apart.
export function pathOf({ from, to }: Edge): string {
  if (from === to) return `M ${from.x - 20} ${from.y - 14} C ${from.x - 70} ${from.y - 80}, ${from.x + 70} ${from.y - 80}, ${from.x + 20} ${from.y - 16}`;
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const across = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const reach = (direction: { x: number; y: number }) => Math.min(52 / Math.max(Math.abs(direction.x), 0.01), 20 / Math.max(Math.abs(direction.y), 0.01));
  const start = reach(across);
  const end = start + 6;
  const middle = { x: (from.x + to.x) / 2 - across.y * 24, y: (from.y + to.y) / 2 + across.x * 24 };
  return `M ${from.x + across.x * start} ${from.y + across.y * start} Q ${middle.x} ${middle.y} ${to.x - across.x * end} ${to.y - across.y * end}`;
}

export function labelAt({ from, to }: Edge): { x: number; y: number } {
  if (from === to) return { x: from.x, y: from.y - 70 };
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  return { x: (from.x + to.x) / 2 - ((to.y - from.y) / length) * 14, y: (from.y + to.y) / 2 + ((to.x - from.x) / length) * 14 };
}
