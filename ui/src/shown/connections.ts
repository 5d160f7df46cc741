import type { Connection, Upstream } from '../api/types.ts';
import type { Tone } from './upstreams.ts';

const STATES: Record<string, { tone: Tone; mark: string; word: string }> = {
  connected: { tone: 'good', mark: '●', word: 'Connected' },
  'needs sign-in': { tone: 'warn', mark: '▲', word: 'Sign in' }
};

export function stateOf(connection: Connection): { tone: Tone; mark: string; word: string } {
  return STATES[connection.state] ?? { tone: 'bad', mark: '✖', word: connection.state.replaceAll('_', ' ') };
}

// Whether an upstream has people sign in.
export function signsIn(upstream: Upstream): boolean {
  const authentication = upstream.authentication as { type?: string; grant?: string } | undefined;
  return authentication?.type === 'oauth' && (authentication.grant ?? 'authorization_code') === 'authorization_code';
}
