import type { Connection, EndedConnection, Upstream } from '../api/types.ts';
import type { Tone } from './upstreams.ts';

const STATES: Record<string, { tone: Tone; mark: string; word: string }> = {
  connected: { tone: 'good', mark: '●', word: 'Connected' },
  'needs sign-in': { tone: 'warn', mark: '▲', word: 'Sign in' }
};

export function stateOf(connection: Connection): { tone: Tone; mark: string; word: string } {
  return STATES[connection.state] ?? { tone: 'bad', mark: '✖', word: connection.state.replaceAll('_', ' ') };
}

// Returns a notice if a connection ended without its token being revoked. If the token was revoked, `last_error` comes
// from an earlier refresh and is not shown.
export function disconnectionNotice(ended: EndedConnection): string | undefined {
  if (ended.revoked) return undefined;
  const why = ended.last_error ? `: ${ended.last_error}` : '';
  return `The connection to ${ended.upstream} has ended and Proteus has forgotten its tokens, but they were not revoked at the authorization server${why}. Copies of them may still work.`;
}

// Returns whether users sign in at this upstream.
export function signsIn(upstream: Upstream): boolean {
  const authentication = upstream.authentication as { type?: string; grant?: string } | undefined;
  return authentication?.type === 'oauth' && (authentication.grant ?? 'authorization_code') === 'authorization_code';
}
