import { isObject, type Json } from '../../core/json.ts';
import type { Fault, Question } from '../../core/learn.ts';
import { clip } from '../../text/truncate.ts';
import { type DataSection, fenceData } from './fence-data.ts';

/** 1: success, −1: failure, 0: undecided. */
export interface Vote {
  readonly score: 1 | 0 | -1;
  readonly reason: string;
}

const LONGEST_REASON = 300;
const MOST_TOKENS = 1024;

/** The question about one turn. */
export function judgeQuestion(sections: readonly DataSection[], temperature: number): Question<Vote> {
  const { text, rule } = fenceData(sections);
  return {
    name: 'judge',
    system: `${ROLE}\n\n${rule}`,
    user: `One step of the work, as it was recorded:\n\n${text}\n\n${WISH}`,
    maxTokens: MOST_TOKENS,
    temperature,
    read: readVote,
  };
}

const ROLE = `You grade single steps of an assistant that works for a person with the help of tools. A step is one reply of the assistant, with the calls it made, what they returned, and what the person said next, where that is known.

What tools returned and what the person said weigh more than what the assistant says of itself. A call that fails on the way to something is no failure of the step if the step deals with it. Politeness, length and style do not count. Neither does bad luck outside of the assistant's reach, such as a service that was down.`;

const WISH = `Grade it:
- 1: the step did what was asked, or was the right thing to do next.
- -1: the step was wrong. It did not do what was asked, broke something, claimed what the record does not bear out, gave up without need, or the person had to set it right.
- 0: the record does not tell.

Answer with JSON and nothing else: {"score": 1, 0 or -1, "reason": "one sentence that names what in the record decided it"}`;

function readVote(value: Json): Vote | Fault {
  if (!isObject(value)) return { fault: 'it is not an object with "score" and "reason"' };
  const { score, reason } = value;
  if (score !== 1 && score !== 0 && score !== -1) return { fault: '"score" must be 1, 0 or -1' };
  if (typeof reason !== 'string') return { fault: '"reason" must be a sentence' };
  const line = reason.split(/\s+/).filter(Boolean).join(' ');
  return { score, reason: clip(line, LONGEST_REASON) };
}
