// What the admin API answers is in routes.ts, as the gateway says; here is what the page's own paths answer.
export type * from './routes.ts';

export type Role = 'admin' | 'viewer';

export interface Session {
  name: string;
  role: Role;
  token: string;
  until: string;
  version: string;
  path?: string; // of the page, that was open before somebody went to sign in
}

export interface Listed<One> { total: number; newest: One[] }
export interface Fault { tool?: string; pointer?: string; message: string }
