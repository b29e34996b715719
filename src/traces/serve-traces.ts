import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../base/log.ts';
import { Counter, Registry } from '../base/prometheus.ts';
import { openWorkerCalls, workerModule } from '../base/worker-thread.ts';
import type { Config } from '../config/schema.ts';
import { readTraceHeaders } from '../config/trace-headers.ts';
import type { Library } from '../core/library.ts';
import type { TurnIntent, TurnOutcome, TurnRecord, TurnRecorder } from '../core/recorder.ts';
import { type AppendResult, type NewFact, StoreError } from '../core/store.ts';
import { openRecording } from '../record/open-recording.ts';
import { withAppendListener } from '../record/records.ts';
import { isTracedFact } from './fact-span.ts';
import type { Receiver, SendResult } from './send-spans.ts';
import { parseTraceparent } from './span.ts';

/** A turn that has ended, on its way to the receiver. */
export interface QueuedTurn {
  readonly id: string;
  readonly traceparent?: string;
  /** How often it was not in the record yet. */
  readonly looks: number;
}

/** One request to the receiver. */
export interface ExportBatch {
  readonly receiver: Receiver;
  readonly hasContent: boolean;
  readonly turns: readonly QueuedTurn[];
  /** Their numbers in the record. */
  readonly facts: readonly number[];
  /** Names of lessons, by id. */
  readonly names: Readonly<Record<string, string>>;
}

export interface ExportResult {
  readonly end: SendResult['end'];
  readonly why?: string;
  readonly spans: number;
  readonly rejected: number;
  readonly missing: readonly QueuedTurn[];
}

interface TraceSettings {
  /** Absent: nothing is traced. */
  readonly url?: string | undefined;
  readonly headersEnv?: string | undefined;
  readonly content: boolean;
}

interface TracesOptions {
  /** Read when they are needed: they may change. */
  readonly settings: () => TraceSettings;
  /** The headers that the named variable has, see `readHeaders`. */
  readonly headers: (settings: TraceSettings) => Readonly<Record<string, string>>;
  /** Where the record is. */
  readonly place: string;
  /** The name of a lesson, redacted; undefined for an unknown one. */
  readonly nameOf: (lesson: string) => string | undefined;
  readonly log: Log;
  /** The time from the first thing that waits to its request; for tests. */
  readonly everyMs?: number;
}

export interface ServedTraces {
  /** The same recorder; its turns are traced when they have ended. */
  recorder<R extends TurnRecorder>(recorder: R): R;
  /** What was appended to the record. */
  appended(facts: readonly NewFact[], results: readonly AppendResult[]): void;
  /** For `GET /metrics`. */
  text(): Promise<string>;
  /** Sends what waits, for two seconds at most. */
  close(): Promise<void>;
}

/** The most turns and facts that wait. A receiver that is away for longer misses the rest, which is counted. */
const MOST_WAITING = 4096;
const BATCH = 256;
const EVERY_MS = 1000;
/** A turn is in the record some milliseconds after its end; with a failing store it never will be. */
const MOST_LOOKS = 10;
const CLOSING_MS = 2000;
const CLOSING_LOOK_MS = 50;

type Drop = 'queue' | 'refused' | 'unreachable' | 'stopped' | 'unrecorded' | 'unsampled' | 'rejected';

/** What `GET /metrics` says about spans. */
function createSpanCounts() {
  const registry = new Registry();
  const sent = new Counter({
    name: 'instar_trace_spans_sent_total',
    help: 'Spans that the receiver of traces has taken',
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'instar_trace_spans_dropped_total',
    help: 'Spans that were not sent or not taken, by reason',
    labelNames: ['reason'],
    registers: [registry],
  });
  return {
    sent: (count: number): void => sent.inc(count),
    drop: (reason: Drop, count = 1): void => dropped.inc({ reason }, count),
    text: () => registry.metrics(),
  };
}

