import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/client.ts';
import { visible } from '../presentation/text.ts';

export function ProblemNotice({ problem }: { problem: Problem | undefined }) {
  if (!problem || problem.status === 401) return null;
  return (
    <div class="notice bad" role="alert">
      <strong>{visible(problem.message)}</strong>
      {problem.faults.length > 0 && (
        <ul>{problem.faults.map((fault) => <li>{fault.pointer ? <code>{visible(fault.pointer)}</code> : null} {visible(fault.message)}</li>)}</ul>
      )}
    </div>
  );
}

// A warning that something was done only in part.
export function Caveat({ text }: { text: string | undefined }) {
  return text ? <p class="notice warn" role="alert">{visible(text)}</p> : null;
}

// An empty screen, with a hint what to do.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2>{children}</div>;
}

export const Loading = () => <p class="quiet" role="status">Loading…</p>;
