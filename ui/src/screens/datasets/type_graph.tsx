import { visible } from '../../presentation/text.ts';
import { graphOf, labelAt, pathOf, type Link } from '../../presentation/graph.ts';

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Draws entity types and the relationships between them.
export function TypeGraph({ types, links }: { types: string[]; links: Link[] }) {
  const graph = graphOf(types, links);
  const words = graph.edges.map((edge) => `${edge.from.name} ${edge.label} ${edge.to.name}`).join('; ');
  return (
    <svg class="graph" viewBox={`0 0 ${graph.width} ${graph.height}`} role="img" aria-label={visible(`Types: ${types.join(', ')}. ${words}`)}>
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M 0 0 L 8 4 L 0 8 z" /></marker></defs>
      {graph.edges.map((edge) => <path key={`${edge.from.name} ${edge.to.name}`} class="edge" d={pathOf(edge)} marker-end="url(#arrow)" />)}
      {graph.edges.map((edge) => { const at = labelAt(edge); return <text key={edge.label + at.x} class="label" x={at.x} y={at.y} text-anchor={at.anchor}>{visible(cut(edge.label, 32))}</text>; })}
      {graph.nodes.map((node) => (
        <g key={node.name}><rect x={node.x - 50} y={node.y - 17} width="100" height="34" rx="8" /><text x={node.x} y={node.y + 5}>{visible(cut(node.name, 13))}</text></g>
      ))}
    </svg>
  );
}
