import { isUtf8 } from 'node:buffer';
import zlib from 'node:zlib';
import { neutralise, printableName } from '../base/printable.ts';
import { type AssistantPart, type ChatEvent, type StopReason, totalUsage, type Usage } from '../core/chat.ts';
import type { Fact, UnreadableBody } from '../core/fact.ts';
import type { PromptState } from '../core/gateway-process.ts';
import { asObject, asString, type Json, parseJson, toJson } from '../core/json.ts';
import { type Batch, type Block, formatTurnBodyKey, type NewFact } from '../core/store.ts';
import type { Wire } from '../core/wire.ts';
import { viewBytes } from '../wire/json-scan.ts';
import { createSseDecoder } from '../wire/sse.ts';
import { wires } from '../wire/wires.ts';
import { createFactCleaner, type FactCleaner, type FactRedactor } from './clean-fact.ts';
import { createRequestEncoder } from './request-manifest.ts';
import { encodeRawText } from './unreadable-body.ts';
import type { WriterJob } from './writer-messages.ts';

/** Redacts secrets. */
interface TurnRedactor extends FactRedactor {
  /** `redactJson` as JSON text. */
  redactToText(value: Json): string;
  /** Plain text. */
  redactText(text: string): string;
  setKeys(keys: readonly string[]): void;
}

export interface TurnEncoder {
  /** The facts of these turns and the bodies they refer to, redacted. */
  batch(jobs: readonly WriterJob[]): Batch;
  /** What others append, redacted. */
  readonly clean: FactCleaner;
  setKeys(keys: readonly string[]): void;
  /** Drops the caches: something was erased from the store, or not written. */
  forget(): void;
}

type Start = WriterJob & { readonly type: 'start' };
type End = WriterJob & { readonly type: 'end' };

/** `gateway`: the run of the gateway that the turns name. */
export function createTurnEncoder(cleaner: TurnRedactor, gateway?: string): TurnEncoder {
  const requests = createRequestEncoder((value) => cleaner.redactToText(value));
  /** An id must be redacted to the same text in facts, blocks and chains. */
  const cleanWord = (word: string): string => cleaner.redactName(word);

  const cleanOptional = (word: string | undefined): string | undefined =>
    word === undefined ? undefined : cleanWord(word);

  const cleanPrompt = (prompt: PromptState | undefined): PromptState | undefined =>
    prompt && { ...prompt, thread: cleanWord(prompt.thread) };

  const startFact = ({ at, intent, body }: Start, blocks: Block[]): NewFact => {
    const { turn, role, wire, generation, lessons, project } = intent;
    const session = cleanWord(intent.session);
    const name = formatTurnBodyKey({ turn, part: 'request' });
    const bytes = body && viewBytes(body);
    const unreadable =
      intent.unreadable ?? (bytes && !isUtf8(bytes) ? unreadableAs('not-utf8', bytes) : undefined);
    const manifest = bytes && (unreadable ? undefined : requests.keep(name, session, wire, bytes));
    if (manifest) blocks.push(...manifest);
    else if (bytes) blocks.push({ hash: name, text: encodeRawText(bytes, cleaner.redactText), session });
    // JSON omits undefined members.
    const fact = {
      type: 'turn-start',
      turn,
      session,
      agent: cleanWord(intent.agent),
      role,
      client: cleanOptional(intent.client),
      claimed: cleanOptional(intent.claimed),
      project: project && { id: project.id, label: cleanWord(project.label) },
      runKind: cleanOptional(intent.runKind),
      domain: cleanOptional(intent.domain),
      wire,
      model: cleanWord(printableName(intent.model)),
      generation,
      policy: cleanWord(printableName(intent.policy)),
      lessons,
      block: intent.block,
      request: bytes && name,
      caller: intent.caller,
      unreadable: unreadable ?? (bytes && !manifest ? unreadableAs('not-json', bytes) : undefined),
      gateway: gateway === undefined ? undefined : { id: gateway, prompt: cleanPrompt(intent.prompt) },
    } as Fact;
    return { at, fact };
  };

  return {
    batch: (jobs) => {
      const blocks: Block[] = [];
      const facts: NewFact[] = [];
      const chains: { session: string; link: string }[] = [];
      for (const job of jobs) {
        if (job.type === 'start') {
          facts.push(startFact(job, blocks));
          const link = asString(job.intent.link);
          if (link !== undefined) chains.push({ session: cleanWord(job.intent.session), link });
        } else if (job.type === 'end') facts.push(endFact(job, blocks, cleaner));
      }
      return { facts, blocks, chains, reliesOnStored: true };
    },
    clean: createFactCleaner(cleaner),
    setKeys: (keys) => cleaner.setKeys(keys),
    forget: () => requests.forget(),
  };
}

