#include "admin/http/answer_types.hpp"

#include <array>

namespace proteus::admin {
namespace {

constexpr auto kAnswerTypes = std::to_array<AnswerType>({
    {"State", "'connecting' | 'connected' | 'degraded' | 'failed' | 'paused'"},
    {"Strategy", "'cached' | 'direct_proxy'"},
    {"Omission", "{ kind: string; name: string; reason: string }"},
    {"Shadowed", "{ kind: string; name: string; by: string }"},
    {"ListFault", "{ kind: string; method: string; cause: string; error: string }"},
    {"Calls", "{ total: number; failed: number; mean_ms: number | null }"},
    {"Pins", "{ ratified: number; proposals: number; rejected: number; blocked: number; unkept: number }"},
    {"Shaping", "{ tables: { match: string[]; fits: number }[]; hidden: number; warnings: string[] }"},
    {"Upstream",
     "{ name: string; display_name?: string; id: string; origin: 'file' | 'override' "
     "| 'runtime'; created_at: string; updated_at: string; revision: string; state: State; circuit: 'closed'"
     " | 'open' | 'half_open'; watch: string; era?: string; protocol_version: string | "
     "null; transport?: string; url?: string; last_refresh_at: string | null; last_error: "
     "string | null; consecutive_failures: number; refresh_strategy: Strategy; enabled: "
     "boolean; trust: string; tools: number; prompts: number; resources: number; "
     "resource_templates: number; overrides?: string[]; pins?: Pins; shaping?: Shaping; "
     "shadowed?: Shadowed[]; omissions?: Omission[]; list_faults?: ListFault[]; "
     "mapped_names?: { kind: string; name: string; own: string }[]; calls?: Calls; "
     "[setting: string]: unknown }"},
    {"ChangedEntry", "{ name: string; breaking: boolean; reasons: string[] }"},
    {"KindChange", "{ added?: string[]; removed?: string[]; changed?: ChangedEntry[] }"},
    {"Changes", "Record<string, KindChange>"},
    {"RefreshResult",
     "{ upstream: string; ok: boolean; at: string; duration_ms: number; error?: string; "
     "[kind: string]: unknown }"},
    {"ChangeRecord", "{ number: number; at: string; upstream: string; kinds: string[]; change: Changes }"},
    {"ChangePage", "{ changes: ChangeRecord[]; oldest: number; newest: number; next: number }"},
    {"Proposal",
     "{ id: string; type: string; upstream: string; upstream_display_name?: string; kind: string; name: string; "
     "sha256: string; bytes: number; change: 'new' | 'changed'; breaking: boolean; reasons: "
     "string[]; diff?: string; ratified?: unknown; proposed?: unknown }"},
    {"Entry",
     "{ name: string; own_name: string; upstream: string; title?: string; description: "
     "string; description_bytes: number; read_only?: boolean }"},
    {"View",
     "{ as: string | null; context: string; kind: string; version: number; total: number; "
     "offset: number; entries: Entry[]; listed_live: string[]; searches: boolean }"},
    {"Visibility", "'seen' | 'not_seen' | 'upstream_knows'"},
    {"Finding",
     "{ upstream: string | null; visibility: Visibility; decided_by: string; detail: "
     "string }"},
    {"Why",
     "{ name: string; as: string | null; context: string; upstream: string | null; "
     "visibility: Visibility; decided_by: string; detail: string; upstreams: Finding[]; "
     "shown_name?: string; own_name?: string; parts?: { from: string; name: string; text: "
     "string }[]; missing_scopes?: string[]; definition?: unknown }"},
    {"Principals", "{ principals: { name: string; origin: string }[]; anonymous: boolean }"},
    {"Disclosure", "'all' | 'search'"},
    {"Context",
     "{ name: string; display_name: string; endpoint: string; parent: string | null; include: string[]; exclude: "
     "string[]; siblings: string[]; schemas: string[]; dataset: string; instructions: string; "
     "tool_supplements: Record<string, string>; disclosure: Disclosure; always?: string[]; "
     "sibling_tools?: string[]; warnings: string[] }"},
    {"Token",
     "{ name: string; origin: 'file' | 'runtime'; state: string; last_error?: string; contexts?: string[]; "
     "upstreams?: string[]; tools?: string[]; deny?: string[]; read_only?: boolean; "
     "requests_per_minute?: number; disclosure?: Disclosure; created_at?: string; expires_at?: string; "
     "previous_until?: string; last_used_at?: string; durable?: boolean }"},
    {"IssuedToken", "{ name: string; origin: 'file' | 'runtime'; state: string; token: string }"},
    {"TypeLink", "{ type: string; from: string; to: string }"},
    {"MappingProblem", "{ kind: string; message: string; path?: string; line?: number; column?: number }"},
    {"Approval", "{ by: string; at: string }"},
    {"Withdrawal", "{ reason: string; at: string }"},
    {"Dataset",
     "{ name: string; connected: boolean; file?: string; hash?: string; status?: string; reason?: string; "
     "tool?: string; ratified?: Approval; revoked?: Approval; withdrawn?: Withdrawal; dsn_env?: string; "
     "entity_types?: string[]; relationship_types?: string[]; relationships?: TypeLink[]; "
     "problems?: MappingProblem[] }"},
    {"Datasets",
     "{ datasets: Dataset[]; environment: string[]; faults?: string[]; "
     "withdrawn?: Record<string, Withdrawal> }"},
    {"ReviewedMapping",
     "{ ok?: boolean; problems: MappingProblem[]; name?: string; entity_types?: string[]; "
     "relationship_types?: string[]; relationships?: TypeLink[] }"},
    {"ProposedMapping",
     "{ draft: string; problems: MappingProblem[]; name: string; entity_types: string[]; "
     "relationship_types: string[]; relationships: TypeLink[] }"},
    {"Connection",
     "{ id: string; upstream: string; subject: 'gateway' | 'caller'; principal: string; "
     "issuer: string; scopes: string[]; state: string; connected_at: string; expires_at?: "
     "string; last_error?: string }"},
    {"EndedConnection", "{ id: string; upstream: string; state: string; revoked: boolean; last_error?: string }"},
    {"ClientSession",
     "{ id: string; principal: string | null; context: string; client: string; "
     "protocol_version: string; began_at: string; last_used_at: string; listens: boolean }"},
    {"Stream",
     "{ id: string; principal: string | null; context: string; began_at: string; hears_of:"
     " string[]; resources: number }"},
    {"ParkedCall",
     "{ id: string; principal: string | null; upstream: string; waits_for: string; "
     "began_at: string }"},
    {"ToolSession",
     "{ session_id: string; user_id: unknown; context: string; tools: number; began_at: "
     "string; last_used_at: string }"},
    {"OpenSessions",
     "{ client_sessions: { total: number; newest: ClientSession[] }; streams: { total: "
     "number; newest: Stream[] }; parked_calls: { total: number; newest: ParkedCall[] }; "
     "tool_sessions: { total: number; newest: ToolSession[] } }"},
    {"EndedSession", "{ id: string; state: string; durable?: boolean }"},
    {"RemovedToolSession", "{ session_id: string; removed: number; durable?: boolean }"},
    {"Issuer", "{ issuer: string; keys: number; fetched: string | null; fault: string | null }"},
    {"Rule",
     "{ match: Record<string, string[]>; name: string; upstreams: string[]; tools: "
     "string[]; deny: string[]; read_only: boolean; contexts: string[]; admin: 'none' | "
     "'viewer' | 'admin'; requests_per_minute: number; disclosure: Disclosure }"},
    {"Matched",
     "{ rule: number | null; name?: string; access?: unknown; passed_over: { rule: number;"
     " why: string }[] }"},
    {"Names", "{ total: number; names: string[] }"},
    {"Affected", "{ as: string | null; context: string; gains: Names; loses: Names; changes: Names }"},
    {"Preview",
     "{ affected: Affected[]; looked_at: number; whole: boolean; becomes_live?: boolean; "
     "unread?: boolean }"},
    {"Moment",
     "{ at: string; seconds: number; requests: number; failed: number; mean_ms: number | "
     "null }"},
    {"Hit",
     "{ name: string; upstream: string; score: number; signature: string; description: "
     "string; read_only: boolean }"},
    {"Found",
     "{ tools: Hit[]; unasked?: string[]; embeddings?: { tools: number; failures: number; "
     "fault: string } }"},
    {"CallRecord",
     "{ number: number; at: string; upstream: string; principal: string; context: string; "
     "method: string; name: string; outcome: string; duration_ms: number }"},
    {"CallRecords", "{ kept: 'off' | 'memory'; records: CallRecord[] }"},
    {"AuditRecord", "{ number: number; at: string; who: string; what: string; detail: unknown }"},
});

}  // namespace

std::span<const AnswerType> answer_types() { return kAnswerTypes; }

}  // namespace proteus::admin
