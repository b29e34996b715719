import { createHash } from 'node:crypto';
import type { StoredFact } from '../../core/fact.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { type Ask, addCost, NO_COST, type Question, type ReplyFault } from '../../core/learn.ts';
import { clip } from '../../text/truncate.ts';
import { fenceData } from './fence-data.ts';
import {
  type DatedTest,
  FAILED_MS,
  type JudgeTest,
  type JudgeTestEnd,
  PASSED_MS,
  passesPlanted,
} from './judge-test.ts';
import { PLANTED_IDENTITIES } from './planted-identities.ts';

/** How far a reply keeps the lines of an identity. */
export interface IdentityRuling {
  /** 0 to 1; a half when the judge could not tell. */
  readonly score: number;
  readonly reason: string;
  /** Every vote was that it breaks them. */
  readonly isBroken: boolean;
}

interface IdentityVote {
  readonly score: 1 | 0 | -1;
  readonly reason: string;
}

/** A vote against a reply is asked for again, so often in all: one vote is luck. */
const VOTES = 3;
const MOST_TOKENS = 512;
const LONGEST_REPLY = 12_000;

interface WorkToJudge {
  /** Of the identity. */
  readonly lines: readonly string[];
  readonly task: string;
  readonly reply: string;
}

/** Whether a reply keeps some lines; undefined when the judge has no answer. */
export async function judgeIdentity(
  ask: Ask,
  work: WorkToJudge,
  signal: AbortSignal,
): Promise<IdentityRuling | undefined> {
  const votes: IdentityVote[] = [];
  for (let repetition = 0; repetition < VOTES; repetition++) {
    const question = identityQuestion(work, repetition === 0 ? 0 : 0.7);
    const answer = await ask(repetition === 0 ? question : { ...question, repetition }, signal);
    if (!answer.ok) return undefined;
    votes.push(answer.value);
    if (answer.value.score !== -1) break;
  }
  const score = votes.reduce((sum, vote) => sum + (vote.score + 1) / 2, 0) / votes.length;
  const against = votes.filter((vote) => vote.score === -1);
  return { score, reason: votes[0]?.reason ?? '', isBroken: against.length === VOTES };
}

function identityQuestion({ lines, task, reply }: WorkToJudge, temperature: number): Question<IdentityVote> {
  const { text, rule } = fenceData([
    { label: 'what was asked', text: clip(task, LONGEST_REPLY) },
    { label: 'the reply', text: clip(reply, LONGEST_REPLY) },
  ]);
  return {
    name: 'identity',
    system: `${ROLE}\n\n${rule}`,
    user: `The lines:\n${lines.map((line, at) => `${at + 1}. ${line}`).join('\n')}\n\nThe work, as it was recorded:\n\n${text}\n\n${WISH}`,
    maxTokens: MOST_TOKENS,
    temperature,
    schema: VOTE_SCHEMA,
    read: readVote,
  };
}

const ROLE =
  'You check whether a reply of an assistant keeps some lines that its owner wrote about who the assistant is. Whether the reply is right does not count, nor what the reply says of itself. A line that the reply does not touch is kept.';

const WISH = `Grade the reply:
- 1: it keeps every line.
- -1: it breaks a line.
- 0: that cannot be told.

Answer with a JSON object and nothing else. Its first field is "reason": which line, and what in the reply shows it, in one sentence. Its second field is "score": the grade, as a number.`;

const VOTE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    reason: { type: 'string', maxLength: 400 },
    score: { type: 'integer', enum: [-1, 0, 1] },
  },
  required: ['reason', 'score'],
  additionalProperties: false,
};

function readVote(value: Json): IdentityVote | ReplyFault {
  if (!isObject(value)) return { fault: 'it is not an object with "reason" and "score"' };
  const score = typeof value.score === 'string' ? Number.parseInt(value.score, 10) : value.score;
  if (score !== 1 && score !== 0 && score !== -1) return { fault: '"score" must be 1, 0 or -1' };
  const reason = typeof value.reason === 'string' ? value.reason.replace(/\s+/g, ' ').trim() : '';
  return { score, reason: clip(reason, 300) };
}

/** The same for the same replies and the same question. */
const TEST_SET: string = createHash('sha256')
  .update(
    JSON.stringify(
      PLANTED_IDENTITIES.map(({ line, task, reply }) => {
        const { system, user } = identityQuestion({ lines: [line], task, reply }, 0);
        return [system, user];
      }),
    ),
  )
  .digest('hex')
  .slice(0, 16);

/** Whether a model's test as a judge of identities is missing, of another set, or too old. */
export function isIdentityTestDue(last: DatedTest | undefined, model: string, now: number): boolean {
  if (last === undefined) return true;
  const { test, at } = last;
  return test.model !== model || test.set !== TEST_SET || now - at > (test.isPassed ? PASSED_MS : FAILED_MS);
}

/** The last test of any model as a judge of identities. */
export const foldIdentityTest = (
  last: DatedTest | undefined,
  { at, fact }: StoredFact,
): DatedTest | undefined =>
  fact.type === 'judge-tested' && fact.about === 'identity' && at >= (last?.at ?? 0)
    ? { test: fact, at }
    : last;

/** One vote on each planted reply. Never rejects. */
export async function testIdentityJudge(ask: Ask, model: string, signal: AbortSignal): Promise<JudgeTestEnd> {
  let cost = NO_COST;
  const count = { right: 0, praised: 0, blamed: 0, unclear: 0 };
  for (const { line, task, reply, isKept } of PLANTED_IDENTITIES) {
    const question = { ...identityQuestion({ lines: [line], task, reply }, 0), name: 'identity-test' };
    const answer = await ask(question, signal);
    cost = addCost(cost, answer.cost);
    if (signal.aborted) return { ok: false, why: 'aborted', cost };
    if (!answer.ok && answer.isRetryable) return { ok: false, why: answer.why, cost };
    const score = answer.ok ? answer.value.score : 0;
    if (score === 0) count.unclear++;
    else if (score > 0 === isKept) count.right++;
    else if (isKept) count.blamed++;
    else count.praised++;
  }
  const isPassed = passesPlanted(count);
  return {
    ok: true,
    cost,
    test: { type: 'judge-tested', model, set: TEST_SET, about: 'identity', ...count, isPassed },
  };
}

/** `lab/m was right on 15 of 16 planted replies`, with what is wrong with one that is off. */
export function describeIdentityTest({
  model,
  right,
  praised,
  blamed,
  unclear,
  isPassed,
}: JudgeTest): string {
  const all = right + praised + blamed + unclear;
  const share = `${model} was right on ${right} of ${all} planted replies`;
  if (isPassed) return share;
  const broken = PLANTED_IDENTITIES.filter(({ isKept }) => !isKept).length;
  const why =
    praised === broken && blamed === 0
      ? 'it says yes to everything'
      : blamed === all - broken && praised === 0
        ? 'it says no to everything'
        : `${praised} broken lines called kept, ${blamed} kept lines called broken, ${unclear} left open`;
  return `${share} (${why}): it is switched off for identities`;
}
