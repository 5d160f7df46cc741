// The answers of the page's own routes under /ui. Those of the admin API are in routes.ts.
export type * from './routes.ts';

export type Role = 'admin' | 'viewer';

export interface Session {
  name: string;
  role: Role;
  token: string;
  until: string;
  version: string;
  path?: string; // path of the page that was open before the user left to sign in
}

export interface Listed<One> { total: number; newest: One[] }
export interface Fault { tool?: string; pointer?: string; message: string }
