// What changes is shown without reloading. One tab follows the gateway's change log and tells the others, because a browser
// opens only six connections to a host; the lock passes to another tab when that one is closed.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, Problem } from '../api/client.ts';

const TICK = 5000; // states change without being in the change log
const listeners = new Set<() => void>();
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('proteus') : null;

export type Connection = 'live' | 'lost';
let connection: Connection = 'live';
const connectionListeners = new Set<(connection: Connection) => void>();

function setConnection(next: Connection) {
  if (next === connection) return;
  connection = next;
  for (const listener of connectionListeners) listener(next);
}

export function useConnection(): Connection {
  const [now, set] = useState(connection);
  useEffect(() => {
    connectionListeners.add(set);
    return () => void connectionListeners.delete(set);
  }, []);
  return now;
}

function tell() {
  for (const listener of listeners) listener();
}
export function announce() {
  channel?.postMessage('changed');
  tell();
}
channel?.addEventListener('message', tell);
// Calls back when another tab did something, until the returned function is called.
export function whenOthersAct(listener: () => void): () => void {
  channel?.addEventListener('message', listener);
  return () => channel?.removeEventListener('message', listener);
}

async function follow(): Promise<never> {
  for (;;) {
    try {
      const { newest } = await api.changes(Number.MAX_SAFE_INTEGER, 1);
      const source = new EventSource(`/admin/changes?since=${newest}`);
      const ended = new Promise<void>((end) => {
        source.onerror = () => { if (source.readyState === EventSource.CLOSED) end(); };
      });
      source.addEventListener('change', announce);
      source.addEventListener('gap', announce);
      await ended;
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) await new Promise((go) => setTimeout(go, TICK));
    }
    await new Promise((go) => setTimeout(go, TICK));
  }
}

let started = false;
// Once, when somebody has signed in.
export function start() {
  if (started) return;
  started = true;
  if (navigator.locks) void navigator.locks.request('proteus-live', follow);
  else void follow();
  setInterval(() => { if (!document.hidden) tell(); }, TICK);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) tell(); });
}

export interface Loaded<Value> {
  value: Value | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

// What a function of the API gives, again whenever something may have changed. The last value stays while it loads, and when
// the gateway cannot be reached.
export function useLive<Value>(load: () => Promise<Value>, inputs: readonly unknown[]): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; problem?: Problem }>({});
  const current = useRef(0);
  const busy = useRef(false);
  const run = useCallback(async (force: boolean) => {
    if (busy.current && !force) return;
    busy.current = true;
    const own = ++current.current;
    try {
      const value = await load();
      if (own === current.current) setState({ value });
      setConnection('live');
    } catch (caught) {
      const problem = caught instanceof Problem ? caught : new Problem(0, String(caught));
      if (problem.status === 0) setConnection('lost');
      if (own !== current.current) return;
      setState((before) => {
        if (problem.status === 0 && before.value !== undefined) return before; // the page says so above all screens
        return { value: problem.status === 404 ? undefined : before.value, problem };
      });
    } finally {
      if (own === current.current) busy.current = false;
    }
  }, inputs);
  useEffect(() => {
    setState((before) => ({ value: before.value }));
    void run(true);
    const again = () => void run(false);
    listeners.add(again);
    return () => void listeners.delete(again);
  }, [run]);
  return { value: state.value, problem: state.problem, reload: () => void run(true) };
}
