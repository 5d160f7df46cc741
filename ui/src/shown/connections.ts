import type { Connection, EndedConnection, Upstream } from '../api/types.ts';
import type { Tone } from './upstreams.ts';

const STATES: Record<string, { tone: Tone; mark: string; word: string }> = {
  connected: { tone: 'good', mark: '●', word: 'Connected' },
  'needs sign-in': { tone: 'warn', mark: '▲', word: 'Sign in' }
};

export function stateOf(connection: Connection): { tone: Tone; mark: string; word: string } {
  return STATES[connection.state] ?? { tone: 'bad', mark: '✖', word: connection.state.replaceAll('_', ' ') };
}

// Of a connection that ended without its token being revoked. Where it was, `last_error` is of an earlier refresh.
export function disconnectionNotice(ended: EndedConnection): string | undefined {
  if (ended.revoked) return undefined;
  const why = ended.last_error ? `: ${ended.last_error}` : '';
  return `The connection to ${ended.upstream} has ended and Proteus has forgotten its tokens, but they were not revoked at the authorization server${why}. A copy of them may still work.`;
}

// Whether an upstream has people sign in.
export function signsIn(upstream: Upstream): boolean {
  const authentication = upstream.authentication as { type?: string; grant?: string } | undefined;
  return authentication?.type === 'oauth' && (authentication.grant ?? 'authorization_code') === 'authorization_code';
}
