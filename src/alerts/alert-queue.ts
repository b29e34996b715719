import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceFile } from '../base/atomic-file.ts';
import type { Alert, AlertEvent } from '../core/alert.ts';
import { asArray, asNumber, asObject, asString, isObject, type JsonObject, parseJson } from '../core/json.ts';
import type { AlertCause } from './find-alerts.ts';

/** One message to the receiver; sent with the same id and the same content until it is taken. */
export interface Delivery {
  readonly id: string;
  readonly alerts: readonly Alert[];
  /** Alerts that found no room before it. */
  readonly dropped: number;
  readonly tries: number;
  readonly nextAt: number;
}

/** What is known of alerts, as it is on disk. */
interface QueueState {
  waiting: readonly Alert[];
  delivery: Delivery | undefined;
  dropped: number;
  /** When each cause that was told was last there. */
  told: Map<string, number>;
  /** The number of the last fact that was looked at; undefined before the first look. */
  seq: number | undefined;
}

/** How long a cause that is gone stays told: one that comes and goes is no storm. */
const STAYS_TOLD_MS: Readonly<Record<Alert['event'], number>> = {
  budget: 26 * 3_600_000,
  rule: 26 * 3_600_000,
  decision: 3_600_000,
  degraded: 3_600_000,
  hello: Number.POSITIVE_INFINITY,
};
const MOST_WAITING = 100;
const MOST_TOLD = 2000;
/** What nobody took for so long is not news any more. */
const STALE_MS = 3 * 86_400_000;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 3_600_000;

const idOf = (cause: string): string => createHash('sha256').update(cause).digest('hex').slice(0, 24);

export interface AlertQueue {
  readonly seq: number | undefined;
  readonly delivery: Delivery | undefined;
  /** Alerts that wait, those under way included. */
  count(): number;
  /** The causes that are so now; those that were not told are queued. */
  add(causes: readonly AlertCause[], now: number): void;
  /** Whether a cause would be told. */
  isNew(cause: string): boolean;
  hello(to: string, now: number): void;
  readTo(seq: number): void;
  /** Puts together what waits, unless something is under way. */
  pack(now: number): Delivery | undefined;
  sent(): void;
  failed(now: number, retryAfterMs: number | undefined): void;
  /** Resolves when what changed is on disk. Rejects when it cannot be written: then it is in memory alone. */
  save(): Promise<void>;
}

/** What waits for the receiver, kept in `file`. A file that cannot be read counts as empty. */
export function openAlertQueue(file: string): AlertQueue {
  const state = readState(file);
  let isChanged = false;
  const change = (part: Partial<QueueState>): void => {
    Object.assign(state, part);
    isChanged = true;
  };
  const put = (alert: Alert): void => {
    const room = [...state.waiting, alert].slice(-MOST_WAITING);
    change({ waiting: room, dropped: state.dropped + state.waiting.length + 1 - room.length });
  };
  const announced = createAnnounced(state.told);
  return {
    get seq() {
      return state.seq;
    },
    get delivery() {
      return state.delivery;
    },
    count: () => state.waiting.length + (state.delivery?.alerts.length ?? 0),
    isNew: announced.isNew,
    add: (causes, now) => {
      announced.begin(now);
      const at = new Date(now).toISOString();
      for (const { cause, ...alert } of causes) {
        const isToTell = announced.isNew(cause);
        for (const one of cause.split(' ')) state.told.set(one, now);
        if (isToTell) put({ id: idOf(cause), at, ...alert });
      }
      announced.forget(now);
    },
    hello: (to, now) => {
      const cause = `hello/${idOf(to)}`;
      if (state.told.has(cause)) return;
      for (const one of state.told.keys()) if (eventOf(one) === 'hello') state.told.delete(one);
      state.told.set(cause, now);
      const text = 'Alerts of Instar arrive here from now on.';
      put({ id: idOf(`${cause}/${now}`), event: 'hello', at: new Date(now).toISOString(), text });
    },
    readTo: (seq) => {
      if (seq !== state.seq) change({ seq });
    },
    pack: (now) => {
      const isFresh = ({ at }: Alert): boolean => Math.abs(now - Date.parse(at)) < STALE_MS;
      if (state.delivery !== undefined && !state.delivery.alerts.some(isFresh))
        change({ delivery: undefined, dropped: state.dropped + state.delivery.alerts.length });
      if (state.delivery !== undefined || state.waiting.length === 0) return state.delivery;
      const alerts = state.waiting.filter(isFresh);
      const dropped = state.dropped + state.waiting.length - alerts.length;
      const id = `msg_${idOf(`${alerts.map((one) => one.id).join()} ${now}`)}`;
      const delivery = alerts.length === 0 ? undefined : { id, alerts, dropped, tries: 0, nextAt: now };
      change({ waiting: [], dropped: delivery === undefined ? dropped : 0, delivery });
      return delivery;
    },
    sent: () => change({ delivery: undefined }),
    failed: (now, retryAfterMs) => {
      const { delivery } = state;
      if (delivery === undefined) return;
      const tries = delivery.tries + 1;
      const pause = Math.max(FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 20), retryAfterMs ?? 0);
      change({ delivery: { ...delivery, tries, nextAt: now + Math.min(pause, LONGEST_PAUSE_MS) } });
    },
    save: async () => {
      if (!isChanged) return;
      isChanged = false;
      try {
        await replaceFile(file, JSON.stringify({ ...state, told: Object.fromEntries(state.told) }));
      } catch (error) {
        isChanged = true;
        throw error;
      }
    },
  };
}

