import { useState } from 'preact/hooks';
import type { Message } from '../../api/mcp.ts';
import { MOST_MESSAGES, type MessageLog } from '../../presentation/messages.ts';
import { LongUntrustedText, UntrustedText } from '../../parts/text.tsx';

function word(content: unknown): string {
  const message = content as { method?: string; error?: unknown; result?: { resultType?: string } };
  if (message.method) return message.method;
  if (message.error) return 'error';
  return message.result?.resultType === 'input_required' ? 'input required' : 'result';
}

// Renders a message only when it is opened, because it may be long.
function Said({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><span class="sign" aria-hidden="true">{message.sent ? '→' : '←'}</span>{message.sent ? 'sent' : 'received'} <code><UntrustedText text={word(message.content)} /></code></summary>
      {open && <pre class="definition"><LongUntrustedText text={JSON.stringify(message.content, null, 2)} /></pre>}
    </details>
  );
}

// The JSON-RPC messages of a call, unchanged.
export function Messages({ log }: { log: MessageLog }) {
  if (log.total === 0) return null;
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <ol class="messages">
        {log.first.map((one, index) => (
          <li key={index}><Said message={one} /></li>
        ))}
      </ol>
      {log.total > MOST_MESSAGES && <p class="quiet">The first {MOST_MESSAGES} of {log.total.toLocaleString('en')}.</p>}
    </section>
  );
}
