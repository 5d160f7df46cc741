import type { ToolResult } from '../../api/mcp.ts';
import { Badge } from '../../parts/state.tsx';
import { Stranger } from '../../parts/text.tsx';

const LONGEST = 20_000; // characters of one part; the messages have all of it

interface Citation { id?: unknown; table?: unknown; operation?: unknown; keys?: unknown }

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length.toLocaleString('en')} characters)` : text);

// Where a workup has its facts from.
function Citations({ all }: { all: Citation[] }) {
  return (
    <>
      <h3>Citations</h3>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Citations">
        <table>
          <thead><tr><th>Id</th><th>Table</th><th>Operation</th><th>Keys</th></tr></thead>
          <tbody>
            {all.slice(0, 200).map((one) => (
              <tr>{[one.id, one.table, one.operation, one.keys].map((cell) => <td><Stranger text={typeof cell === 'string' ? cell : JSON.stringify(cell ?? '')} /></td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function Result({ result }: { result: ToolResult }) {
  const citations = result.structuredContent?.provenance;
  return (
    <>
      <p>{result.isError ? <Badge tone="bad" mark="✖" word="The tool failed" /> : <Badge tone="good" mark="●" word="Done" />}</p>
      {(result.content ?? []).map((block) => (
        <pre class="definition"><Stranger text={shortened(block.type === 'text' ? block.text ?? '' : JSON.stringify(block, null, 2))} /></pre>
      ))}
      {Array.isArray(citations) && citations.length > 0 && <Citations all={citations as Citation[]} />}
      {result.structuredContent && (
        <details open={!result.content?.length}><summary>Structured content</summary><pre class="definition"><Stranger text={shortened(JSON.stringify(result.structuredContent, null, 2))} /></pre></details>
      )}
    </>
  );
}
