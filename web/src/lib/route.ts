import { useEffect, useState } from 'preact/hooks';

/** Where the page is: `#/sessions/s_1?turn=t_2` is `{ path: ['sessions', 's_1'], query: { turn: 't_2' } }`. */
export interface Route {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view: `linkTo(['sessions', id], { turn })`. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  return `#/${path.map(encodeURIComponent).join('/')}${toSearch(query)}`;
}

/** `?a=1&b=2` of the values that are there; empty without any. */
export function toSearch(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

export function goTo(path: readonly string[], query: Query = {}): void {
  location.hash = linkTo(path, query);
}

/** Replaces the query of this view without a new entry in the history: for filters and searches. */
export function setQuery(query: Query): void {
  const { path } = parseRoute(location.hash);
  history.replaceState(null, '', linkTo(path, query));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return route;
}

/** What every view is given. */
export interface ViewRoute {
  readonly route: Route;
}