/** The turns and facts that wait for the receiver. */
function createSpanQueue(nameOf: TracesOptions['nameOf'], drop: (reason: Drop) => void) {
  let turns: QueuedTurn[] = [];
  let facts: number[] = [];
  let lessons = new Set<string>();
  const hasRoom = (): boolean => {
    if (turns.length + facts.length < MOST_WAITING) return true;
    drop('queue');
    return false;
  };
  return {
    addTurn: (turn: QueuedTurn, shown: readonly string[] = []): void => {
      if (!hasRoom()) return;
      turns.push(turn);
      for (const lesson of shown) lessons.add(lesson);
    },
    addFact: (seq: number): void => {
      if (hasRoom()) facts.push(seq);
    },
    hasTurns: () => turns.length > 0,
    isEmpty: () => turns.length + facts.length === 0,
    hasBatch: () => turns.length >= BATCH || facts.length >= BATCH,
    take: (): Pick<ExportBatch, 'turns' | 'facts' | 'names'> => {
      const batch = { turns: turns.slice(0, BATCH), facts: facts.slice(0, BATCH) };
      turns = turns.slice(BATCH);
      facts = facts.slice(BATCH);
      const names = [...lessons].flatMap((id) => {
        const name = nameOf(id);
        return name === undefined ? [] : [[id, name] as const];
      });
      if (turns.length === 0) lessons = new Set();
      return { ...batch, names: Object.fromEntries(names) };
    },
    clear: (): void => {
      turns = [];
      facts = [];
    },
  };
}

/**
 * Spans of turns, rewards and learning for a receiver of OpenTelemetry. The hot path adds an id to a list, and nothing here throws
 * or waits: a receiver that is slow, away or broken costs spans, never a turn.
 */
export function serveTraces(options: TracesOptions): ServedTraces {
  const { settings, everyMs = EVERY_MS } = options;
  const counts = createSpanCounts();
  const queue = createSpanQueue(options.nameOf, counts.drop);
  const sender = createBatchSender(options, queue, counts);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosing = false;

  const wake = (): void => {
    if (timer !== undefined || running !== undefined || isClosing) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        flush();
      },
      queue.hasBatch() ? 0 : everyMs,
    );
    timer.unref();
  };
  const flush = (): void => {
    running = sender.send().finally(() => {
      running = undefined;
      if (!queue.isEmpty()) wake();
    });
  };
  const ended: TracedRecord['ended'] = ({ turn: id, traceparent, lessons }) => {
    if (parseTraceparent(traceparent)?.isSampled === false) return counts.drop('unsampled');
    queue.addTurn(traceparent === undefined ? { id, looks: 0 } : { id, traceparent, looks: 0 }, lessons);
    wake();
  };

  return {
    recorder: (recorder) => ({
      ...recorder,
      start: (intent) => {
        const record = recorder.start(intent);
        return settings().url === undefined ? record : new TracedRecord(record, intent, ended);
      },
    }),
    appended: (facts, results) => {
      if (settings().url === undefined) return;
      for (const [index, { fact }] of facts.entries()) {
        const result = results[index];
        if (result?.isNew && isTracedFact(fact)) queue.addFact(result.seq);
      }
      if (!queue.isEmpty()) wake();
    },
    text: async () => (settings().url === undefined ? '' : counts.text()),
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      await sender.close(running);
    },
  };
}