/** The causes that were announced: when each was last there. */
function createAnnounced(last: Map<string, number>) {
  const isNew = (cause: string): boolean => !cause.split(' ').every((one) => last.has(one));
  let isFirst = true;
  /** What was told before a restart may not be found again at once. */
  const begin = (now: number): void => {
    if (isFirst) for (const [cause, at] of last) last.set(cause, Math.max(at, now));
    isFirst = false;
  };
  const forget = (now: number): void => {
    for (const [cause, at] of last)
      if (now - at > STAYS_TOLD_MS[eventOf(cause)] || at > now + STALE_MS) last.delete(cause);
    for (const cause of last.keys()) {
      if (last.size <= MOST_TOLD) break;
      last.delete(cause);
    }
  };
  return { isNew, begin, forget };
}

/** A delivery that is due; one whose time is too far away was written by a clock that was wrong. */
export const isDeliveryDue = ({ nextAt }: Delivery, now: number): boolean =>
  now >= nextAt || nextAt - now > LONGEST_PAUSE_MS;

const EVENTS = new Set<string>(Object.keys(STAYS_TOLD_MS));
const isEvent = (word: string): word is AlertEvent | 'hello' => EVENTS.has(word);

function eventOf(cause: string): Alert['event'] {
  const word = cause.split('/')[0] ?? '';
  return isEvent(word) ? word : 'degraded';
}

function readState(file: string): QueueState {
  const read = asObject(parseJson(readText(file)));
  return {
    waiting: readAlerts(read.waiting),
    delivery: readDelivery(read.delivery),
    dropped: asNumber(read.dropped) ?? 0,
    told: new Map(
      Object.entries(asObject(read.told)).flatMap(([cause, at]) =>
        typeof at === 'number' ? [[cause, at] as const] : [],
      ),
    ),
    seq: asNumber(read.seq),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Nothing was told yet.
    return '{}';
  }
}

const readAlerts = (list: JsonObject[string]): readonly Alert[] =>
  asArray(list).flatMap((one): readonly Alert[] => {
    const { id, event, at, text } = asObject(one);
    const isWhole = [id, event, at, text].every((part) => typeof part === 'string');
    if (!isWhole || !isObject(one) || !isEvent(String(event))) return [];
    return [one as Alert];
  });

function readDelivery(given: JsonObject[string]): Delivery | undefined {
  const { dropped, tries, nextAt, ...delivery } = asObject(given);
  const id = asString(delivery.id);
  const alerts = readAlerts(delivery.alerts);
  if (id === undefined || alerts.length === 0) return undefined;
  return {
    id,
    alerts,
    dropped: asNumber(dropped) ?? 0,
    tries: asNumber(tries) ?? 0,
    nextAt: asNumber(nextAt) ?? 0,
  };
}
