// One interface for the official TypeScript clients, so that a test reads the same for every client, era and transport.
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as schemas from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientOld } from 'mcp-sdk-2024-11-05/client/index.js';
import { SSEClientTransport as SseOld } from 'mcp-sdk-2024-11-05/client/sse.js';
import { StdioClientTransport as StdioOld } from 'mcp-sdk-2024-11-05/client/stdio.js';
import * as oldSchemas from 'mcp-sdk-2024-11-05/types.js';

import { program, within } from './programs.mjs';

const INFO = { name: 'proteus-e2e', version: '1.0.0' };
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const PATIENCE_MS = 15_000;

// v1 identifies a message by its schema, v2 by its method.
const byMethod = (schemas) => ({
  'elicitation/create': schemas.ElicitRequestSchema,
  'sampling/createMessage': schemas.CreateMessageRequestSchema,
  'roots/list': schemas.ListRootsRequestSchema,
  'notifications/tools/list_changed': schemas.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': schemas.PromptListChangedNotificationSchema,
  'notifications/resources/list_changed': schemas.ResourceListChangedNotificationSchema,
  'notifications/resources/updated': schemas.ResourceUpdatedNotificationSchema,
  'notifications/message': schemas.LoggingMessageNotificationSchema,
  'notifications/elicitation/complete': schemas.ElicitationCompleteNotificationSchema
});
const V1_SCHEMA = byMethod(schemas);
const OLD_SCHEMA = byMethod(oldSchemas);

const V1 = {
  make: (capabilities = CAPABILITIES) => new ClientV1(INFO, { capabilities }),
  Http: HttpV1,
  Sse: SseV1,
  Stdio: StdioV1,
  key: (method) => V1_SCHEMA[method],
  finishSignIn: (transport, callback) => transport.finishAuth(callback.get('code')),
  call: (client, params, options) => client.callTool(params, undefined, options)
};

// A release that knows only 2024-11-05. It has no Streamable HTTP transport, so it uses that of v1.
const OLD = {
  make: () => new ClientOld(INFO, { capabilities: { sampling: {}, roots: { listChanged: true } } }),
  Http: HttpV1,
  Sse: SseOld,
  Stdio: StdioOld,
  key: (method) => OLD_SCHEMA[method],
  call: (client, params, options) => client.callTool(params, undefined, options)
};

const V2 = (mode) => ({
  make: (capabilities = CAPABILITIES) => new v2.Client(INFO, { capabilities, versionNegotiation: { mode } }),
  Http: v2.StreamableHTTPClientTransport,
  Stdio: StdioV2,
  key: (method) => method,
  finishSignIn: (transport, callback) => transport.finishAuth(callback),
  call: (client, params, options) => client.callTool(params, options)
});

/** Each official client in each era that it speaks. */
export const CLIENTS = [
  { name: 'TypeScript SDK v1, legacy', era: 'legacy', sdk: V1 },
  { name: 'TypeScript SDK v2, legacy', era: 'legacy', sdk: V2('legacy') },
  { name: 'TypeScript SDK v2, modern', era: 'modern', sdk: V2({ pin: '2026-07-28' }) }
];

/** A client that knows only 2024-11-05. */
export const OLD_CLIENT = { name: 'TypeScript SDK 1.4, 2024-11-05', era: 'legacy', sdk: OLD };

/** The v2 client that detects the era of the server. */
export const DETECTING = { name: 'TypeScript SDK v2, detecting', sdk: V2('auto') };

function authorization(token) {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function makeTransport(sdk, target, fetching) {
  if (target.sse) return sseTransport(sdk, target);
  if (target.url) {
    return new sdk.Http(new URL(target.url), { fetch: fetching, requestInit: { headers: authorization(target.token) }, authProvider: target.authProvider });
  }
  return new sdk.Stdio({
    command: target.command ?? program('everything-server'),
    args: target.args ?? ['--stdio', ...target.stdio],
    stderr: 'ignore'
  });
}

function sseTransport(sdk, { sse, token }) {
  const headers = authorization(token);
  const fetching = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } });
  return new sdk.Sse(new URL(sse), { eventSourceInit: { fetch: fetching }, requestInit: { headers } });
}

