// Keeps screens up to date. One tab follows the gateway's change log and notifies the others, because a browser opens
// only six connections to a host. If that tab is closed, its lock passes to another tab.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, Problem } from '../api/client.ts';

const TICK = 5000; // polls, because the change log does not contain changes of state
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

function notifyListeners() {
  for (const listener of listeners) listener();
}
export function announce() {
  channel?.postMessage('changed');
  notifyListeners();
}
channel?.addEventListener('message', notifyListeners);
// Calls the listener when another tab announces a change, until the returned function is called.
export function onOtherTabChange(listener: () => void): () => void {
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
// Starts the updates after sign-in. Idempotent.
export function start() {
  if (started) return;
  started = true;
  if (navigator.locks) void navigator.locks.request('proteus-live', follow);
  else void follow();
  setInterval(() => { if (!document.hidden) notifyListeners(); }, TICK);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) notifyListeners(); });
}

export interface Loaded<Value> {
  value: Value | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

// Returns the result of `load`, which runs again whenever something may have changed. Keeps the last value while it
// loads and if the gateway cannot be reached, but never returns a value of other inputs.
export function useLive<Value>(load: () => Promise<Value>, inputs: readonly unknown[]): Loaded<Value> {
  const loader = useCallback(load, inputs);
  const [state, setState] = useState<{ of: unknown; value?: Value; problem?: Problem }>({ of: loader });
  const current = useRef(0);
  const busy = useRef(false);
  const run = useCallback(async (force: boolean) => {
    if (busy.current && !force) return;
    busy.current = true;
    const own = ++current.current;
    try {
      const value = await loader();
      if (own === current.current) setState({ of: loader, value });
      setConnection('live');
    } catch (caught) {
      const problem = caught instanceof Problem ? caught : new Problem(0, String(caught));
      if (problem.status === 0) setConnection('lost');
      if (own !== current.current) return;
      setState((before) => {
        const value = before.of === loader ? before.value : undefined;
        if (problem.status === 0 && value !== undefined) return before; // the page shows a notice
        return { of: loader, value: problem.status === 404 ? undefined : value, problem };
      });
    } finally {
      if (own === current.current) busy.current = false;
    }
  }, [loader]);
  useEffect(() => {
    void run(true);
    const again = () => void run(false);
    listeners.add(again);
    return () => void listeners.delete(again);
  }, [run]);
  const isCurrent = state.of === loader;
  return { value: isCurrent ? state.value : undefined, problem: isCurrent ? state.problem : undefined, reload: () => void run(true) };
}
