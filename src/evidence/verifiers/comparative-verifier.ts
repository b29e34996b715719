import { isObject, type Json } from '../../core/json.ts';
import type { Ask, Question, ReplyRead } from '../../core/learn.ts';
import { type GroupVerifier, notRun, type Submission, type Verification } from '../../core/verifier.ts';
import { truncateMiddleBytes } from '../../text/truncate.ts';
import { fenceData } from '../judge/fence-data.ts';

type Choice = 'first' | 'second' | 'tie';
/** The better of two attempts; undefined when the model gave no answer. */
type Outcome = 'a' | 'b' | 'tie' | undefined;

const LONGEST_TASK = 6000;
const LONGEST_OUTPUT = 12_000;
const MOST_ATTEMPTS = 8;

/** A pair whose two orders disagree is asked about again, until this many rounds. */
const ROUNDS = 3;
/** Of further rounds: without chance the model would repeat itself. */
const AGAIN = 0.7;

/**
 * Grades attempts at a task against each other, for tasks without a reference: every pair is compared in both orders, and in
 * further rounds of both orders while the votes do not agree. The better one has more than half of all votes; without such a
 * majority it is a tie, so that a preference for a place decides nothing. The reward is the share of comparisons won, with
 * ties as half.
 */
export function createComparativeVerifier(ask: Ask): GroupVerifier {
  return async (submissions, signal) => {
    const all = (...reasons: readonly string[]) => submissions.map(() => notRun(...reasons));
    if (submissions.length < 2)
      return all('a single attempt cannot be compared: submit several at the same task');
    if (submissions.length > MOST_ATTEMPTS) return all(`at most ${MOST_ATTEMPTS} attempts can be compared`);
    const scores: Tally[] = submissions.map(() => ({ won: 0, tied: 0, lost: 0 }));
    for (const [i, a] of submissions.entries()) {
      for (const [j, b] of submissions.entries()) {
        if (j <= i) continue;
        const outcome = await comparePair(ask, a, b, signal);
        const [left, right] = [scores[i], scores[j]];
        if (outcome === undefined || left === undefined || right === undefined) continue;
        left[outcome === 'a' ? 'won' : outcome === 'b' ? 'lost' : 'tied']++;
        right[outcome === 'b' ? 'won' : outcome === 'a' ? 'lost' : 'tied']++;
      }
    }
    return scores.map(gradeOf);
  };
}

interface Tally {
  won: number;
  tied: number;
  lost: number;
}

function gradeOf({ won, tied, lost }: Tally): Verification {
  const played = won + tied + lost;
  if (played === 0) return notRun('the model did not compare it with any other attempt');
  return {
    status: 'ok',
    reward: (won + tied / 2) / played,
    reasons: [`better than ${won}, as good as ${tied}, worse than ${lost} of the other attempts`],
  };
}

async function comparePair(ask: Ask, a: Submission, b: Submission, signal: AbortSignal): Promise<Outcome> {
  if (a.output.trim() === b.output.trim()) return 'tie';
  const votes = { a: 0, b: 0, tie: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const [straight, swapped] = await Promise.all([
      ask(questionOf(a, b, round), signal),
      ask(questionOf(b, a, round), signal),
    ]);
    if (!straight.ok || !swapped.ok) return undefined;
    votes[straight.value === 'tie' ? 'tie' : straight.value === 'first' ? 'a' : 'b']++;
    votes[swapped.value === 'tie' ? 'tie' : swapped.value === 'first' ? 'b' : 'a']++;
    const winner = majorityOf(votes, 2 * (round + 1));
    if (winner !== undefined) return winner;
  }
  return 'tie';
}

const majorityOf = (votes: Readonly<Record<'a' | 'b' | 'tie', number>>, cast: number): Outcome =>
  (['a', 'b', 'tie'] as const).find((one) => votes[one] > cast / 2);

function questionOf(first: Submission, second: Submission, round: number): Question<Choice> {
  const { text, rule } = fenceData([
    { label: 'the task', text: truncateMiddleBytes(first.task, LONGEST_TASK) },
    { label: 'the first attempt', text: truncateMiddleBytes(first.output, LONGEST_OUTPUT) || '(empty)' },
    { label: 'the second attempt', text: truncateMiddleBytes(second.output, LONGEST_OUTPUT) || '(empty)' },
  ]);
  return {
    name: 'compare',
    system: `You compare two attempts at the same task and say which one does it better: more of what was asked, fewer errors. Check what they claim. Length, tone and order do not count.\n\n${rule}`,
    user: `${text}\n\nAnswer with JSON and nothing else: {"better": "first", "second" or "tie", "reason": "one sentence"}`,
    maxTokens: 1024,
    temperature: round === 0 ? 0 : AGAIN,
    ...(round === 0 ? {} : { repetition: round }),
    read: readChoice,
  };
}

function readChoice(value: Json): ReplyRead<Choice> {
  const better = isObject(value) ? value.better : undefined;
  return better === 'first' || better === 'second' || better === 'tie'
    ? { ok: true, value: better }
    : { ok: false, why: '"better" must be "first", "second" or "tie"' };
}
