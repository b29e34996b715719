import type { FailureCase, Learner, LearnInput, Proposal, Stuck } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../plain-text.ts';
import { doScopesMeet } from '../shared-scope.ts';
import { rankFailures } from '../weigh-failures.ts';
import { draftText, restingOn } from './draft-text.ts';
import { recordedQuotes } from './find-quote.ts';
import { type ReadSkill, type ReadSkills, readSkills } from './read-skills.ts';
import { writePrompt } from './write-prompt.ts';

const MOST_FAILURES = 6;
const MOST_NEAREST = 3;
const TOKENS_PER_SKILL = 1500;
/** Reasoning tokens count towards the same limit. */
const ROOM_TO_THINK = 4000;

export interface EvolverOptions {
  /** Per run. */
  readonly maxNewSkills: number;
  /** The lessons most similar to a text, the most similar first. */
  readonly nearest: (text: string) => Promise<readonly Lesson[]>;
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  readonly halfLifeDays?: number;
}

/** Asks a model once what would have prevented the failures, and proposes its answers as skills. */
export function createEvolver(options: EvolverOptions): Learner<readonly FailureCase[]> {
  return {
    name: 'evolver',
    async *learn(input) {
      const failures = rankFailures(input.material).slice(0, MOST_FAILURES);
      if (failures.length > 0) yield* evolve(options, input, failures);
    },
  };
}

async function* evolve(
  options: EvolverOptions,
  input: LearnInput<readonly FailureCase[]>,
  failures: readonly FailureCase[],
): AsyncGenerator<Proposal | Stuck, void> {
  const { library, ask, newId, journal, signal } = input;
  if (ask === undefined) return yield { stuck: 'no model is configured for learning', isRetryable: true };
  const { maxNewSkills, checkText, halfLifeDays = 60 } = options;
  const known = library.lessons().filter(({ state }) => state !== 'retired' && state !== 'rejected');
  const skills = known.filter(
    ({ kind, text }) => kind === 'skill' && failures.some(({ scope }) => doScopesMeet(scope, text.scope)),
  );
  const nearest = await findNearest(options, failures, skills, journal);
  const prompt = writePrompt({ failures, skills, nearest, maxNewSkills, mark: newId('mark') });
  const draft = (skill: ReadSkill): { readonly text: LessonText; readonly quotes: Proposal['quotes'] } => {
    const quotes = recordedQuotes(skill.quotes, failures);
    return { text: draftText(skill, restingOn(quotes, failures), halfLifeDays), quotes };
  };
  let replies = 0;
  const answer = await ask<ReadSkills>(
    {
      name: 'evolve',
      ...prompt,
      maxTokens: ROOM_TO_THINK + TOKENS_PER_SKILL * maxNewSkills,
      read: (value) =>
        readSkills(value, {
          maxNewSkills,
          known,
          skills,
          check: (skill) => checkText?.(draft(skill).text),
          isLenient: replies++ > 0,
        }),
    },
    signal,
  );
  if (!answer.ok) return yield { stuck: answer.why, isRetryable: answer.isRetryable };
  for (const why of answer.value.left) journal(`left out: ${why}`);
  if (answer.value.skills.length === 0)
    return yield { stuck: 'the model found nothing to learn', isRetryable: false };
  for (const skill of answer.value.skills) {
    if (signal.aborted) return;
    const { text, quotes } = draft(skill);
    const evidence = { ...text.evidence, model: answer.model, prompt: answer.prompt };
    yield { change: changeOf(skill, { ...text, evidence }, newId), quotes };
  }
}

function changeOf(
  { lesson }: ReadSkill,
  text: LessonText,
  newId: (prefix: string) => string,
): Proposal['change'] {
  return lesson === undefined
    ? { op: 'add', id: newId('lesson'), kind: 'skill', state: 'proposed', text }
    : { op: 'revise', id: lesson.id, from: lesson.revision, text };
}

async function findNearest(
  { nearest }: EvolverOptions,
  failures: readonly FailureCase[],
  skills: readonly Lesson[],
  journal: (note: string) => void,
): Promise<readonly Lesson[]> {
  const ids = new Set(skills.map(({ id }) => id));
  if (ids.size === 0) return [];
  const words = failures.map(({ task, passages, appraisal }) =>
    [task, ...passages.filter(isWish).map(({ text }) => text), ...appraisal.digests]
      .map((text) => truncateEnd(oneLine(text), 400))
      .join(' '),
  );
  try {
    const found = await nearest(words.join('\n'));
    return found.filter(({ id }) => ids.has(id)).slice(0, MOST_NEAREST);
  } catch (error) {
    journal(`no nearest skills: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

const isWish = ({ origin }: { readonly origin: string }): boolean =>
  origin === 'person' || origin === 'verifier' || origin === 'user';
