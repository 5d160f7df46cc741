import type { CallRecord } from '../api/types.ts';
import { outcomeOf, took } from '../shown/calls.ts';
import { ago, moment } from '../shown/time.ts';
import { Link } from './page.tsx';
import { Badge } from './state.tsx';
import { Stranger } from './text.tsx';

export const NotKept = () => <p class="quiet">Calls are not recorded. <code>[telemetry] records = "memory"</code> keeps the last 100 of each upstream: who, what, how it ended and how long it took; no arguments.</p>;

export function CallList({ records, withUpstream }: { records: CallRecord[]; withUpstream?: boolean }) {
  const now = Date.now();
  return (
    <ol class="calls">
      {records.map((record) => (
        <li key={record.number}>
          <Badge {...outcomeOf(record)} />
          <span class="about"><code><Stranger text={record.name || record.method} /></code>
            <span class="quiet">{record.method !== 'tools/call' && `${record.method} `}by {record.principal ? <Stranger text={record.principal} /> : 'somebody without a token'}{record.context && <> at <code>/mcp/{record.context}</code></>}
              {withUpstream && <> of <Link href={`/ui/upstreams/${encodeURIComponent(record.upstream)}`}><Stranger text={record.upstream} /></Link></>}</span></span>
          <span class="quiet number">{took(record.duration_ms)}</span>
          <time class="quiet number" dateTime={record.at} title={moment(record.at)}>{ago(record.at, now)}</time>
        </li>
      ))}
    </ol>
  );
}
