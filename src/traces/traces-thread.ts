import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../base/lower-thread-priority.ts';
import { createLruMap } from '../base/lru-map.ts';
import { VERSION } from '../base/package.ts';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import type { StopReason } from '../core/chat.ts';
import { asObject, asString, parseJson } from '../core/json.ts';
import { StoreError, type TurnView } from '../core/store.ts';
import { openLastingReads } from '../record/open-store.ts';
import { readStoredTurn } from '../record/stored-turn.ts';
import { factSpan } from './fact-span.ts';
import { contentAttributes } from './message-content.ts';
import { encodeTraces } from './otlp.ts';
import { createSpanSender } from './send-spans.ts';
import type { ExportBatch, ExportResult, QueuedTurn } from './serve-traces.ts';
import { contextOf, parseTraceparent, type Span, type SpanContext } from './span.ts';
import { turnSpan } from './turn-span.ts';

/**
 * Reads what is to be sent from the record, and sends it. A thread with a connection of its own: neither a turn nor the record waits
 * for a receiver. What the record has was redacted when it was written, so nothing else can be sent.
 */
lowerThreadPriority();
const { place } = workerData as { readonly place: string };
const reads = openLastingReads(place);
const sender = createSpanSender();
/** Spans of turns that are part of a client's trace. Of others the ids follow from the id of the turn. */
const inClientTraces = createLruMap<string, SpanContext>(20_000);
const ORIGIN = {
  resource: { 'service.name': 'instar', 'service.version': VERSION },
  scope: { name: 'instar', version: VERSION },
};

async function exportBatch(batch: ExportBatch): Promise<ExportResult> {
  const { receiver, hasContent } = batch;
  const spans: Span[] = [];
  const missing: QueuedTurn[] = [];
  for (const turn of batch.turns) {
    const view = await reads.turn(turn.id);
    if (view?.status === undefined) missing.push(turn);
    else spans.push(await spanOfTurn(view, turn, batch));
  }
  for (const seq of batch.facts) {
    const [stored] = await reads.facts(seq - 1, 1);
    const span = stored?.seq === seq ? factSpan(stored, contextOfTurn, hasContent) : undefined;
    if (span !== undefined) spans.push(span);
  }
  if (spans.length === 0) return { end: 'sent', spans: 0, rejected: 0, missing };
  const result = await sender.send(receiver, encodeTraces(ORIGIN, spans));
  return { rejected: 0, ...result, spans: spans.length, missing };
}

const contextOfTurn = (turn: string): SpanContext => inClientTraces.get(turn) ?? contextOf('turn', turn);

async function spanOfTurn(view: TurnView, { traceparent }: QueuedTurn, batch: ExportBatch): Promise<Span> {
  const client = parseTraceparent(traceparent);
  const stored = view.reply === undefined ? undefined : await reads.block(view.reply);
  const { model, stop } = asObject(parseJson(stored || '{}'));
  const decoded = batch.hasContent ? await readStoredTurn(view, reads, new Map()) : undefined;
  const span = turnSpan(view, {
    client,
    answered: { model: asString(model), stop: asString(stop) as StopReason | undefined },
    recalls: await reads.recalls(view.session),
    names: batch.names,
    content: batch.hasContent ? (decoded ? contentAttributes(decoded) : {}) : undefined,
  });
  if (client !== undefined) inClientTraces.set(view.id, { traceId: span.traceId, spanId: span.spanId });
  return span;
}

serveWorkerCalls<ExportBatch>(parentPort, {
  answer: exportBatch,
  toFailure: (error) => (error instanceof StoreError ? error : new StoreError('io', String(error))),
  stop: () => {
    sender.close();
    reads.close();
  },
});
