import { type Fact, isFact } from '../../core/fact.ts';
import { asString, type Json, toJson } from '../../core/json.ts';
import { ownBodyName } from '../../core/own-body.ts';
import { createRecent } from '../../core/recent.ts';
import type { Batch, Block, NewFact } from '../../core/store.ts';
import { viewBytes } from '../../wire/scan.ts';
import { wires } from '../../wire/wires.ts';
import type { Job } from './jobs.ts';
import { type KeptReply, readReply } from './keep-reply.ts';
import { createRequestKeeper } from './keep-request.ts';

/** Redacts secrets. */
export interface Cleaner {
  redactJson(value: Json): Json;
  /** The same as JSON text. */
  redactToText(value: Json): string;
  setKeys(keys: readonly string[]): void;
}

export interface TurnKeeper {
  /** The facts of these turns and the bodies they refer to, redacted. */
  batch(jobs: readonly Job[]): Batch;
  /** A fact of a caller, redacted. */
  clean(fact: NewFact): NewFact;
  setKeys(keys: readonly string[]): void;
  /** Drops the caches: something was erased from the store, or not written. */
  forget(): void;
}

type Start = Job & { readonly type: 'start' };
type End = Job & { readonly type: 'end' };

const MOST_WORDS = 10_000;

export function createTurnKeeper(cleaner: Cleaner): TurnKeeper {
  const requests = createRequestKeeper((value) => cleaner.redactToText(value));
  const cleaned = createRecent<string, string>(MOST_WORDS);
  /** Cached, because names and ids repeat. An id must be redacted to the same text in facts, blocks and chains. */
  const cleanWord = (word: string): string => {
    const known = cleaned.get(word);
    if (known !== undefined) return known;
    const clean = asString(cleaner.redactJson(word)) ?? '';
    cleaned.set(word, clean);
    return clean;
  };

  const cleanOptional = (word: string | undefined): string | undefined =>
    word === undefined ? undefined : cleanWord(word);

  const startFact = ({ at, intent, body }: Start, blocks: Block[]): NewFact => {
    const { turn, role, wire, generation, lessons, project } = intent;
    const session = cleanWord(intent.session);
    const name = ownBodyName({ turn, part: 'request' });
    const kept = body && requests.keep(name, session, wire, viewBytes(body));
    if (kept) blocks.push(...kept);
    // JSON omits undefined members.
    const fact = {
      type: 'turn-start',
      turn,
      session,
      agent: cleanWord(intent.agent),
      role,
      client: cleanOptional(intent.client),
      project: project && { id: project.id, label: cleanWord(project.label) },
      runKind: cleanOptional(intent.runKind),
      domain: cleanOptional(intent.domain),
      wire,
      model: cleanWord(intent.model),
      generation,
      policy: cleanWord(intent.policy),
      lessons,
      block: intent.block,
      request: kept && name,
    } as Fact;
    return { at, fact };
  };

  const endFact = (job: End, blocks: Block[]): NewFact => {
    const { at, turn, outcome } = job;
    const kept = job.reply?.length
      ? readReply(wires[job.wire], viewBytes(job.reply), job.contentType, job.contentEncoding)
      : undefined;
    const name = kept && ownBodyName({ turn, part: 'reply' });
    if (kept !== undefined && name !== undefined) {
      const text = replyText(kept, cleaner);
      blocks.push({ hash: name, text, session: cleanWord(job.session) });
    }
    // A connection closed between two events looks like a clean end; the decoded reply shows that it is truncated.
    const isCut = outcome.status === 'complete' && kept?.failure === 'truncated';
    const { failure } = outcome;
    const fact = {
      type: 'turn-end',
      turn,
      status: isCut ? 'truncated' : outcome.status,
      httpStatus: outcome.httpStatus,
      policy: outcome.policy === job.asked ? undefined : cleanWord(outcome.policy),
      failure: failure && cleanWord(`${failure.kind}: ${failure.message}`),
      usage: kept?.usage,
      stop: kept?.stop,
      firstByteMs: job.firstByteMs === undefined ? undefined : Math.round(job.firstByteMs),
      totalMs: Math.round(outcome.totalMs),
      reply: name,
    } as Fact;
    return { at, fact };
  };

  const clean = (given: NewFact): NewFact => {
    const fact = cleaner.redactJson(toJson(given.fact));
    if (!isFact(fact)) throw new TypeError('a redacted fact has lost its type');
    return { ...given, fact };
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
        } else if (job.type === 'end') facts.push(endFact(job, blocks));
      }
      return { facts, blocks, chains };
    },
    clean,
    setKeys: (keys) => {
      cleaned.clear();
      cleaner.setKeys(keys);
    },
    forget: () => requests.forget(),
  };
}

/** Token counts are not secrets, but their names (`inputTokens`) look like those of secrets and would slow down every reply. */
function replyText({ usage, ...said }: KeptReply, cleaner: Cleaner): string {
  const text = cleaner.redactToText(toJson(said));
  return usage === undefined ? text : `${text.slice(0, -1)},"usage":${JSON.stringify(usage)}}`;
}
