import { asCurl, asToml } from '../shown/commands.ts';
import { Stranger } from './text.tsx';

interface Properties { method: string; path: string; body?: unknown; upstream?: string; title?: string }

// The same action for a script, and for the configuration where it has a place there.
export function Commands({ method, path, body, upstream, title = 'As curl' }: Properties) {
  return (
    <details class="commands">
      <summary>{title}{upstream ? ' and TOML' : ''}</summary>
      <pre class="definition"><Stranger text={asCurl(location.origin, method, path, body)} /></pre>
      {upstream && <pre class="definition"><Stranger text={asToml(upstream, body as Record<string, unknown>)} /></pre>}
    </details>
  );
}
