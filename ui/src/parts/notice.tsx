import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/client.ts';
import { visible } from '../shown/text.ts';

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

// What was done, but not in full.
export function Caveat({ text }: { text: string | undefined }) {
  return text ? <p class="notice warn" role="alert">{visible(text)}</p> : null;
}

// What to do where there is nothing yet.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2>{children}</div>;
}

export const Loading = () => <p class="quiet" role="status">Loading…</p>;
