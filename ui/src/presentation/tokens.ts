import type { Disclosure, Token } from '../api/types.ts';
import { count } from './text.ts';

interface Access { contexts?: string[]; upstreams?: string[]; tools?: string[]; deny?: string[]; read_only?: boolean; requests_per_minute?: number; disclosure?: Disclosure }

// Describes what a token or rule allows, such as "tools files_* · not files_write". The unnamed context is /mcp.
export function uses(access: Access): string {
  const lists = (['upstreams', 'tools', 'contexts'] as const).flatMap((key) => {
    const all = access[key] ?? ['*'];
    return String(all) === '*' ? [] : [`${key} ${all.map((one) => one || '/mcp').join(', ') || 'none'}`];
  });
  const more = [
    access.deny && access.deny.length > 0 && `not ${access.deny.join(', ')}`,
    access.read_only && 'read only',
    access.disclosure === 'search' && 'lists only search tools',
    access.requests_per_minute && `${count(access.requests_per_minute, 'request')} a minute`
  ];
  return [...lists, ...more].filter(Boolean).join(' · ') || 'everything';
}

// Describes what a token may use, or why it failed: the rules of a failed token may not have been read.
export function about(token: Token): { text: string; failed: boolean } {
  if (token.state === 'failed') return { text: token.last_error ?? 'It cannot be read.', failed: true };
  return { text: token.origin === 'file' ? 'as the configuration says' : uses(token), failed: false };
}

export function revocationNotice(token: Token): string | undefined {
  if (token.durable !== false) return undefined;
  return `${token.name} is refused from now on, but the store could not record that. Proteus retries; until it succeeds, a restart brings the token back, and other processes of a cluster accept it.`;
}
