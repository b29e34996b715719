import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { CallError, call } from './call.ts';
import { type Query, toSearch } from './route.ts';

export interface Pages<T, P> {
  readonly rows: readonly T[];
  /** The newest page that was read: for counts that come with it. */
  readonly page: P | undefined;
  readonly isLoading: boolean;
  readonly isWhole: boolean;
  readonly error: CallError | undefined;
  /** Reads the next page, unless one is being read or there is none. */
  more(): void;
  /** Begins again, and keeps what is shown until the first page is there. */
  reload(): void;
}

interface State<T, P> {
  readonly key: string;
  readonly rows: readonly T[];
  readonly page?: P;
  readonly next?: string | undefined;
  readonly isWhole: boolean;
  readonly error?: CallError;
}

interface PageShape {
  readonly next?: string;
}

/** Pages of a list behind a cursor, one after the other. A search may answer with an empty page and a cursor: it goes on. */
export function usePages<T, P extends PageShape>(
  path: string,
  query: Query,
  rowsOf: (page: P) => readonly T[],
): Pages<T, P> {
  const key = `${path}${toSearch(query)}`;
  const [state, setState] = useState<State<T, P>>({ key: '', rows: [], isWhole: false });
  const [round, setRound] = useState(0);
  const [isLoading, setLoading] = useState(true);
  const reading = useRef<AbortController | undefined>(undefined);
  const select = useRef(rowsOf);
  select.current = rowsOf;

  const read = useCallback(
    async (cursor: string | undefined, before: readonly T[]): Promise<void> => {
      reading.current?.abort();
      const leaving = new AbortController();
      reading.current = leaving;
      setLoading(true);
      try {
        const page = await call<P>('GET', key + (cursor === undefined ? '' : withCursor(key, cursor)), {
          signal: leaving.signal,
        });
        const rows = [...before, ...select.current(page)];
        setState({ key, rows, page, next: page.next, isWhole: page.next === undefined });
      } catch (error) {
        if (leaving.signal.aborted) return;
        const fault = error instanceof CallError ? error : new CallError(0, String(error));
        setState({ key, rows: before, isWhole: false, error: fault });
      }
      if (reading.current === leaving) {
        reading.current = undefined;
        setLoading(false);
      }
    },
    [key],
  );

  // A new round reads again.
  useEffect(() => {
    void read(undefined, []);
    return () => {
      reading.current?.abort();
      reading.current = undefined;
    };
  }, [read, round]);

  const more = useCallback(() => {
    if (reading.current !== undefined || state.key !== key || state.isWhole || state.error !== undefined)
      return;
    void read(state.next, state.rows);
  }, [read, state, key]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  return {
    rows: state.rows,
    page: state.page,
    isLoading,
    isWhole: state.key === key && state.isWhole,
    error: state.error,
    more,
    reload,
  };
}

const withCursor = (key: string, cursor: string): string =>
  `${key.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
