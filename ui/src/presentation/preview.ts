import type { Preview } from '../api/types.ts';
import { count } from './text.ts';

// Returns the sentences that a preview shows besides the names.
export function lines(preview: Preview): string[] {
  const said: string[] = [];
  if (preview.becomes_live) said.push('Each caller will see what the upstream lists to them; only the upstream knows what that is.');
  if (preview.unread) said.push('What the upstream lists is not known until it has been read.');
  if (preview.affected.length === 0 && !preview.unread) said.push(`Nobody gains or loses anything; ${count(preview.looked_at, 'view')} compared.`);
  if (!preview.whole) said.push(`Only the first ${count(preview.looked_at, 'view')} of principals and contexts were compared.`);
  return said;
}
