import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type * as prometheus from 'prom-client';
import { Counter, Gauge, Histogram, Registry } from '../base/prometheus.ts';
import type { KeyLimit } from '../core/key-limit.ts';
import type { RecordingState } from '../core/store.ts';
import type { CheckedReply } from './check-reply.ts';
import type { ChatWordEnd, TurnReport } from './turn.ts';

export interface Metrics {
  report(report: TurnReport): void;
  /** A request that was refused before it became a turn. */
  refused(reason: string): void;
  /** A word to Instar that Instar answered itself. */
  chatWord(end: ChatWordEnd): void;
  /** A reply that an overlay has checked. */
  checked(reply: Pick<CheckedReply, 'check' | 'result'>): void;
  /** Milliseconds that turns have waited for models since the start. */
  modelMs(): number;
  readonly totals: {
    readonly served: number;
    readonly failed: number;
    readonly refused: number;
    readonly chatWords: number;
  };
  text(): Promise<string>;
}

/** Turns of one wire, provider and end since the last scrape. */
interface TurnCount {
  turns: number;
  readonly labels: { readonly wire: string; readonly provider: string; readonly end: string };
  readonly seconds: prometheus.Histogram.Internal<string>;
  readonly own: prometheus.Histogram.Internal<string>;
}

/** What the turns of one model cost since the start; `unpricedTokens` are those whose price is not known. */
interface ModelCost {
  readonly model: string;
  readonly tokens: number;
  readonly usd: number;
  readonly unpricedTokens: number;
}

/** What is read when somebody scrapes. */
interface MetricSources {
  readonly inFlight: () => number;
  /** Counts of learned and waiting things by name. */
  readonly learned?: () => Readonly<Record<string, number>>;
  /** How recording goes. */
  readonly recording?: () => Omit<RecordingState, 'degraded'>;
  /** The cost of turns by model, a bounded list. */
  readonly served?: () => readonly ModelCost[];
  /** What keys with limits have used. */
  readonly keys?: () => readonly (KeyLimit & { readonly key: string; readonly used: number | undefined })[];
}

type Registers = prometheus.Registry[];

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  /** prom-client's counters cost more than an increment, so they are updated only when someone scrapes. */
  const counted = new Map<string, TurnCount>();
  new Counter({
    name: 'instar_turns_total',
    help: 'Turns by wire, provider and end',
    labelNames: ['wire', 'provider', 'end'],
    registers,
    collect() {
      for (const one of counted.values()) {
        if (one.turns > 0) this.inc(one.labels, one.turns);
        one.turns = 0;
      }
    },
  });
  const { retries, refusals, chatWords, checks } = addCounters(registers);
  const { seconds, own } = addHistograms(registers);
  addStateGauges(registers, sources);
  addServingCosts(registers, sources.served ?? (() => []));
  addKeyGauges(registers, sources.keys ?? (() => []));
  addProcessGauges(registers);
  const totals = { served: 0, failed: 0, refused: 0, chatWords: 0 };
  let last: TurnCount | undefined;
  let waitedMs = 0;
  const countOf = (wire: string, provider: string, end: string): TurnCount => {
    const labels = last?.labels;
    if (last && labels?.wire === wire && labels.provider === provider && labels.end === end) return last;
    const name = `${wire} ${provider} ${end}`;
    last = counted.get(name) ?? {
      turns: 0,
      labels: { wire, provider, end },
      seconds: seconds.labels({ wire }),
      own: own.labels({ wire }),
    };
    counted.set(name, last);
    return last;
  };
  return {
    totals,
    modelMs: () => waitedMs,
    report: ({ wire, provider, end, tries, totalMs, modelMs }) => {
      const one = countOf(wire, provider, end);
      one.turns++;
      one.seconds.observe(totalMs / 1000);
      one.own.observe(Math.max(0, totalMs - modelMs) / 1000);
      waitedMs += modelMs;
      if (tries > 1) retries.inc({ provider }, tries - 1);
      if (end === 'complete' || end === 'client-abort') totals.served++;
      else totals.failed++;
    },
    refused: (reason) => {
      refusals.inc({ reason });
      totals.refused++;
    },
    chatWord: (end) => {
      chatWords.inc({ end });
      totals.chatWords++;
    },
    checked: ({ check, result }) => checks.inc({ check, result }),
    text: () => registry.metrics(),
  };
}

function addCounters(registers: Registers) {
  const retries = new Counter({
    name: 'instar_retries_total',
    help: 'Tries after the first, by provider',
    labelNames: ['provider'],
    registers,
  });
  const refusals = new Counter({
    name: 'instar_refused_total',
    help: 'Requests refused before they became a turn, by reason',
    labelNames: ['reason'],
    registers,
  });
  const chatWords = new Counter({
    name: 'instar_chat_words_total',
    help: 'Messages to Instar in a chat ("instar: good"), answered without a model, by end',
    labelNames: ['end'],
    registers,
  });
  const checks = new Counter({
    name: 'instar_response_checks_total',
    help: 'Replies that were checked because a learned limit says so, by check and result',
    labelNames: ['check', 'result'],
    registers,
  });
  return { retries, refusals, chatWords, checks };
}

