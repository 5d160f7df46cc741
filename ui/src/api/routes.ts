// The routes of the admin API, and the types of their answers. Made from GET /admin by tests/ui/routes.test.mjs.
export type State = 'connecting' | 'connected' | 'degraded' | 'failed' | 'paused';
export type Strategy = 'cached' | 'direct_proxy';
export type Omission = {
  kind: string;
  name: string;
  reason: string;
};
export type Shadowed = {
  kind: string;
  name: string;
  by: string;
};
export type ListFault = {
  kind: string;
  method: string;
  cause: string;
  error: string;
};
export type Calls = {
  total: number;
  failed: number;
  mean_ms: number | null;
};
export type Pins = {
  ratified: number;
  proposals: number;
  rejected: number;
  blocked: number;
  unkept: number;
};
export type Shaping = {
  tables: { match: string[]; fits: number }[];
  hidden: number;
  warnings: string[];
};
export type Upstream = {
  name: string;
  display_name?: string;
  id: string;
  origin: 'file' | 'override' | 'runtime';
  created_at: string;
  updated_at: string;
  revision: string;
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
  pins?: Pins;
  shaping?: Shaping;
  shadowed?: Shadowed[];
  omissions?: Omission[];
  list_faults?: ListFault[];
  mapped_names?: { kind: string; name: string; own: string }[];
  calls?: Calls;
  [setting: string]: unknown;
};
export type ChangedEntry = {
  name: string;
  breaking: boolean;
  reasons: string[];
};
export type KindChange = {
  added?: string[];
  removed?: string[];
  changed?: ChangedEntry[];
};
export type Changes = Record<string, KindChange>;
export type RefreshResult = {
  upstream: string;
  ok: boolean;
  at: string;
  duration_ms: number;
  error?: string;
  [kind: string]: unknown;
};
export type ChangeRecord = {
  number: number;
  at: string;
  upstream: string;
  kinds: string[];
  change: Changes;
};
export type ChangePage = {
  changes: ChangeRecord[];
  oldest: number;
  newest: number;
  next: number;
};
export type Proposal = {
  id: string;
  type: string;
  upstream: string;
  upstream_display_name?: string;
  kind: string;
  name: string;
  sha256: string;
  bytes: number;
  change: 'new' | 'changed';
  breaking: boolean;
  reasons: string[];
  diff?: string;
  ratified?: unknown;
  proposed?: unknown;
};
export type Entry = {
  name: string;
  own_name: string;
  upstream: string;
  title?: string;
  description: string;
  description_bytes: number;
  read_only?: boolean;
};
export type View = {
  as: string | null;
  context: string;
  kind: string;
  version: number;
  total: number;
  offset: number;
  entries: Entry[];
  listed_live: string[];
  searches: boolean;
};
export type Visibility = 'seen' | 'not_seen' | 'upstream_knows';
export type Finding = {
  upstream: string | null;
  visibility: Visibility;
  decided_by: string;
  detail: string;
};
export type Why = {
  name: string;
  as: string | null;
  context: string;
  upstream: string | null;
  visibility: Visibility;
  decided_by: string;
  detail: string;
  upstreams: Finding[];
  shown_name?: string;
  own_name?: string;
  parts?: { from: string; name: string; text: string }[];
  missing_scopes?: string[];
  definition?: unknown;
};
export type Principals = {
  principals: { name: string; origin: string }[];
  anonymous: boolean;
};
export type Disclosure = 'all' | 'search';
export type Context = {
  name: string;
  display_name: string;
  endpoint: string;
  parent: string | null;
  include: string[];
  exclude: string[];
  siblings: string[];
  schemas: string[];
  dataset: string;
  instructions: string;
  tool_supplements: Record<string, string>;
  disclosure: Disclosure;
  always?: string[];
  sibling_tools?: string[];
  warnings: string[];
};
export type Token = {
  name: string;
  origin: 'file' | 'runtime';
  state: string;
  last_error?: string;
  contexts?: string[];
  upstreams?: string[];
  tools?: string[];
  deny?: string[];
  read_only?: boolean;
  requests_per_minute?: number;
  disclosure?: Disclosure;
  created_at?: string;
  expires_at?: string;
  previous_until?: string;
  last_used_at?: string;
  durable?: boolean;
};
export type IssuedToken = {
  name: string;
  origin: 'file' | 'runtime';
  state: string;
  token: string;
};
export type TypeLink = {
  type: string;
  from: string;
  to: string;
};
export type MappingProblem = {
  kind: string;
  message: string;
  path?: string;
  line?: number;
  column?: number;
};
export type Approval = {
  by: string;
  at: string;
};
export type Withdrawal = {
  reason: string;
  at: string;
};
export type Dataset = {
  name: string;
  connected: boolean;
  file?: string;
  hash?: string;
  status?: string;
  reason?: string;
  tool?: string;
  ratified?: Approval;
  revoked?: Approval;
  withdrawn?: Withdrawal;
  dsn_env?: string;
  entity_types?: string[];
  relationship_types?: string[];
  relationships?: TypeLink[];
  problems?: MappingProblem[];
};
export type Datasets = {
  datasets: Dataset[];
  environment: string[];
  faults?: string[];
  withdrawn?: Record<string, Withdrawal>;
};
export type ReviewedMapping = {
  ok?: boolean;
  problems: MappingProblem[];
  name?: string;
  entity_types?: string[];
  relationship_types?: string[];
  relationships?: TypeLink[];
};
export type ProposedMapping = {
  draft: string;
  problems: MappingProblem[];
  name: string;
  entity_types: string[];
  relationship_types: string[];
  relationships: TypeLink[];
};
export type Connection = {
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
};
export type EndedConnection = {
  id: string;
  upstream: string;
  state: string;
  revoked: boolean;
  last_error?: string;
};
export type ClientSession = {
  id: string;
  principal: string | null;
  context: string;
  client: string;
  protocol_version: string;
  began_at: string;
  last_used_at: string;
  listens: boolean;
};
export type Stream = {
  id: string;
  principal: string | null;
  context: string;
  began_at: string;
  hears_of: string[];
  resources: number;
};
export type ParkedCall = {
  id: string;
  principal: string | null;
  upstream: string;
  waits_for: string;
  began_at: string;
};
export type ToolSession = {
  session_id: string;
  user_id: unknown;
  context: string;
  tools: number;
  began_at: string;
  last_used_at: string;
};
export type OpenSessions = {
  client_sessions: { total: number; newest: ClientSession[] };
  streams: { total: number; newest: Stream[] };
  parked_calls: { total: number; newest: ParkedCall[] };
  tool_sessions: { total: number; newest: ToolSession[] };
};
export type EndedSession = {
  id: string;
  state: string;
  durable?: boolean;
};
export type RemovedToolSession = {
  session_id: string;
  removed: number;
  durable?: boolean;
};
export type Issuer = {
  issuer: string;
  keys: number;
  fetched: string | null;
  fault: string | null;
};
export type Rule = {
  match: Record<string, string[]>;
  name: string;
  upstreams: string[];
  tools: string[];
  deny: string[];
  read_only: boolean;
  contexts: string[];
  admin: 'none' | 'viewer' | 'admin';
  requests_per_minute: number;
  disclosure: Disclosure;
};
export type Matched = {
  rule: number | null;
  name?: string;
  access?: unknown;
  passed_over: { rule: number; why: string }[];
};
export type Names = {
  total: number;
  names: string[];
};
export type Affected = {
  as: string | null;
  context: string;
  gains: Names;
  loses: Names;
  changes: Names;
};
export type Preview = {
  affected: Affected[];
  looked_at: number;
  whole: boolean;
  becomes_live?: boolean;
  unread?: boolean;
};
export type Moment = {
  at: string;
  seconds: number;
  requests: number;
  failed: number;
  mean_ms: number | null;
};
export type Hit = {
  name: string;
  upstream: string;
  score: number;
  signature: string;
  description: string;
  read_only: boolean;
};
export type Found = {
  tools: Hit[];
  unasked?: string[];
  embeddings?: { tools: number; failures: number; fault: string };
};
export type CallRecord = {
  number: number;
  at: string;
  upstream: string;
  principal: string;
  context: string;
  method: string;
  name: string;
  outcome: string;
  duration_ms: number;
};
export type CallRecords = {
  kept: 'off' | 'memory';
  records: CallRecord[];
};
export type AuditRecord = {
  number: number;
  at: string;
  who: string;
  what: string;
  detail: unknown;
};

