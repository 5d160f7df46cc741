// The place of the page. Each screen has a URL that can be sent to a colleague.
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Session } from '../api/types.ts';
import { visible } from '../presentation/text.ts';

export interface Place { path: string; query: URLSearchParams }

const here = (): Place => ({ path: location.pathname.replace(/\/+$/, '') || '/ui', query: new URLSearchParams(location.search) });
const moved = new EventTarget();

export function go(href: string, how: 'push' | 'replace' = 'push') {
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  moved.dispatchEvent(new Event('moved'));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const update = () => setPlace(here());
    moved.addEventListener('moved', update);
    addEventListener('popstate', update);
    return () => {
      moved.removeEventListener('moved', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return place;
}

// Changes the query of the URL without a new history entry, because it may change with each typed letter. Starts from
// the URL as it is now, which may be newer than the screen.
export function setQuery(changes: Record<string, string | null>) {
  const { path, query } = here();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  go(text ? `${path}?${text}` : path, 'replace');
}

interface LinkProperties { href: string; class?: string; children: ComponentChildren; current?: boolean }

export function Link({ href, children, current, class: className }: LinkProperties) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
    scrollTo(0, 0);
  };
  return <a href={href} class={className} aria-current={current ? 'page' : undefined} onClick={follow}>{children}</a>;
}

export const SessionContext = createContext<Session | null>(null);
// Returns whether the user may make changes. The gateway also refuses changes of a viewer.
export const useMayChange = () => useContext(SessionContext)?.role === 'admin';

export function useTitle(title: string) {
  useEffect(() => { document.title = `${visible(title)} · Proteus`; }, [title]);
}