function addKeyGauges(registers: Registers, keys: NonNullable<MetricSources['keys']>): void {
  const labelNames = ['key', 'of', 'per'];
  new Gauge({
    name: 'instar_key_limit',
    help: 'What a key may use, by what and in which time',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { key, of, per, most } of keys()) this.set({ key, of, per }, most);
    },
  });
  new Gauge({
    name: 'instar_key_used',
    help: 'What a key has used of it in the minute or the day that runs',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { key, of, per, used } of keys()) if (used !== undefined) this.set({ key, of, per }, used);
    },
  });
}

function addHistograms(registers: Registers) {
  const seconds = new Histogram({
    name: 'instar_turn_seconds',
    help: 'Seconds from a request’s first byte to its reply’s last byte',
    labelNames: ['wire'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
    registers,
  });
  const own = new Histogram({
    name: 'instar_own_seconds',
    help: 'Seconds of a turn in which no model was waited for: what Instar itself adds',
    labelNames: ['wire'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  return { seconds, own };
}

function addStateGauges(
  registers: Registers,
  {
    inFlight,
    learned = () => ({}),
    recording = () => ({ recorded: 0, lost: 0, unreadable: 0 }),
  }: MetricSources,
): void {
  new Gauge({
    name: 'instar_in_flight',
    help: 'Requests being served now',
    registers,
    collect() {
      this.set(inFlight());
    },
  });
  new Gauge({
    name: 'instar_learning',
    help: 'Lessons and waiting evidence, by kind of count',
    labelNames: ['what'],
    registers,
    collect() {
      for (const [what, count] of Object.entries(learned())) this.set({ what }, count);
    },
  });
  new Gauge({
    name: 'instar_recording',
    help: 'Turns recorded and lost, and requests and replies that could not be read, since the start; pending: not durable yet',
    labelNames: ['what'],
    registers,
    collect() {
      const { recorded, lost, unreadable, pending = 0 } = recording();
      for (const [what, count] of Object.entries({ recorded, lost, unreadable, pending }))
        this.set({ what }, count);
    },
  });
  new Gauge({
    name: 'instar_database_away',
    help: 'away: 1 while the database is away; seconds: since when; turns and bytes: what waits in the home for it',
    labelNames: ['what'],
    registers,
    collect() {
      const { spool } = recording();
      const away = spool?.reason === undefined ? 0 : 1;
      const seconds = spool === undefined ? 0 : Math.max(0, Math.round((Date.now() - spool.since) / 1000));
      const { turns = 0, bytes = 0 } = spool ?? {};
      for (const [what, count] of Object.entries({ away, seconds, turns, bytes })) this.set({ what }, count);
    },
  });
}

function addServingCosts(registers: Registers, served: () => readonly ModelCost[]): void {
  new Counter({
    name: 'instar_serving_tokens_total',
    help: 'Tokens of served turns, by model and whether the price of the model is known',
    labelNames: ['model', 'price'],
    registers,
    collect() {
      this.reset();
      for (const { model, tokens, unpricedTokens } of served()) {
        if (tokens > unpricedTokens) this.inc({ model, price: 'known' }, tokens - unpricedTokens);
        if (unpricedTokens > 0) this.inc({ model, price: 'unknown' }, unpricedTokens);
      }
    },
  });
  new Counter({
    name: 'instar_serving_usd_total',
    help: 'US dollars that served turns cost, by model; only models whose price is known',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset();
      for (const { model, tokens, usd, unpricedTokens } of served())
        if (tokens > unpricedTokens) this.inc({ model }, usd);
    },
  });
}

const RESOLUTION_MS = 10;
/** A scraper that asks less often than this is given no event-loop lag. */
const SCRAPED_WITHIN_MS = 5 * 60_000;

/**
 * Memory, open files and the event loop's lag of this process. The lag covers the time since the last scrape, and is measured only
 * while somebody scrapes: looking at it wakes the process a hundred times a second.
 */
function addProcessGauges(registers: Registers): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let stop: NodeJS.Timeout | undefined;
  const measureOn = (): void => {
    delay.reset();
    delay.enable();
    clearTimeout(stop);
    stop = setTimeout(() => delay.disable(), SCRAPED_WITHIN_MS).unref();
  };
  gauge(registers, 'process_resident_memory_bytes', 'Resident memory of the daemon', () =>
    process.memoryUsage.rss(),
  );
  gauge(
    registers,
    'nodejs_heap_used_bytes',
    'Used heap of the main thread',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    registers,
    'nodejs_active_resources',
    'Handles and requests that keep the event loop alive',
    () => process.getActiveResourcesInfo().length,
  );
  if (process.platform === 'linux')
    gauge(registers, 'process_open_fds', 'Open file descriptors', () => readdirSync('/proc/self/fd').length);
  new Gauge({
    name: 'instar_event_loop_lag_seconds',
    help: 'Lag of the main thread’s event loop since the last scrape',
    labelNames: ['quantile'],
    registers,
    collect() {
      // The histogram has the time between two looks, in nanoseconds: the lag is what exceeds their distance.
      const lag = (ns: number): number =>
        Number.isFinite(ns) ? Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000) : 0;
      this.set({ quantile: '0.5' }, lag(delay.percentile(50)));
      this.set({ quantile: '0.99' }, lag(delay.percentile(99)));
      this.set({ quantile: '1' }, lag(delay.max));
      measureOn();
    },
  });
}

const gauge = (registers: Registers, name: string, help: string, read: () => number): prometheus.Gauge =>
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
