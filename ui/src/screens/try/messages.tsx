import { useState } from 'preact/hooks';
import type { Message } from '../../api/mcp.ts';
import { LongStranger, Stranger } from '../../parts/text.tsx';

const MOST = 200;

function word(content: unknown): string {
  const message = content as { method?: string; error?: unknown; result?: { resultType?: string } };
  if (message.method) return message.method;
  if (message.error) return 'error';
  return message.result?.resultType === 'input_required' ? 'input required' : 'result';
}

// Written out once somebody looks: it may be long.
function Said({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><span class="sign" aria-hidden="true">{message.sent ? '→' : '←'}</span>{message.sent ? 'sent' : 'received'} <code><Stranger text={word(message.content)} /></code></summary>
      {open && <pre class="definition"><LongStranger text={JSON.stringify(message.content, null, 2)} /></pre>}
    </details>
  );
}

// What was said, as it was said.
export function Messages({ messages }: { messages: Message[] }) {
  if (messages.length === 0) return null;
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <ol class="messages">
        {messages.slice(0, MOST).map((one, index) => (
          <li key={index}><Said message={one} /></li>
        ))}
      </ol>
      {messages.length > MOST && <p class="quiet">The first {MOST} of {messages.length.toLocaleString('en')}.</p>}
    </section>
  );
}