/** The fact of a turn that ended; the body of its reply goes to `blocks`. */
function endFact(job: End, blocks: Block[], cleaner: TurnRedactor): NewFact {
  const { at, turn, outcome } = job;
  const plain = job.reply?.length ? inflate(viewBytes(job.reply), job.contentEncoding) : undefined;
  const decoded = plain && decodeRecordedReply(wires[job.wire], plain, job.contentType);
  const name = plain && formatTurnBodyKey({ turn, part: 'reply' });
  if (plain !== undefined && name !== undefined) {
    const text = decoded ? replyText(decoded, cleaner) : encodeRawText(plain, cleaner.redactText);
    blocks.push({ hash: name, text, session: cleaner.redactName(job.session) });
  }
  // A connection closed between two events looks like a clean end; the decoded reply shows that it is truncated.
  const isCut = outcome.status === 'complete' && decoded?.failure === 'truncated';
  const { failure, reasked } = outcome;
  const fact = {
    type: 'turn-end',
    turn,
    status: isCut ? 'truncated' : outcome.status,
    httpStatus: outcome.httpStatus,
    policy: outcome.policy === job.asked ? undefined : cleaner.redactName(printableName(outcome.policy)),
    failure: failure && cleaner.redactText(neutralise(`${failure.kind}: ${failure.message}`)),
    usage: reasked?.usage ? totalUsage(decoded?.usage, reasked.usage) : decoded?.usage,
    reasks: reasked?.times,
    stop: decoded?.stop,
    firstByteMs: job.firstByteMs === undefined ? undefined : Math.round(job.firstByteMs),
    totalMs: Math.round(outcome.totalMs),
    reply: name,
    caller: outcome.caller,
    unreadable: decoded ? undefined : unreadableReply(job, plain),
  } as Fact;
  return { at, fact };
}

/** The requests and replies among them that could not be read. */
export const countUnreadable = (facts: readonly NewFact[]): number =>
  facts.filter(({ fact }) => 'unreadable' in fact && fact.unreadable !== undefined).length;

const unreadableAs = (why: UnreadableBody['why'], { length: bytes }: Uint8Array): UnreadableBody => ({
  why,
  bytes,
});

/** Undefined when there was no reply. */
function unreadableReply({ replyBytes, reply }: End, plain: Buffer | undefined): UnreadableBody | undefined {
  if (replyBytes === 0) return undefined;
  const why = reply === undefined ? 'too-long' : plain === undefined ? 'encoding' : 'not-a-reply';
  return { why, bytes: replyBytes };
}

/** Token counts are not secrets, but their names (`inputTokens`) look like those of secrets and would slow down every reply. */
function replyText({ usage, ...reply }: RecordedReply, cleaner: TurnRedactor): string {
  const text = cleaner.redactToText(toJson(reply));
  return usage === undefined ? text : `${text.slice(0, -1)},"usage":${JSON.stringify(usage)}}`;
}

/** A model's reply in the internal format, as recorded. */
interface RecordedReply {
  readonly model: string;
  readonly content: readonly AssistantPart[];
  readonly stop?: StopReason;
  readonly usage?: Usage;
  /** The kind of failure that ended it. */
  readonly failure?: string;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Decodes the bytes that went to the client. Undefined when they are not a reply of that wire. */
function decodeRecordedReply(wire: Wire, plain: Buffer, contentType: string): RecordedReply | undefined {
  const events = contentType.startsWith('text/event-stream')
    ? readStream(wire, plain)
    : readWhole(wire, plain);
  return events.some((event) => event.type === 'reply-start') ? foldReply(events) : undefined;
}

function readStream(wire: Wire, bytes: Buffer): readonly ChatEvent[] {
  const decoder = wire.createStreamDecoder();
  const events = createSseDecoder().push(bytes);
  return [...events.flatMap((event) => decoder.decode(event)), ...decoder.end()];
}

function readWhole(wire: Wire, bytes: Buffer): readonly ChatEvent[] {
  return wire.decodeReply(asObject(parseJson(bytes.toString('utf8'))));
}

function foldReply(events: readonly ChatEvent[]): RecordedReply {
  let reply: RecordedReply = { model: '', content: [] };
  const content: AssistantPart[] = [];
  const calls = new Map<string, number>();
  for (const event of events) {
    const last = content.at(-1);
    if (event.type === 'reply-start') reply = { ...reply, model: event.model };
    else if (event.type === 'text-delta') {
      if (last?.type === 'text') content[content.length - 1] = { ...last, text: last.text + event.text };
      else content.push({ type: 'text', text: event.text });
    } else if (event.type === 'reasoning-delta') {
      if (last?.type === 'reasoning') content[content.length - 1] = { ...last, text: last.text + event.text };
      else content.push({ type: 'reasoning', text: event.text });
    } else if (event.type === 'tool-start') {
      calls.set(event.id, content.length);
      content.push({ type: 'tool-call', id: event.id, name: event.name, arguments: '' });
    } else if (event.type === 'tool-delta') {
      const at = calls.get(event.id) ?? -1;
      const call = content[at];
      if (call?.type === 'tool-call') content[at] = { ...call, arguments: call.arguments + event.json };
    } else if (event.type === 'reply-end') {
      reply = { ...reply, stop: event.stop, ...(event.usage ? { usage: event.usage } : {}) };
    } else if (event.type === 'failure') reply = { ...reply, failure: event.failure.kind };
  }
  return { ...reply, content };
}

function inflate(bytes: Buffer, encoding: string | undefined): Buffer | undefined {
  const options = { maxOutputLength: MOST_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  try {
    if (encoding === undefined || encoding === 'identity') return bytes;
    if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(bytes, options);
    if (encoding === 'deflate') return zlib.inflateSync(bytes, options);
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, { maxOutputLength: MOST_BYTES });
    return undefined;
  } catch {
    return undefined;
  }
}
