// The clients of the matrix. `server` is the mode of our own server that a client is tested with, `via` the transport.
const row = (name, pkg, module, more = {}) => ({ name, package: pkg, module: `${more.form ?? 'full'}/clients/${module}.mjs`, form: 'full', via: 'http', server: 'v1', ...more });
const short = { form: 'short' };

export const CLIENTS = [
  row('TypeScript SDK 1.0 (2024-11-05)', 'sdk-1.0', 'sdk_1.0', { ...short, via: 'stdio' }),
  row('TypeScript SDK 1.10 (2024-11-05)', 'sdk-1.10', 'sdk_1.10', short),
  row('TypeScript SDK 1.12 (2025-03-26)', 'sdk-1.12', 'sdk_1.12'),
  row('TypeScript SDK 1.15 (2025-06-18)', 'sdk-1.15', 'sdk_1.15'),
  row('TypeScript SDK 1.20 (2025-06-18)', 'sdk-1.20', 'sdk_1.20'),
  row('TypeScript SDK v1', '@modelcontextprotocol/sdk', 'sdk_v1', short),
  row('TypeScript SDK v1, stdio', '@modelcontextprotocol/sdk', 'sdk_v1', { via: 'stdio', module: 'short/clients/sdk_v1.mjs' }),
  row('TypeScript SDK v2, legacy', '@modelcontextprotocol/client', 'sdk_v2_legacy', short),
  row('TypeScript SDK v2, modern', '@modelcontextprotocol/client', 'sdk_v2_modern', { ...short, server: 'v2' }),
  row('TypeScript SDK v2, which finds out', '@modelcontextprotocol/client', 'sdk_v2_auto', { module: 'short/clients/sdk_v2_auto.mjs', server: 'v2' }),
  row('AI SDK', '@ai-sdk/mcp', 'ai_sdk', { ...short, server: 'v2' }),
  row('Inspector, command line', '@modelcontextprotocol/inspector', 'inspector'),
  row('mcp-remote', 'mcp-remote', 'mcp_remote'),
  row('LangChain adapters', '@langchain/mcp-adapters', 'langchain'),
  row('Mastra', '@mastra/mcp', 'mastra', { server: 'v2' }),
  row('OpenAI Agents', '@openai/agents', 'openai_agents', { server: 'v2' }),
  row('OpenAI Agents, at a server of both eras', '@openai/agents', 'openai_agents', { server: 'v2 with sessions' }),
  row('mcp-use', 'mcp-use', 'mcp_use'),
  row('mcporter', 'mcporter', 'mcporter'),
  row('Strands Agents', '@strands-agents/sdk', 'strands'),
  row('Genkit', '@genkit-ai/mcp', 'genkit')
];

export const STEPS = ['connect', 'list', 'call', 'error', 'list again', 'new tool', 'disconnect'];
