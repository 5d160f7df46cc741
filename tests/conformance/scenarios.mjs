// The scenarios that must pass, by name, so that we notice if one disappears from a run. `required` scenarios are
// scored by the suite for that revision; `also` scenarios are run without a score, but we require them. Scenarios of
// the extension "tasks" are in neither list.
export const SERVER = {
  '2025-11-25': {
    required: [
      'server-initialize',
      'logging-set-level',
      'ping',
      'completion-complete',
      'tools-list',
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-with-logging',
      'tools-call-error',
      'tools-call-with-progress',
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'server-sse-multiple-streams',
      'elicitation-sep1330-enums',
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'dns-rebinding-protection'
    ],
    also: ['server-session-lifecycle', 'json-schema-2020-12', 'server-sse-polling']
  },
  '2026-07-28': {
    required: [
      'server-stateless',
      'completion-complete',
      'tools-list',
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-error',
      'tools-call-with-progress',
      'server-sse-multiple-streams',
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'sep-2164-resource-not-found',
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'dns-rebinding-protection',
      'caching',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-unsupported-methods',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input'
    ],
    also: ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation']
  }
};

// UPC-17
const AUTHORIZATION = [
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration'
];
const AUTHORIZATION_EXTENSIONS = [
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/wif-jwt-bearer'
];

export const CLIENT = {
  '2025-11-25': {
    required: ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry', ...AUTHORIZATION],
    also: [...AUTHORIZATION_EXTENSIONS, 'json-schema-2020-12-preservation']
  },
  '2026-07-28': {
    required: [
      'tools_call',
      'request-metadata',
      ...AUTHORIZATION,
      'auth/resource-mismatch',
      'auth/offline-access-scope',
      'auth/offline-access-not-supported',
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref'
    ],
    also: [...AUTHORIZATION_EXTENSIONS, 'json-schema-2020-12-preservation']
  }
};
