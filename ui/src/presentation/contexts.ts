import type { Context, View } from '../api/types.ts';

// Describes the list of a context whose callers must search for most tools; undefined if the list has all tools.
export function listed(context: Context): string | undefined {
  if (context.disclosure !== 'search') return undefined;
  return ['only the search tools', ...(context.always ?? [])].join(', ');
}

// How one of several lists shows a tool. Unknown: the tool may be in the part of the list that was not loaded.
export type Shown = 'same' | 'other description' | 'absent' | 'unknown';
export interface ComparedTool { name: string; shown: Shown[] }

export const isWhole = (view: View) => view.entries.length >= view.total;

// Compares lists: which of them have a tool, and whether its description is that of the first list that has the tool.
export function compare(views: View[]): ComparedTool[] {
  const lists = views.map((view) => ({ missing: isWhole(view) ? 'absent' as const : 'unknown' as const, tools: new Map(view.entries.map((entry) => [entry.name, `${entry.description_bytes} ${entry.description}`])) }));
  const names = new Set(views.flatMap((view) => view.entries.map((entry) => entry.name)));
  return [...names].sort().map((name) => {
    const first = lists.find(({ tools }) => tools.has(name))!.tools.get(name);
    return { name, shown: lists.map(({ tools, missing }) => (!tools.has(name) ? missing : tools.get(name) === first ? 'same' : 'other description')) };
  });
}
