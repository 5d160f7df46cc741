// What the admin API answers, as far as the page shows it. docs/admin-api.md has all of it.

export type Role = 'admin' | 'viewer';

export interface Session {
  name: string;
  role: Role;
  token: string;
  until: string;
  version: string;
  path?: string; // of the page, that was open before somebody went to sign in
}

export type State = 'connecting' | 'connected' | 'degraded' | 'failed' | 'paused';
export type Strategy = 'cached' | 'direct_proxy';

export interface Omission { kind: string; name: string; reason: string }
export interface Shadowed { kind: string; name: string; by: string }
export interface ListFault { kind: string; method: string; cause: string; error: string }
export interface Calls { total: number; failed: number; mean_ms: number | null }

export interface Upstream {
  name: string;
  display_name?: string;
  id: string;
  origin: 'file' | 'file_override' | 'runtime';
  created_at: string;
  updated_at: string;
  state: State;
  circuit: 'closed' | 'open' | 'half_open';
  watch: string;
  era?: string;
  protocol_version: string | null;
  transport?: string;
  url?: string;
  last_refresh_at: string | null;
  last_error: string | null;
  consecutive_failures: number;
  refresh_strategy: Strategy;
  enabled: boolean;
  trust: string;
  tools: number;
  prompts: number;
  resources: number;
  resource_templates: number;
  overrides?: string[];
  pins?: { ratified: number; proposals: number; rejected: number; blocked: number };
  shaping?: { tables: { match: string[]; fits: number }[]; hidden: number; warnings: string[] };
  shadowed?: Shadowed[];
  omissions?: Omission[];
  list_faults?: ListFault[];
  mapped_names?: { kind: string; name: string; own: string }[];
  calls?: Calls;
  [setting: string]: unknown;
}

export interface ChangedEntry { name: string; breaking: boolean; reasons: string[] }
export interface KindChange { added?: string[]; removed?: string[]; changed?: ChangedEntry[] }
export type Changes = Record<string, KindChange>;

export interface RefreshResult {
  upstream: string;
  ok: boolean;
  at: string;
  duration_ms: number;
  error?: string;
  [kind: string]: unknown;
}

export interface ChangeRecord { number: number; at: string; upstream: string; kinds: string[]; change: Changes }
export interface ChangePage { changes: ChangeRecord[]; oldest: number; newest: number; next: number }

export interface Proposal {
  id: string;
  type: string;
  upstream: string;
  kind: string;
  name: string;
  sha256: string;
  change: 'new' | 'changed';
  breaking: boolean;
  reasons: string[];
  bytes: number;
  // What a long list leaves out.
  diff?: string;
  ratified?: unknown;
  proposed?: unknown;
}

export interface Entry {
  name: string;
  own_name: string;
  upstream: string;
  title?: string;
  description: string; // its beginning
  description_bytes: number; // of all of it
  read_only?: boolean;
}
export interface View { as: string | null; context: string; kind: string; version: number; total: number; offset: number; entries: Entry[]; listed_live: string[]; searches: boolean }

export type Visibility = 'seen' | 'not_seen' | 'upstream_knows';
export interface Finding { upstream: string | null; visibility: Visibility; decided_by: string; detail: string }
export interface Why extends Finding {
  name: string;
  as: string | null;
  context: string;
  upstreams: Finding[];
  shown_name?: string;
  own_name?: string;
  parts?: { from: string; name: string; text: string }[];
  missing_scopes?: string[];
  definition?: unknown;
}

export interface Principals { principals: { name: string; origin: string }[]; anonymous: boolean }
export interface Context {
  name: string;
  display_name: string;
  endpoint: string;
  include: string[];
  exclude: string[];
  siblings: string[];
  instructions: string;
  warnings: string[];
}
export interface Token {
  name: string;
  origin: 'file' | 'runtime';
  state: string;
  upstreams?: string[];
  tools?: string[];
  deny?: string[];
  read_only?: boolean;
  created_at?: string;
  expires_at?: string;
  last_used_at?: string;
}
export interface Dataset {
  name: string;
  file: string;
  status: string;
  reason?: string;
  connected: boolean;
  tool?: string;
  ratified?: { by: string; at: string };
  withdrawn?: { reason: string; at: string };
  entity_types?: string[];
  relationships?: { type: string; from: string; to: string }[];
  relationship_types?: string[];
}
export interface Datasets { datasets: Dataset[]; environment: string[]; faults?: string[] }
export interface MappingProblem { kind: string; message: string; path?: string; line?: number; column?: number }
export interface ReviewedMapping {
  ok?: boolean;
  problems: MappingProblem[];
  name?: string;
  entity_types?: string[];
  relationships?: { type: string; from: string; to: string }[];
}
export interface ProposedMapping extends ReviewedMapping { draft: string }
export interface IssuedToken extends Token { token: string }

export interface Connection {
  id: string;
  upstream: string;
  subject: 'gateway' | 'caller';
  principal: string;
  issuer: string;
  scopes: string[];
  state: string;
  connected_at: string;
  expires_at?: string;
  last_error?: string;
}

export interface Listed<One> { total: number; newest: One[] }
export interface ClientSession { id: string; principal: string | null; context: string; client: string; protocol_version: string; began_at: string; last_used_at: string; listens: boolean }
export interface Stream { id: string; principal: string | null; context: string; began_at: string; hears_of: string[]; resources: number }
export interface ParkedCall { id: string; principal: string | null; upstream: string; waits_for: string; began_at: string }
export interface ToolSession { session_id: string; user_id: unknown; context: string; tools: number; began_at: string; last_used_at: string }
export interface OpenSessions { client_sessions: Listed<ClientSession>; streams: Listed<Stream>; parked_calls: Listed<ParkedCall>; tool_sessions: Listed<ToolSession> }

export interface Issuer { issuer: string; keys: number; fetched: string | null; fault: string | null }
export interface Rule {
  match: Record<string, string[]>;
  name: string;
  upstreams: string[];
  tools: string[];
  deny: string[];
  read_only: boolean;
  contexts: string[];
  admin: 'none' | 'viewer' | 'admin';
  requests_per_minute: number;
  disclosure: string;
}
export interface Matched { rule: number | null; name?: string; access?: unknown; passed_over: { rule: number; why: string }[] }

export interface Names { total: number; names: string[] }
export interface Affected { as: string | null; context: string; gains: Names; loses: Names; changes: Names }
export interface Preview { affected: Affected[]; looked_at: number; whole: boolean; becomes_live?: boolean; unread?: boolean }

export interface Moment { at: string; seconds: number; requests: number; failed: number; mean_ms: number | null }

export interface Hit { name: string; upstream: string; score: number; signature: string; description: string; read_only: boolean }
export interface Found { tools: Hit[]; unasked?: string[]; embeddings?: { tools: number; failures: number; fault: string } }

export interface CallRecord { number: number; at: string; upstream: string; principal: string; context: string; method: string; name: string; outcome: string; duration_ms: number }
export interface CallRecords { kept: 'off' | 'memory'; records: CallRecord[] }

export interface AuditRecord { number: number; at: string; who: string; what: string; detail: unknown }

export interface Fault { tool?: string; pointer?: string; message: string }
