import { asCurl, asToml } from '../presentation/commands.ts';
import { UntrustedText } from './text.tsx';

interface Properties { method: string; path: string; body?: unknown; upstream?: string; title?: string }

// Shows an action as a curl command, and as TOML if it belongs in the configuration.
export function Commands({ method, path, body, upstream, title = 'As curl' }: Properties) {
  return (
    <details class="commands">
      <summary>{title}{upstream ? ' and TOML' : ''}</summary>
      <pre class="definition"><UntrustedText text={asCurl(location.origin, method, path, body)} /></pre>
      {upstream && <pre class="definition"><UntrustedText text={asToml(upstream, body as Record<string, unknown>)} /></pre>}
    </details>
  );
}
