import type { RewardSource } from '../../../../src/core/evidence.ts';
import type { FailureCase, Passage, Proposal, RunCommand } from '../../../../src/core/learn.ts';
import type { LessonText } from '../../../../src/core/lesson.ts';
import { digestError } from '../../../../src/evidence/digest/digest-error.ts';

const DAY = 86_400_000;

interface FailureParts {
  readonly task: string;
  readonly passages: readonly Passage[];
  readonly source?: RewardSource;
  readonly number?: number;
  readonly session?: string;
  readonly commands?: readonly RunCommand[];
  readonly missing?: readonly string[];
}

/** A failure as the daemon builds it: digests of the tools' output, and a signal of the source. */
export function failureOf({
  task,
  passages,
  source = 'signal',
  number = 1,
  session,
  commands = [],
  missing = [],
}: FailureParts): FailureCase {
  const turn = `turn-${number}`;
  const digests = passages.flatMap(({ origin, text }) => (origin === 'tool' ? digestError(text) : []));
  const reason = source === 'signal' ? 'Bash: exit 1' : `${source} gave -1`;
  const name = {
    signal: 'checks-failed',
    person: 'feedback',
    chat: 'chat-word',
    verifier: 'verified',
    judge: 'judged',
    agent: 'reported',
  }[source];
  return {
    turn,
    session: session ?? `session-${number}`,
    at: number * DAY,
    generation: 1,
    scope: { agent: 'coder', project: 'shop' },
    task,
    passages: [{ origin: 'user', text: task }, ...passages],
    material: { passages: [{ origin: 'user', text: task }, ...passages], commands, missing },
    appraisal: {
      turn,
      verdict: 'failure',
      reward: 0,
      source,
      signals: [{ name, source, score: 0, weight: 1, reason }],
      digests: [...new Set(digests)].slice(0, 8),
    },
    source,
  };
}

interface Words {
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

/** The proposal of a learner that cites all the failures and quotes nothing. */
export function proposalOf(
  { name, description, content }: Words,
  cases: readonly FailureCase[],
  over: Partial<LessonText> = {},
): Proposal {
  const text: LessonText = {
    name,
    description,
    content,
    category: 'coding',
    scope: { agent: 'coder', project: 'shop' },
    note: {
      keywords: [],
      tags: [],
      importance: 0.4,
      confidence: 1,
      source: 'experience',
      visibility: 'scoped',
      halfLifeDays: 60,
      links: [],
    },
    evidence: { turns: cases.map(({ turn }) => turn), quotes: [], learner: 'evolver' },
    taint: [],
    ...over,
  };
  return { change: { op: 'add', id: `lesson-${name}`, kind: 'skill', state: 'live', text }, quotes: [] };
}
