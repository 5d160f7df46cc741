// What each route that the page asks answers.
import type * as T from './types.ts';

export interface Answers {
  'GET /admin/upstreams': { upstreams: T.Upstream[] };
  'POST /admin/upstreams': T.Upstream;
  'GET /admin/upstreams/{name}': T.Upstream;
  'PATCH /admin/upstreams/{name}': T.Upstream;
  'DELETE /admin/upstreams/{name}': T.Upstream;
  'POST /admin/upstreams/{name}/refresh': T.RefreshResult;
  'GET /admin/proposals': { proposals: T.Proposal[] };
  'GET /admin/proposals/{id}': T.Proposal;
  'POST /admin/proposals/{id}/ratify': unknown;
  'POST /admin/proposals/{id}/reject': unknown;
  'GET /admin/changes': T.ChangePage;
  'GET /admin/tokens': { tokens: T.Token[] };
  'POST /admin/tokens': T.IssuedToken;
  'POST /admin/tokens/{name}/rotate': T.IssuedToken;
  'DELETE /admin/tokens/{name}': T.Token;
  'GET /admin/datasets': T.Datasets;
  'POST /admin/datasets/{name}/connect': T.Dataset;
  'POST /admin/datasets/{name}/disconnect': T.Dataset;
  'POST /admin/datasets/propose': T.ProposedMapping;
  'POST /admin/datasets/validate': T.ReviewedMapping;
  'POST /admin/datasets/ratify': T.Dataset;
  'POST /admin/datasets/{name}/revoke': T.Dataset;
  'GET /admin/datasets/{name}/mapping': { name: string; mapping: string };
  'GET /admin/records': T.CallRecords;
  'GET /admin/rules': { rules: T.Rule[] };
  'GET /admin/audit': { audit: T.AuditRecord[] };
  'GET /admin/connections': { connections: T.Connection[] };
  'POST /admin/connections': { upstream: string; url: string };
  'DELETE /admin/connections/{id}': unknown;
  'GET /admin/sessions': T.OpenSessions;
  'DELETE /admin/sessions/{id}': unknown;
  'POST /admin/session/cleanup': unknown;
  'GET /admin/figures': { moments: T.Moment[] };
  'POST /admin/try': { token: string; principal: string; expires_at: string };
  'POST /admin/preview': T.Preview;
  'GET /admin/search': T.Found;
  'GET /admin/view': T.View;
  'GET /admin/why': T.Why;
  'GET /admin/principals': T.Principals;
  'GET /admin/issuers': { issuers: T.Issuer[] };
  'POST /admin/principals/match': T.Matched;
  'GET /admin/contexts': { contexts: T.Context[] };
}
