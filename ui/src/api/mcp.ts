// Calls a tool through the gateway's MCP endpoint, as a client of the modern era.

export interface Message { sent: boolean; content: unknown }
export interface Progress { progress: number; total?: number; message?: string }
export interface Question { method: string; params?: { message?: string; mode?: string; url?: string; requestedSchema?: Record<string, unknown> } }
export interface ToolResult {
  resultType?: string;
  content?: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  inputRequests?: Record<string, Question>;
  requestState?: string;
}
export interface Answered { action: 'accept' | 'decline' | 'cancel'; content?: unknown }

export interface Call {
  token: string;
  context: string;
  name: string;
  arguments: unknown;
  schema?: { properties?: Record<string, Record<string, unknown>> };
  again?: { answers: Record<string, Answered>; state: string | undefined }; // answers to the questions of the call
}
export interface Observer { message: (message: Message) => void; progress: (progress: Progress) => void }

export class CallFailed extends Error {}

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol';

// Encodes a header value that is not printable ASCII.
export function headerValue(value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?')) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

// Returns headers for the arguments that the tool's schema mirrors, so that intermediaries can route by them.
function mirrored(call: Call): Record<string, string> {
  const headers: Record<string, string> = {};
  const given = (call.arguments ?? {}) as Record<string, unknown>;
  for (const [key, schema] of Object.entries(call.schema?.properties ?? {})) {
    const name = schema['x-mcp-header'];
    const value = given[key];
    if (typeof name === 'string' && ['string', 'number', 'boolean'].includes(typeof value)) headers[`mcp-param-${name}`] = headerValue(String(value));
  }
  return headers;
}

let lastId = 0;

export async function callTool(call: Call, observer: Observer, signal: AbortSignal): Promise<ToolResult> {
  const id = ++lastId;
  const message = {
    jsonrpc: '2.0', id, method: 'tools/call',
    params: {
      name: call.name, arguments: call.arguments,
      ...(call.again ? { inputResponses: call.again.answers, ...(call.again.state === undefined ? {} : { requestState: call.again.state }) } : {}),
      _meta: {
        [`${META}/protocolVersion`]: VERSION,
        [`${META}/clientInfo`]: { name: 'proteus-page', version: '1' },
        [`${META}/clientCapabilities`]: { elicitation: { form: {}, url: {} } },
        progressToken: id
      }
    }
  };
  observer.message({ sent: true, content: message });
  const answer = await fetch(call.context ? `/mcp/${encodeURIComponent(call.context)}` : '/mcp', {
    method: 'POST', signal, credentials: 'omit',
    headers: {
      authorization: `Bearer ${call.token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': headerValue(call.name), ...mirrored(call)
    },
    body: JSON.stringify(message)
  });
  let result: ToolResult | undefined;
  const receive = (content: Received) => {
    observer.message({ sent: false, content });
    if (content.method === 'notifications/progress' && content.params) observer.progress(content.params as unknown as Progress);
    if (content.error) throw new CallFailed(content.error.message ?? 'the gateway answered with an error');
    if (content.result) result = content.result;
  };
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    for await (const data of events(answer.body!)) receive(JSON.parse(data));
  } else {
    const text = await answer.text();
    let content: Received & { detail?: string };
    try {
      content = JSON.parse(text);
    } catch {
      throw new CallFailed(`the gateway answered ${answer.status}`);
    }
    receive(content);
    if (!result) throw new CallFailed(content.detail ?? `the gateway answered ${answer.status}`);
  }
  if (!result) throw new CallFailed('the stream ended without an answer');
  return result;
}

interface Received { method?: string; params?: Record<string, unknown>; result?: ToolResult; error?: { message?: string } }

// Yields the data of each event of a stream.
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? '';
    if (!done && !value.includes('\n')) continue; // splits a long event once, not with each of its parts
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = done ? '' : blocks.pop()!;
    for (const block of blocks) {
      const data = block.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).replace(/^ /, '')).join('\n');
      if (data) yield data;
    }
    if (done) return;
  }
}