// The names in the query of each route.
export interface Routes {
  'DELETE /admin/connections/{id}': never;
  'DELETE /admin/sessions/{id}': never;
  'DELETE /admin/tokens/{name}': never;
  'DELETE /admin/upstreams/{name}': never;
  'GET /admin': never;
  'GET /admin/audit': 'limit' | 'before';
  'GET /admin/catalog/tools': 'explain';
  'GET /admin/changes': 'since' | 'limit';
  'GET /admin/connections': never;
  'GET /admin/contexts': never;
  'GET /admin/contexts/{name}/tools': 'explain';
  'GET /admin/datasets': never;
  'GET /admin/datasets/{name}/mapping': never;
  'GET /admin/figures': 'upstream';
  'GET /admin/issuers': never;
  'GET /admin/principals': never;
  'GET /admin/proposals': 'upstream';
  'GET /admin/proposals/{id}': never;
  'GET /admin/records': 'upstream' | 'limit';
  'GET /admin/rules': never;
  'GET /admin/search': 'as' | 'context' | 'q' | 'limit';
  'GET /admin/sessions': 'limit';
  'GET /admin/tokens': never;
  'GET /admin/tokens/{name}': never;
  'GET /admin/tools/list': 'session_id';
  'GET /admin/upstreams': never;
  'GET /admin/upstreams/{name}': never;
  'GET /admin/view': 'as' | 'context' | 'kind' | 'q' | 'offset' | 'limit';
  'GET /admin/why': 'as' | 'context' | 'kind' | 'name';
  'PATCH /admin/upstreams/{name}': never;
  'POST /admin/connections': never;
  'POST /admin/datasets/propose': never;
  'POST /admin/datasets/ratify': never;
  'POST /admin/datasets/validate': never;
  'POST /admin/datasets/{name}/connect': never;
  'POST /admin/datasets/{name}/disconnect': never;
  'POST /admin/datasets/{name}/revoke': never;
  'POST /admin/preview': never;
  'POST /admin/principals/match': never;
  'POST /admin/proposals/{id}/ratify': never;
  'POST /admin/proposals/{id}/reject': never;
  'POST /admin/session/cleanup': never;
  'POST /admin/session/init': never;
  'POST /admin/tokens': never;
  'POST /admin/tokens/{name}/rotate': never;
  'POST /admin/tools/register': never;
  'POST /admin/tools/unregister': never;
  'POST /admin/try': never;
  'POST /admin/upstreams': never;
  'POST /admin/upstreams/{name}/refresh': never;
}