/** Sends one batch after the other, in a thread of its own. Never rejects. */
function createBatchSender(
  { settings, headers, place, log }: TracesOptions,
  queue: ReturnType<typeof createSpanQueue>,
  counts: ReturnType<typeof createSpanCounts>,
) {
  const thread = openWorkerCalls<ExportBatch>({
    module: workerModule('./traces-thread.ts', import.meta.url),
    workerData: { place },
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The thread that sends traces has ended.',
  });
  let isTroubled = false;
  let isClosing = false;

  const nextBatch = (): ExportBatch | undefined => {
    const now = settings();
    const { url, content } = now;
    const batch = queue.take();
    if (url === undefined || batch.turns.length + batch.facts.length === 0) return undefined;
    const receiver = { url, headers: headers(now) };
    return { receiver, hasContent: content, ...batch };
  };
  const lookAgain = (turn: QueuedTurn): void => {
    if (turn.looks + 1 >= MOST_LOOKS) counts.drop('unrecorded');
    else queue.addTurn({ ...turn, looks: turn.looks + 1 });
  };
  /** One line when it begins to fail, and one when it works again. */
  const tell = (trouble: string | undefined): void => {
    if (trouble !== undefined && !isTroubled)
      log.warn({ problem: trouble }, 'traces are not taken by their receiver; turns are served as before');
    if (trouble === undefined && isTroubled) log.info({}, 'traces are taken again');
    isTroubled = trouble !== undefined;
  };

  const send = async (): Promise<void> => {
    let batch: ExportBatch | undefined;
    try {
      batch = nextBatch();
      if (batch === undefined) return;
      const { end, why, spans, rejected, missing } = await thread.call<ExportResult>(batch);
      for (const turn of missing) lookAgain(turn);
      if (end === 'sent') {
        counts.sent(spans - rejected);
        if (rejected > 0) counts.drop('rejected', rejected);
      } else counts.drop(end, spans);
      tell(end === 'sent' && rejected === 0 ? undefined : (why ?? end));
    } catch (error) {
      counts.drop(isClosing ? 'stopped' : 'unrecorded', batch ? batch.turns.length + batch.facts.length : 0);
      if (!isClosing) tell(String(error));
    }
  };
  const sendRest = async (running: Promise<void> | undefined): Promise<void> => {
    await running;
    while (!queue.isEmpty()) {
      await send();
      // What is still missing is being written.
      if (queue.hasTurns()) await pause(CLOSING_LOOK_MS);
    }
  };

  return {
    send,
    /** Sends what waits after `running`, for two seconds at most. */
    close: async (running: Promise<void> | undefined): Promise<void> => {
      isClosing = true;
      let late: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        late = setTimeout(resolve, CLOSING_MS);
      });
      const rest = sendRest(running);
      await Promise.race([rest, limit]);
      clearTimeout(late);
      queue.clear();
      await thread.close();
      await rest;
    },
  };
}

type TracedTurn = Pick<TurnIntent, 'turn' | 'traceparent' | 'lessons'>;

/** One for each turn, and only while traces are on. It holds no body: a stream may stay open for minutes. */
class TracedRecord implements TurnRecord {
  readonly ended: (turn: TracedTurn) => void;
  readonly #record: TurnRecord;
  readonly #turn: TracedTurn;

  constructor(record: TurnRecord, intent: TurnIntent, ended: (turn: TracedTurn) => void) {
    this.#record = record;
    const { turn, traceparent, lessons } = intent;
    this.#turn = traceparent === undefined ? { turn, lessons } : { turn, traceparent, lessons };
    this.ended = ended;
  }

  head(contentType: string, contentEncoding: string | undefined): void {
    this.#record.head(contentType, contentEncoding);
  }

  chunk(bytes: Buffer): void {
    this.#record.chunk(bytes);
  }

  end(outcome: TurnOutcome): void {
    this.#record.end(outcome);
    this.ended(this.#turn);
  }
}

type Recording = ReturnType<typeof openRecording>;

interface TracedRecording extends Recording {
  /** The text of `GET /metrics`: these metrics and those of traces, redacted. */
  metricsWith(texts: readonly (() => Promise<string>)[]): Promise<string>;
}

/** The record, and what happens in it as traces for the receiver that the settings name. Without one it is the record alone. */
export function openTracedRecording(
  options: Parameters<typeof openRecording>[0] & { readonly place: string },
  config: Config,
  env: NodeJS.ProcessEnv,
  library: () => Pick<Library, 'lesson'> | undefined,
): TracedRecording {
  const recording = openRecording(options);
  const { redactor } = recording;
  const traces = serveTraces({
    settings: () => config.traces,
    headers: (settings) => readTraceHeaders(settings, env),
    place: options.place,
    nameOf: (id) => {
      const lesson = library()?.lesson(id);
      return lesson && redactor.redactName(lesson.text.name);
    },
    log: options.log,
  });
  return {
    ...recording,
    recorder: traces.recorder(recording.recorder),
    records: withAppendListener(recording.records, traces.appended),
    metricsWith: async (texts) => {
      const all = await Promise.all([...texts, traces.text].map((text) => text()));
      return redactor.redactText(all.join('\n'));
    },
    close: async () => {
      // Before the record: what waits is read from it.
      await traces.close();
      await recording.close();
    },
  };
}
