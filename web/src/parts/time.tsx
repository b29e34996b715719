import { useEffect, useState } from 'preact/hooks';
import { relativeTime } from '../../../src/text/phrases.ts';
import { fullTime, shortDay, type Time, toMs } from '../lib/format.ts';

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

const RECENT_MS = 14 * 86_400_000;

/** The one form of a time: `3 min ago`, after two weeks `25 Oct`; with the whole local time for whoever points at it. */
export function Ago({ at }: { readonly at: Time | undefined }) {
  const now = Math.max(useNow(), Date.now());
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return <span>–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={fullTime(ms)}>
      {Math.abs(now - ms) < RECENT_MS ? relativeTime(ms, now) : shortDay(ms)}
    </time>
  );
}