/**
 * A connected client, with the messages that it sent and received.
 *
 * `target` is `{ url }`, `{ sse }` for the HTTP+SSE transport, `{ stdio: [arguments of everything-server] }` or
 * `{ command, args }`. With `url` or `sse`, `token` is the bearer token to send. With `url`, `authProvider` is for a
 * client that gets its own token. `capabilities` replaces the default capabilities.
 */
export class Session {
  static async open({ sdk, era }, target) {
    const session = new Session(sdk, era, target);
    await within(PATIENCE_MS, 'connecting', session.client.connect(session.transport));
    return session;
  }

  constructor(sdk, era, target) {
    this.sdk = sdk;
    this.era = era;
    this.client = sdk.make(target.capabilities);
    this.sent = [];
    this.received = [];
    this.standingStream = new Promise((open) => {
      const fetching = async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === 'GET' && response.ok) open();
        return response;
      };
      this.transport = makeTransport(sdk, target, fetching);
      // Without a standing stream, notifications can arrive as soon as the client is connected.
      if (!target.url || era === 'modern') open();
    });
    this.transport.onmessage = (message) => this.received.push(message);
    const send = this.transport.send.bind(this.transport);
    this.transport.send = (message, options) => {
      this.sent.push(message);
      return send(message, options);
    };
  }

  call(name, args = {}, options = undefined) {
    return this.callWith({ name, arguments: args }, options);
  }

  callWith(params, options) {
    return within(PATIENCE_MS, params.name, this.sdk.call(this.client, params, options));
  }

  /** Answers the server's requests of `method`; `answer` gets their parameters. */
  answer(method, answer) {
    this.client.setRequestHandler(this.sdk.key(method), async (request) => answer(request.params));
  }

  /** Collects notifications of `method`; the result's `next(ms)` waits for one more. */
  notifications(method) {
    const seen = [];
    let wake = () => {};
    this.client.setNotificationHandler(this.sdk.key(method), (notification) => {
      seen.push(notification.params);
      wake();
    });
    let taken = 0;
    return {
      seen,
      next: async (ms = PATIENCE_MS) => {
        while (seen.length <= taken) {
          await within(ms, method, new Promise((resolve) => (wake = resolve)));
        }
        return seen[taken++];
      }
    };
  }

  /**
   * Makes sure that list changes will arrive: waits for the standing stream, or subscribes in the modern era. With
   * `uris`, also subscribes to updates of those resources.
   */
  async listenForChanges({ resources = false, uris = [] } = {}) {
    if (this.era === 'modern') {
      const filter = { toolsListChanged: true, promptsListChanged: true };
      if (resources) filter.resourcesListChanged = true;
      if (uris.length > 0) filter.resourceSubscriptions = uris;
      this.subscription = await within(PATIENCE_MS, 'subscriptions/listen', this.client.listen(filter));
    } else {
      for (const uri of uris) await within(PATIENCE_MS, 'resources/subscribe', this.client.subscribeResource({ uri }));
    }
    await within(PATIENCE_MS, 'the standing stream', this.standingStream);
  }

  /** Returns the sorted names on the first page; v2 reads all pages. `params` may have `_meta`. */
  async toolNames(params = {}) {
    return (await this.client.listTools(params)).tools.map((tool) => tool.name).sort();
  }

  async promptNames() {
    return (await this.client.listPrompts()).prompts.map((prompt) => prompt.name).sort();
  }

  /** Returns the last message of `method` that was sent. */
  lastSent(method) {
    return this.sent.findLast((message) => message.method === method);
  }

  /** Returns the response to a request that was sent, result or error; undefined if none has arrived. */
  answerTo(request) {
    return this.received.find((message) => message.id === request.id && !message.method);
  }

  async close() {
    await this.subscription?.close();
    await this.client.close();
  }
}

/** Returns a matcher of errors: whether a client's request was answered with this status of HTTP. */
export const isRefusedWith = (status) => (error) => error.code === status || error.status === status;

/** Returns the text blocks of a tool's result, joined. */
export function textOf(result) {
  return result.content.map((block) => block.text ?? '').join('\n');
}
