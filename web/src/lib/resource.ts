import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { CallError, call } from './call.ts';
import { type FeedEvent, onFeed } from './feed.ts';
import { type Query, toSearch } from './route.ts';

export interface Resource<T> {
  readonly value: T | undefined;
  /** The newest read failed. `value` may still have an older one. */
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

interface ResourceOptions {
  readonly query?: Query;
  /** Reads again, at most once a second, when the feed tells of one of these. */
  readonly on?: readonly FeedEvent['type'][];
}

/** The newest values by address: going back shows a view at once, and reads it again meanwhile. */
const known = new Map<string, unknown>();
const MOST_KNOWN = 60;
const PAUSE_MS = 1000;

function remember(key: string, value: unknown): void {
  known.delete(key);
  known.set(key, value);
  const oldest = known.keys().next().value;
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
}

/** A value of the API that follows the feed. `path` undefined: nothing is read. */
export function useResource<T>(path: string | undefined, options: ResourceOptions = {}): Resource<T> {
  const key = path === undefined ? undefined : `${path}${toSearch(options.query ?? {})}`;
  const [state, setState] = useState<{ key?: string | undefined; value?: T; error?: CallError }>({});
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  // A reload asked for by the feed is not urgent; the first read is.
  const types = (options.on ?? []).join(' ');

  // A new round reads again.
  useEffect(() => {
    if (key === undefined) return;
    const leaving = new AbortController();
    call<T>('GET', key, { signal: leaving.signal }).then(
      (value) => {
        remember(key, value);
        if (!leaving.signal.aborted) setState({ key, value });
      },
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        const fault = error instanceof CallError ? error : new CallError(0, String(error));
        setState((old) =>
          old.key === key && old.value !== undefined
            ? { key, value: old.value, error: fault }
            : { key, error: fault },
        );
      },
    );
    return () => leaving.abort(new DOMException('left', 'AbortError'));
  }, [key, round]);

  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (types === '') return;
    const wanted = new Set(types.split(' '));
    const stop = onFeed((event) => {
      if (!wanted.has(event.type) || timer.current !== undefined) return;
      timer.current = window.setTimeout(() => {
        timer.current = undefined;
        reload();
      }, PAUSE_MS);
    });
    return () => {
      stop();
      window.clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [types, reload]);

  const isCurrent = state.key === key;
  const value =
    isCurrent && state.value !== undefined ? state.value : key && (known.get(key) as T | undefined);
  return {
    value: value === '' ? undefined : value,
    error: isCurrent ? state.error : undefined,
    isLoading: key !== undefined && !isCurrent,
    reload,
  };
}

/** Forgets what was read: after a change that concerns many views. */
export function forgetResources(): void {
  known.clear();
}
