import type { TurnEvidence } from '../../core/evidence.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Answer, Ask, Question, ReplyRead } from '../../core/learn.ts';
import { clip } from '../../text/truncate.ts';
import { digestTurn } from './digest-turn.ts';
import { type DataSection, fenceData } from './fence-data.ts';

/** 1: success, −1: failure, 0: undecided. */
export interface JudgeVote {
  readonly score: 1 | 0 | -1;
  readonly reason: string;
}

const LONGEST_REASON = 300;
const MOST_TOKENS = 1024;

/** The question about one turn. */
export function judgeQuestion(sections: readonly DataSection[], temperature: number): Question<JudgeVote> {
  const { text, rule } = fenceData(sections);
  return {
    name: 'judge',
    system: `${ROLE}\n\n${rule}`,
    user: `One step of the work, as it was recorded:\n\n${text}\n\n${WISH}`,
    maxTokens: MOST_TOKENS,
    temperature,
    schema: VOTE_SCHEMA,
    read: readVote,
  };
}

const ROLE = `You check single steps of an assistant that works for a person with the help of tools. A step is one reply of the assistant, with the calls it made, what they returned, and what the person said next, where that is known.

What tools returned and what the person said decide. What the assistant says of itself proves nothing. A call that fails on the way is no failure of the step if the step deals with it. Politeness, length and style do not count, nor does a service that was down.`;

const WISH = `Work out the right result yourself, and compare it with what the record shows. Then grade the step:
- 1: it did what was asked, or was the right thing to do next.
- -1: it was wrong: it did not do all that was asked, did more than was asked, broke something, claimed what the record does not show, gave up without need, or the person had to set it right.
- 0: the record does not tell.

Answer with a JSON object and nothing else. Its first field is "reason": what was asked, what the record shows, and whether they agree, in one sentence. Its second field is "score": the grade, as a number.`;

export const VOTE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    reason: { type: 'string', maxLength: 400 },
    score: { type: 'integer', enum: [-1, 0, 1] },
  },
  required: ['reason', 'score'],
  additionalProperties: false,
};

/** One vote on a step whose outcome is known. */
export const judgePlanted = (
  ask: Ask,
  evidence: TurnEvidence,
  signal: AbortSignal,
): Promise<Answer<{ readonly score: 1 | 0 | -1 }>> => ask(plantedQuestion(evidence), signal);

/** The prompts of the questions about such steps. */
export const plantedPrompts = (turns: readonly TurnEvidence[]): readonly string[] =>
  turns.map((evidence) => {
    const { system, user } = plantedQuestion(evidence);
    return `${system}\n\n${user}`;
  });

const plantedQuestion = (evidence: TurnEvidence): Question<JudgeVote> => ({
  ...judgeQuestion(
    digestTurn(evidence, { turn: evidence.turn, verdict: 'ambiguous', signals: [], digests: [] }),
    0,
  ),
  name: 'judge-test',
});

function readVote(value: Json): ReplyRead<JudgeVote> {
  if (!isObject(value)) return { ok: false, why: 'it is not an object with "score" and "reason"' };
  const { reason } = value;
  // Some models write the number as a text, or with its sign.
  const score = typeof value.score === 'string' ? Number.parseInt(value.score, 10) : value.score;
  if (score !== 1 && score !== 0 && score !== -1) return { ok: false, why: '"score" must be 1, 0 or -1' };
  if (typeof reason !== 'string') return { ok: false, why: '"reason" must be a sentence' };
  const line = reason.split(/\s+/).filter(Boolean).join(' ');
  return { ok: true, value: { score, reason: clip(line, LONGEST_REASON) } };
}
