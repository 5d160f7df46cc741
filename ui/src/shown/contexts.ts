import type { Context, View } from '../api/types.ts';

// What somebody finds in a context's list who has to search for the rest; nothing where the list has all.
export function listed(context: Context): string | undefined {
  if (context.disclosure !== 'search') return undefined;
  return ['only tools to search for the others', ...(context.always ?? [])].join(', ');
}

export type Shown = 'same' | 'other words' | 'absent';
export interface ComparedTool { name: string; shown: Shown[] }

// Which of some lists have a tool, and whether they describe it as the first one does that has it.
export function compare(views: View[]): ComparedTool[] {
  const lists = views.map((view) => new Map(view.entries.map((entry) => [entry.name, `${entry.description_bytes} ${entry.description}`])));
  const names = new Set(views.flatMap((view) => view.entries.map((entry) => entry.name)));
  return [...names].sort().map((name) => {
    const first = lists.find((list) => list.has(name))!.get(name);
    return { name, shown: lists.map((list) => (!list.has(name) ? 'absent' : list.get(name) === first ? 'same' : 'other words')) };
  });
}
