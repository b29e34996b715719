import { readFileSync } from 'node:fs';
import { replaceFileSync } from '../base/atomic-file.ts';
import type { Log } from '../base/log.ts';
import {
  confirmTime,
  heldAt,
  rememberTime,
  startTime,
  stepTime,
  type TimeDoubt,
  type TimeMemory,
  type TimeReading,
  type TimeState,
  timeAt,
} from '../base/trusted-time.ts';
import type { BootClock, Clock } from '../core/clock.ts';
import type { Fact } from '../core/fact.ts';
import { asNumber, asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import { type NewFact, type Records, StoreError } from '../core/store.ts';
import { peekTimes } from './store/peek-times.ts';

interface TimeHome {
  readonly storeFile: string;
  readonly clockFile: string;
}

export interface TrustedClock extends Clock {
  /** Looks at the clocks now. Undefined when the wall clock is believed: only then may anything be erased by its age. */
  doubt(): TimeDoubt | undefined;
  /** A person says that the wall clock is right. Durable when it resolves. */
  confirm(): Promise<JsonObject>;
  /** Whether the dates of independent servers are of use: during an absence. */
  isListening(): boolean;
  /** A server showed this date. After a few in a row that agree with the clock, an absence is over. */
  hear(date: number): void;
  /** For `status`. */
  describe(): JsonObject;
  /** The facts about the clock are recorded from now on, with those that wait. */
  record(records: Pick<Records, 'append'>): void;
  close(): void;
}

interface TrustedClockOptions {
  readonly home: TimeHome;
  readonly clock: Clock;
  readonly boot: BootClock;
  readonly log: Log;
}

const LOOK_MS = 60_000;
/** A step of the wall clock against the monotonic clock that is looked into at once. A laptop's sleep is one, too. */
const STEP_MS = 5 * 60_000;
const WITNESSES = 3;
const WITNESS_MS = 3_600_000;

/** What the clock did, for a record that is opened later or fails for a while. */
function createClockFacts(log: Log) {
  const waiting: NewFact[] = [];
  let records: Pick<Records, 'append'> | undefined;
  let isSending = false;
  const send = async (): Promise<void> => {
    if (records === undefined || isSending || waiting.length === 0) return;
    isSending = true;
    const facts = [...waiting];
    try {
      await records.append(facts);
      waiting.splice(0, facts.length);
    } catch (error) {
      log.warn({ err: error }, 'a change of the clock could not be recorded yet');
    } finally {
      isSending = false;
    }
  };
  return {
    send,
    sendTo: (to: Pick<Records, 'append'>): void => {
      records = to;
      void send();
    },
    add: (fact: NewFact): void => {
      waiting.push(fact);
      void send();
    },
    /** Rejects with `StoreError` when it is not durable. */
    appendNow: async (fact: NewFact): Promise<void> => {
      if (records === undefined) throw new StoreError('io', 'the record is not open yet');
      await records.append([fact]);
    },
  };
}

type ClockFacts = ReturnType<typeof createClockFacts>;

/** What the daemon believes of the time, and why it doubts. Every look at the clocks may change it. */
function createTimeBelief({ home, clock, boot, log }: TrustedClockOptions, changes: ClockFacts) {
  const look = (): TimeReading => ({ wall: clock.now(), up: boot.uptime() });
  const id = boot.boot();
  let witnesses = 0;
  let lastLook = { wall: clock.now(), mono: clock.monotonic(), held: 0 };
  let state: TimeState = { anchor: look() };

  const save = (reading: TimeReading): void => {
    try {
      writeMemory(home, rememberTime(state, reading, id));
    } catch (error) {
      log.warn({ err: error, file: home.clockFile }, 'the time could not be kept for the next start');
    }
  };
  /** Takes over a state, and tells of a doubt that began or ended. */
  const enter = (next: TimeState, reading: TimeReading, by: 'clock' | 'server'): void => {
    const before = state.doubt;
    state = next;
    lastLook = { wall: reading.wall, mono: clock.monotonic(), held: heldAt(state, reading) };
    if (next.doubt === before) return;
    witnesses = 0;
    save(reading);
    if (next.doubt !== undefined) {
      changes.add({ at: now(), fact: { type: 'clock-leaped', ...next.doubt } });
      log.warn(describeDoubt(next.doubt));
    } else {
      changes.add({ at: now(), fact: { type: 'time-confirmed', by, time: reading.wall } });
      log.info({ by }, 'the clock is believed again');
    }
  };
  const observe = (): TimeReading => {
    const reading = look();
    enter(stepTime(state, reading), reading, 'clock');
    return reading;
  };
  const now = (): number => {
    const wall = clock.now();
    const passed = clock.monotonic() - lastLook.mono;
    if (Math.abs(wall - lastLook.wall - passed) > STEP_MS) {
      const reading = observe();
      return timeAt(state, reading);
    }
    return state.doubt?.kind === 'leap' ? Math.round(lastLook.held + passed) : wall;
  };

  const first = look();
  const remembered = readMemory(home);
  const doubtBefore = remembered.memory?.doubt;
  if (doubtBefore !== undefined) state = { ...state, doubt: doubtBefore };
  enter(startTime(first, id, remembered.memory, remembered.newest), first, 'clock');
  if (state.doubt !== undefined && state.doubt === doubtBefore) log.warn(describeDoubt(state.doubt));
  save(first);

  return {
    now,
    observe,
    save,
    /** As of the last look. */
    doubt: () => state.doubt,
    /** A person says that this reading is right. */
    confirm: (reading: TimeReading): void => {
      state = confirmTime(reading);
      lastLook = { wall: reading.wall, mono: clock.monotonic(), held: reading.wall };
      save(reading);
    },
    hear: (date: number): void => {
      if (state.doubt?.kind !== 'absence') return;
      const reading = observe();
      const agrees = Math.abs(date - reading.wall) <= WITNESS_MS;
      witnesses = agrees ? witnesses + 1 : 0;
      if (witnesses >= WITNESSES) enter(confirmTime(reading), reading, 'server');
    },
  };
}

/**
 * The clock of the daemon: the wall clock while it is believed, else the time that goes on from before (see
 * `base/trusted-time`). What the clocks showed is kept in the home, so that the next process can tell.
 */
export function openTrustedClock(options: TrustedClockOptions): TrustedClock {
  const { clock, log } = options;
  const changes = createClockFacts(log);
  const belief = createTimeBelief(options, changes);
  const timer = setInterval(() => {
    belief.save(belief.observe());
    void changes.send();
  }, LOOK_MS);
  timer.unref();

  return {
    now: belief.now,
    monotonic: clock.monotonic,
    doubt: () => {
      belief.observe();
      return belief.doubt();
    },
    confirm: async () => {
      const reading = belief.observe();
      const before = belief.doubt();
      const fact: Fact = { type: 'time-confirmed', by: 'owner', time: reading.wall };
      // Recorded before it counts: nothing is erased on a word that was not recorded.
      await changes.appendNow({ at: reading.wall, fact });
      belief.confirm(reading);
      return confirmation(reading, before);
    },
    isListening: () => belief.doubt()?.kind === 'absence',
    hear: belief.hear,
    describe: () => {
      belief.observe();
      return describeTime(belief.doubt());
    },
    record: changes.sendTo,
    close: () => {
      clearInterval(timer);
      belief.save(belief.observe());
    },
  };
}

/** Whether the clock is believed, for a process that is not the daemon. Changes nothing. */
export function judgeTime(home: TimeHome, clock: Clock, boot: BootClock): TimeDoubt | undefined {
  const { memory, newest } = readMemory(home);
  const up = boot.uptime();
  // A doubt that a running daemon has just noted stands until that daemon drops it.
  if (memory?.doubt !== undefined && Math.abs(up - memory.up) < 2 * LOOK_MS) return memory.doubt;
  return startTime({ wall: clock.now(), up }, boot.boot(), memory, newest).doubt;
}

/** A person confirms the time while no daemon runs. */
export async function confirmTimeOf(
  home: TimeHome,
  records: Pick<Records, 'append'>,
  clock: Clock,
  boot: BootClock,
): Promise<JsonObject> {
  const before = judgeTime(home, clock, boot);
  const reading = { wall: clock.now(), up: boot.uptime() };
  await records.append([
    { at: reading.wall, fact: { type: 'time-confirmed', by: 'owner', time: reading.wall } },
  ]);
  writeMemory(home, rememberTime(confirmTime(reading), reading, boot.boot()));
  return confirmation(reading, before);
}

const confirmation = ({ wall }: TimeReading, before: TimeDoubt | undefined): JsonObject => ({
  time: new Date(wall).toISOString(),
  was: before === undefined ? null : { ...before },
});

/** The command that ends a doubt. */
export const CONFIRM_TIME = 'instar doctor --confirm-time';

const describeTime = (doubt: TimeDoubt | undefined): JsonObject =>
  doubt === undefined
    ? { trusted: true }
    : { trusted: false, ...doubt, problem: describeDoubt(doubt), fix: CONFIRM_TIME };

/** A sentence for people. */
export function describeDoubt({ kind, from, to }: TimeDoubt): string {
  const span = describeSpan(Math.abs(to - from));
  const date = new Date(from).toISOString().slice(0, 16).replace('T', ' ');
  const what =
    kind === 'absence'
      ? `The clock is ${span} ahead of the last time seen (${date} UTC): the machine was off, or its clock was set.`
      : `The clock moved ${to > from ? 'forward' : 'back'} by ${span} at ${date} UTC.`;
  return `${what} Nothing expires until you confirm the time.`;
}

function describeSpan(ms: number): string {
  const days = Math.round(ms / 86_400_000);
  return days === 1 ? '1 day' : `${days} days`;
}

/** A file that is missing or damaged counts as none: then the record says what time it was. */
function readMemory(home: TimeHome): { readonly memory?: TimeMemory; readonly newest: number | undefined } {
  const { newest, clock } = peekTimes(home.storeFile);
  const memory = readClockFile(home.clockFile) ?? memoryOf(clock, newest);
  return memory === undefined ? { newest } : { memory, newest };
}

function readClockFile(file: string): TimeMemory | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // It was never written, or the home cannot be read.
    return undefined;
  }
  const value = asObject(parseJson(text));
  const [wall, up, held] = [asNumber(value.wall), asNumber(value.up), asNumber(value.held)];
  if (wall === undefined || up === undefined || held === undefined) return undefined;
  const [boot, claimed, doubt] = [asString(value.boot), asNumber(value.claimed), readDoubt(value.doubt)];
  return {
    wall,
    up,
    held,
    ...(boot === undefined ? {} : { boot }),
    ...(claimed === undefined ? {} : { claimed }),
    ...(doubt === undefined ? {} : { doubt }),
  };
}

/** Without the file: a doubt that the record has not seen the end of. */
function memoryOf(clock: JsonObject | undefined, newest: number | undefined): TimeMemory | undefined {
  const doubt = clock?.type === 'clock-leaped' ? readDoubt(clock) : undefined;
  if (doubt === undefined) return undefined;
  return { wall: newest ?? doubt.from, up: Number.POSITIVE_INFINITY, held: doubt.from, doubt };
}

function readDoubt(value: unknown): TimeDoubt | undefined {
  const { kind, from, to } = asObject(value);
  const [start, end] = [asNumber(from), asNumber(to)];
  if ((kind !== 'leap' && kind !== 'absence') || start === undefined || end === undefined) return undefined;
  return { kind, from: start, to: end };
}

const writeMemory = (home: TimeHome, memory: TimeMemory): void =>
  void replaceFileSync(home.clockFile, `${JSON.stringify(memory)}\n`);
