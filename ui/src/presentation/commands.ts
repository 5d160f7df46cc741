// Writes actions of the page as curl commands and as configuration.

// Quotes a word for a POSIX shell.
export const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function asCurl(origin: string, method: string, path: string, body?: unknown): string {
  const parts = ['curl', '-X', method, quoted(origin + path), '-H', '"X-Admin-Secret: $SECRET"'];
  if (body !== undefined) parts.push('-d', quoted(JSON.stringify(body)));
  return parts.join(' ');
}

// JSON is valid TOML except for objects and null.
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${tomlKey(key)} = ${tomlValue(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
const tomlKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

// Writes the settings of an upstream. Leaves out settings that are reset.
export function asToml(name: string, settings: Record<string, unknown>): string {
  const keys = Object.entries({ name, ...settings }).filter(([, value]) => value !== null);
  return ['[[upstreams]]', ...keys.map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`)].join('\n');
}
