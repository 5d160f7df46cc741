// Reads what users paste to add upstreams: a URL, a command, or a client's configuration with `mcpServers`.

export type Settings = Record<string, unknown> & { name: string };
export interface Pasted { upstreams: Settings[]; notes: string[] }

// Returns a valid name of an upstream, from letters, digits, "-" and "_".
export const nameOf = (text: string) => text.toLowerCase().replace(/[^a-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 40) || 'upstream';

// Returns a name for pasted text if the user gives none.
export function suggestedName(text: string): string {
  if (/^https?:\/\//.test(text)) {
    const labels = (URL.canParse(text) ? new URL(text).hostname : '').split('.').filter((label) => !['www', 'mcp', 'api'].includes(label));
    return nameOf(/^[\d.:[\]]+$/.test(labels.join('.')) ? 'upstream' : labels[0] ?? '');
  }
  const words = commandOf(text).filter((word) => !word.startsWith('-'));
  return nameOf((words.length > 1 ? words[1]! : words[0] ?? '').split('/').at(-1)!.replace(/^(mcp-)?server-|\.\w+$/g, ''));
}

// Splits a command into words, which may be quoted.
export const commandOf = (text: string) => (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));

type Server = { url?: string; command?: string; args?: string[]; env?: Record<string, string>; headers?: Record<string, string>; type?: string };

function fromServer(key: string, server: Server, notes: string[]): Settings {
  const settings: Settings = { name: nameOf(key) };
  if (server.command) settings.command = [server.command, ...(server.args ?? [])];
  if (server.env && Object.keys(server.env).length > 0) settings.environment = server.env;
  if (server.url) settings.url = server.url;
  if (server.type === 'sse') settings.transport = 'sse';
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    const bearer = /^Bearer\s+(\S+)$/i.exec(value);
    if (name.toLowerCase() === 'authorization' && bearer) settings.authentication = { type: 'bearer', token: bearer[1] };
    else notes.push(`${key}: the header ${name} is ignored; set authentication yourself`);
  }
  return settings;
}

// Throws an error with a message for the user.
export function pasted(text: string, name: string): Pasted {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) {
    const called = name.trim() || suggestedName(trimmed);
    return { upstreams: [/^https?:\/\//.test(trimmed) ? { name: called, url: trimmed } : { name: called, command: commandOf(trimmed) }], notes: [] };
  }
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(trimmed);
  } catch {
    throw new Error('This looks like a file but is not valid JSON.');
  }
  const servers = (parsed.mcpServers ?? parsed.servers ?? parsed) as Record<string, Server>;
  const notes: string[] = [];
  const upstreams = Object.entries(servers)
    .filter(([, server]) => typeof server === 'object' && server !== null && (server.url || server.command))
    .map(([key, server]) => fromServer(key, server, notes));
  if (upstreams.length === 0) throw new Error('This file contains no server.');
  return { upstreams, notes };
}