// What each answers.
export interface Answers {
  'DELETE /admin/connections/{id}': EndedConnection;
  'DELETE /admin/sessions/{id}': EndedSession;
  'DELETE /admin/tokens/{name}': Token;
  'DELETE /admin/upstreams/{name}': Upstream;
  'GET /admin': unknown;
  'GET /admin/audit': { audit: AuditRecord[] };
  'GET /admin/catalog/tools': unknown;
  'GET /admin/changes': ChangePage;
  'GET /admin/connections': { connections: Connection[] };
  'GET /admin/contexts': { contexts: Context[] };
  'GET /admin/contexts/{name}/tools': unknown;
  'GET /admin/datasets': Datasets;
  'GET /admin/datasets/{name}/mapping': { name: string; mapping: string };
  'GET /admin/figures': { upstream: string | null; moments: Moment[] };
  'GET /admin/issuers': { issuers: Issuer[] };
  'GET /admin/principals': Principals;
  'GET /admin/proposals': { proposals: Proposal[] };
  'GET /admin/proposals/{id}': Proposal;
  'GET /admin/records': CallRecords;
  'GET /admin/rules': { rules: Rule[] };
  'GET /admin/search': Found;
  'GET /admin/sessions': OpenSessions;
  'GET /admin/tokens': { tokens: Token[] };
  'GET /admin/tokens/{name}': Token;
  'GET /admin/tools/list': unknown;
  'GET /admin/upstreams': { upstreams: Upstream[] };
  'GET /admin/upstreams/{name}': Upstream;
  'GET /admin/view': View;
  'GET /admin/why': Why;
  'PATCH /admin/upstreams/{name}': Upstream;
  'POST /admin/connections': { upstream: string; url: string; expires_in: string };
  'POST /admin/datasets/propose': ProposedMapping;
  'POST /admin/datasets/ratify': Dataset;
  'POST /admin/datasets/validate': ReviewedMapping;
  'POST /admin/datasets/{name}/connect': Dataset;
  'POST /admin/datasets/{name}/disconnect': Dataset;
  'POST /admin/datasets/{name}/revoke': Dataset;
  'POST /admin/preview': Preview;
  'POST /admin/principals/match': Matched;
  'POST /admin/proposals/{id}/ratify': unknown;
  'POST /admin/proposals/{id}/reject': unknown;
  'POST /admin/session/cleanup': RemovedToolSession;
  'POST /admin/session/init': unknown;
  'POST /admin/tokens': IssuedToken;
  'POST /admin/tokens/{name}/rotate': IssuedToken;
  'POST /admin/tools/register': unknown;
  'POST /admin/tools/unregister': unknown;
  'POST /admin/try': { token: string; principal: string; expires_at: string };
  'POST /admin/upstreams': Upstream;
  'POST /admin/upstreams/{name}/refresh': RefreshResult;
}
