import type { ToolResult } from '../../api/mcp.ts';
import { Badge } from '../../parts/state.tsx';
import { LongUntrustedText, UntrustedText } from '../../parts/text.tsx';

const MOST_BLOCKS = 100;

interface Citation { id?: unknown; table?: unknown; operation?: unknown; keys?: unknown }

// The sources of a workup's facts.
function Citations({ all }: { all: Citation[] }) {
  return (
    <>
      <h3>Citations</h3>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Citations">
        <table>
          <thead><tr><th>Id</th><th>Table</th><th>Operation</th><th>Keys</th></tr></thead>
          <tbody>
            {all.slice(0, 200).map((one) => (
              <tr>{[one.id, one.table, one.operation, one.keys].map((cell) => <td><UntrustedText text={typeof cell === 'string' ? cell : JSON.stringify(cell ?? '')} /></td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function Result({ result }: { result: ToolResult }) {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const citations = result.structuredContent?.provenance;
  return (
    <>
      <p>{result.isError ? <Badge tone="bad" mark="✖" word="The tool failed" /> : <Badge tone="good" mark="●" word="Done" />}</p>
      {blocks.slice(0, MOST_BLOCKS).map((block) => (
        <pre class="definition"><LongUntrustedText text={block?.type === 'text' ? String(block.text ?? '') : JSON.stringify(block, null, 2)} /></pre>
      ))}
      {blocks.length > MOST_BLOCKS && <p class="quiet">The first {MOST_BLOCKS} of {blocks.length.toLocaleString('en')} blocks.</p>}
      {Array.isArray(citations) && citations.length > 0 && <Citations all={citations as Citation[]} />}
      {result.structuredContent && (
        <details open={!result.content?.length}><summary>Structured content</summary><pre class="definition"><LongUntrustedText text={JSON.stringify(result.structuredContent, null, 2)} /></pre></details>
      )}
    </>
  );
}
