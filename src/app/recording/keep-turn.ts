import type { Fact } from '../../core/fact.ts';
import { asString, type Json, type JsonObject } from '../../core/json.ts';
import { ownBodyName } from '../../core/own-body.ts';
import { createRecent } from '../../core/recent.ts';
import type { Batch, Block, NewFact } from '../../core/store.ts';
import { viewBytes } from '../../wire/scan.ts';
import { wires } from '../../wire/wires.ts';
import type { Job } from './jobs.ts';
import { type KeptReply, readReply } from './keep-reply.ts';
import { createRequestKeeper } from './keep-request.ts';

/** Takes secrets out. */
export interface Cleaner {
  redactJson(value: Json): Json;
  /** The same as JSON text. */
  redactToText(value: Json): string;
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
  const requests = createRequestKeeper((value) => cleaner.redactToText(value));
  const cleaned = createRecent<string, string>(MOST_WORDS);
  /** Names and ids come again and again. The same id must be the same in facts, blocks and chains. */
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
    // Members that are undefined are not written.
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
    // A provider that hangs up between two events looks like a clean end; the reply itself says that it is not.
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

/** Counts are no secrets, but their names (`inputTokens`) look like those of secrets, and would be looked into at every reply. */
function replyText({ usage, ...said }: KeptReply, cleaner: Cleaner): string {
  const text = cleaner.redactToText(said as unknown as JsonObject);
  return usage === undefined ? text : `${text.slice(0, -1)},"usage":${JSON.stringify(usage)}}`;
}
