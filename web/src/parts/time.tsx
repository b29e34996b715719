import { useEffect, useState } from 'preact/hooks';
import { relativeTime } from '../../../src/text/phrases.ts';
import { dayTime, fullTime, type Time, toMs } from '../lib/format.ts';

const listeners = new Set<(now: number) => void>();
const TICK_MS = 20_000;
let timer: number | undefined;

/** The time, every few seconds, from one timer for the whole page. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    listeners.add(setNow);
    timer ??= window.setInterval(() => {
      for (const tell of listeners) tell(Date.now());
    }, TICK_MS);
    return () => {
      listeners.delete(setNow);
      if (listeners.size > 0) return;
      window.clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}

/** `3 min ago`, with the whole local time for whoever points at it. */
export function Ago({ at }: { readonly at: Time | undefined }) {
  const now = useNow();
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return <span>–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={fullTime(ms)}>
      {relativeTime(ms, Math.max(now, Date.now()))}
    </time>
  );
}

/** The local day and time. */
export function When({ at }: { readonly at: Time | undefined }) {
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return <span>–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={fullTime(ms)}>
      {dayTime(ms)}
    </time>
  );
}
