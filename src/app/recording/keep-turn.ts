import type { Fact } from '../../core/fact.ts';
import { asString, type Json, type JsonObject } from '../../core/json.ts';
import { createRecent } from '../../core/recent.ts';
import type { Batch, Block, NewFact } from '../../core/store.ts';
import { wires } from '../../wire/wires.ts';
import type { Job } from './jobs.ts';
import { readReply } from './keep-reply.ts';
import { createRequestKeeper } from './keep-request.ts';
import { textHash } from './text-hash.ts';

/** Takes secrets out. */
export interface Cleaner {
  redactJson(value: Json): Json;
  setKeys(keys: readonly string[]): void;
}

export interface TurnKeeper {
  /** What is written for these turns: facts, and the bodies they point to, without secrets. */
  batch(jobs: readonly Job[]): Batch;
  /** A fact from outside, without secrets. */
  clean(fact: NewFact): NewFact;
  setKeys(keys: readonly string[]): void;
  /** Something left the store, or did not get into it: what is in it must be found out anew. */
  forget(): void;
}

type Start = Job & { readonly type: 'start' };
type End = Job & { readonly type: 'end' };

const MOST_WORDS = 10_000;

export function createTurnKeeper(cleaner: Cleaner): TurnKeeper {
  const requests = createRequestKeeper((value) => cleaner.redactJson(value));
  const cleaned = createRecent<string, string>(MOST_WORDS);
  /** Names and ids come again and again. The same id must be the same in facts, blocks and chains. */
  const cleanWord = (word: string): string => {
    const known = cleaned.get(word);
    if (known !== undefined) return known;
    const clean = asString(cleaner.redactJson(word)) ?? '';
    cleaned.set(word, clean);
    return clean;
  };

  const startFact = ({ at, intent, body }: Start, blocks: Block[]): NewFact => {
    const { link: _, project, ...known } = intent;
    const session = cleanWord(intent.session);
    const bytes = body === undefined ? undefined : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const kept = bytes && requests.keep(session, intent.wire, bytes);
    if (kept) blocks.push(...kept.blocks);
    const words = {
      agent: known.agent,
      model: known.model,
      policy: known.policy,
      client: known.client,
      runKind: known.runKind,
      domain: known.domain,
    };
    const clean = Object.fromEntries(
      Object.entries(words).flatMap(([name, word]) => (word === undefined ? [] : [[name, cleanWord(word)]])),
    );
    const fact: Fact = {
      type: 'turn-start',
      ...known,
      ...clean,
      session,
      ...(project ? { project: { id: project.id, label: cleanWord(project.label) } } : {}),
      ...(kept ? { request: kept.hash } : {}),
    };
    return { at, fact };
  };

  const endFact = (job: End, blocks: Block[]): NewFact => {
    const { at, turn, session, outcome, asked } = job;
    const bytes = job.reply && Buffer.from(job.reply.buffer, job.reply.byteOffset, job.reply.byteLength);
    const kept = bytes?.length
      ? readReply(wires[job.wire], bytes, job.contentType, job.contentEncoding)
      : undefined;
    let reply: string | undefined;
    if (kept !== undefined) {
      const text = JSON.stringify(cleaner.redactJson(kept as unknown as JsonObject));
      reply = textHash(text);
      blocks.push({ hash: reply, text, session: cleanWord(session) });
    }
    // A provider that hangs up between two events looks like a clean end; the reply itself says that it is not.
    const isCut = outcome.status === 'complete' && kept?.failure === 'truncated';
    const fact: Fact = {
      type: 'turn-end',
      turn,
      status: isCut ? 'truncated' : outcome.status,
      httpStatus: outcome.httpStatus,
      totalMs: Math.round(outcome.totalMs),
      ...(outcome.policy === asked ? {} : { policy: cleanWord(outcome.policy) }),
      ...(outcome.failure
        ? { failure: cleanWord(`${outcome.failure.kind}: ${outcome.failure.message}`) }
        : {}),
      ...(job.firstByteMs === undefined ? {} : { firstByteMs: Math.round(job.firstByteMs) }),
      ...(kept?.usage ? { usage: kept.usage } : {}),
      ...(kept?.stop ? { stop: kept.stop } : {}),
      ...(reply ? { reply } : {}),
    };
    return { at, fact };
  };

  const clean = (fact: NewFact): NewFact => ({
    ...fact,
    fact: cleaner.redactJson(fact.fact as unknown as JsonObject) as unknown as Fact,
  });

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
