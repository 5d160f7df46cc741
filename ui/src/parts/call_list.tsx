import type { CallRecord } from '../api/types.ts';
import { outcomeOf, took } from '../presentation/calls.ts';
import { ago, moment } from '../presentation/time.ts';
import { Link } from './page.tsx';
import { Badge } from './state.tsx';
import { UntrustedText } from './text.tsx';

export const NotKept = () => <p class="quiet">Calls are not recorded. <code>[telemetry] records = "memory"</code> keeps the last 100 of each upstream: the caller, the name, the outcome and the duration, but no arguments.</p>;

export function CallList({ records, withUpstream }: { records: CallRecord[]; withUpstream?: boolean }) {
  const now = Date.now();
  return (
    <ol class="calls">
      {records.map((record) => (
        <li key={record.number}>
          <Badge {...outcomeOf(record)} />
          <span class="about"><code><UntrustedText text={record.name || record.method} /></code>
            <span class="quiet">{record.method !== 'tools/call' && `${record.method} `}by {record.principal ? <UntrustedText text={record.principal} /> : 'somebody without a token'}{record.context && <> at <code>/mcp/{record.context}</code></>}
              {withUpstream && <> to <Link href={`/ui/upstreams/${encodeURIComponent(record.upstream)}`}><UntrustedText text={record.upstream} /></Link></>}</span></span>
          <span class="quiet number">{took(record.duration_ms)}</span>
          <time class="quiet number" dateTime={record.at} title={moment(record.at)}>{ago(record.at, now)}</time>
        </li>
      ))}
    </ol>
  );
}
