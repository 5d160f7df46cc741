import { useMemo } from 'preact/hooks';
import { api } from '../api/client.ts';
import { useLive } from '../live/live.ts';
import { callsOf, latencyOf } from '../presentation/figures.ts';
import { Chart } from './chart.tsx';

// Charts of requests, failures and latency of the last hour, of all client requests or of those to one upstream.
export function Figures({ upstream }: { upstream?: string }) {
  const { value } = useLive(() => api.figures(upstream), [upstream]);
  const calls = useMemo(() => callsOf(value ?? []), [value]);
  const latency = useMemo(() => latencyOf(value ?? []), [value]);
  return (
    <div class="charts">
      <Chart title="Requests a minute" {...calls} />
      <Chart title="Mean time" {...latency} />
    </div>
  );
}
