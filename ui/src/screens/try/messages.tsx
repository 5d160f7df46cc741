import type { Message } from '../../api/mcp.ts';
import { Stranger } from '../../parts/text.tsx';

const MOST = 200;

function word(content: unknown): string {
  const message = content as { method?: string; error?: unknown; result?: { resultType?: string } };
  if (message.method) return message.method;
  if (message.error) return 'error';
  return message.result?.resultType === 'input_required' ? 'input required' : 'result';
}

// What was said, as it was said.
export function Messages({ messages }: { messages: Message[] }) {
  if (messages.length === 0) return null;
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <ol class="messages">
        {messages.slice(0, MOST).map((one, index) => (
          <li key={index}>
            <details>
              <summary><span class="sign" aria-hidden="true">{one.sent ? '→' : '←'}</span>{one.sent ? 'sent' : 'received'} <code><Stranger text={word(one.content)} /></code></summary>
              <pre class="definition"><Stranger text={JSON.stringify(one.content, null, 2)} /></pre>
            </details>
          </li>
        ))}
      </ol>
      {messages.length > MOST && <p class="quiet">The first {MOST} of {messages.length.toLocaleString('en')}.</p>}
    </section>
  );
}
