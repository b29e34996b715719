import { isObject, type Json } from '../../core/json.ts';
import type { Ask, Question, ReplyRead } from '../../core/learn.ts';
import { clip } from '../../text/truncate.ts';
import { fenceData } from './fence-data.ts';
import { type JudgeVote, VOTE_SCHEMA } from './judge-question.ts';
import { createPlantedTest, type JudgeTest } from './judge-test.ts';
import { PLANTED_IDENTITIES, type PlantedIdentity } from './planted-identities.ts';

/** How far a reply keeps the lines of an identity. */
export interface IdentityRuling {
  /** 0 to 1; a half when the judge could not tell. */
  readonly score: number;
  readonly reason: string;
  /** Every vote was that it breaks them. */
  readonly isBroken: boolean;
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
  const votes: JudgeVote[] = [];
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

function identityQuestion({ lines, task, reply }: WorkToJudge, temperature: number): Question<JudgeVote> {
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

function readVote(value: Json): ReplyRead<JudgeVote> {
  if (!isObject(value)) return { ok: false, why: 'it is not an object with "reason" and "score"' };
  const score = typeof value.score === 'string' ? Number.parseInt(value.score, 10) : value.score;
  if (score !== 1 && score !== 0 && score !== -1) return { ok: false, why: '"score" must be 1, 0 or -1' };
  const reason = typeof value.reason === 'string' ? value.reason.replace(/\s+/g, ' ').trim() : '';
  return { ok: true, value: { score, reason: clip(reason, 300) } };
}

const plantedQuestion = ({ line, task, reply }: PlantedIdentity): Question<JudgeVote> => ({
  ...identityQuestion({ lines: [line], task, reply }, 0),
  name: 'identity-test',
});

export const identityTest = createPlantedTest({
  about: 'identity',
  planted: PLANTED_IDENTITIES,
  isGood: ({ isKept }) => isKept,
  prompts: PLANTED_IDENTITIES.map((one) => {
    const { system, user } = plantedQuestion(one);
    return [system, user];
  }),
  judge: (ask, one, signal) => ask(plantedQuestion(one), signal),
});

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
