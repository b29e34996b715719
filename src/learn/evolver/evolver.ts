import type { FailureCase, Learner, LearnerFailure, LearnInput, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText, Note } from '../../core/lesson.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  confidenceOf,
  importanceOf,
  mayScopesOverlap,
  rankFailures,
  recordedQuotes,
  separateTask,
  sharedScope,
  stuckBy,
} from '../draft-lesson.ts';
import { writeEvolverPrompt } from './evolver-prompt.ts';
import { type ProposedSkill, readSkillReply, type SkillReply } from './read-skills.ts';

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
): AsyncGenerator<Proposal | LearnerFailure, void> {
  const { library, ask, newId, journal, signal } = input;
  if (ask === undefined) return yield { stuck: 'no model is configured for learning', isRetryable: true };
  const { maxNewSkills, checkText, halfLifeDays = 60 } = options;
  const known = library.lessons().filter(({ state }) => state !== 'retired' && state !== 'rejected');
  const skills = known.filter(
    ({ kind, text }) => kind === 'skill' && failures.some(({ scope }) => mayScopesOverlap(scope, text.scope)),
  );
  const nearest = await findNearest(options, failures, skills, journal);
  const prompt = writeEvolverPrompt({ failures, skills, nearest, maxNewSkills, mark: newId('mark') });
  const draft = (
    skill: ProposedSkill,
  ): { readonly text: LessonText; readonly quotes: Proposal['quotes'] } => {
    const quotes = recordedQuotes(skill.quotes, failures);
    return { text: draftSkillText(skill, citedFailures(quotes, failures), halfLifeDays), quotes };
  };
  let replies = 0;
  const answer = await ask<SkillReply>(
    {
      name: 'evolve',
      ...prompt,
      maxTokens: ROOM_TO_THINK + TOKENS_PER_SKILL * maxNewSkills,
      read: (value) =>
        readSkillReply(value, {
          maxNewSkills,
          known,
          skills,
          check: (skill) => checkText?.(draft(skill).text),
          isLenient: replies++ > 0,
        }),
    },
    signal,
  );
  if (!answer.ok) return yield stuckBy(answer);
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
  { lesson }: ProposedSkill,
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
    [
      task,
      ...separateTask(task, passages)
        .rest.filter(isWish)
        .map(({ text }) => text),
      ...appraisal.digests,
    ]
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

const MOST_TURNS = 64;

/** The failures that a skill quotes; when it quotes none, all that the model was shown. */
function citedFailures(
  quotes: readonly { readonly turn: string }[],
  failures: readonly FailureCase[],
): readonly FailureCase[] {
  const turns = new Set(quotes.map(({ turn }) => turn));
  return turns.size === 0 ? failures : failures.filter(({ turn }) => turns.has(turn));
}

/** The lesson text of a skill. A revision keeps the name, scope and note of the old one: a learner may improve a text, not widen its scope. */
function draftSkillText(
  skill: ProposedSkill,
  failures: readonly FailureCase[],
  halfLifeDays: number,
): LessonText {
  const old = skill.lesson?.text;
  const { name, description, content, category } = skill;
  const turns = [...new Set([...(old?.evidence.turns ?? []), ...failures.map(({ turn }) => turn)])];
  return {
    name: old?.name ?? name,
    description,
    content,
    category,
    scope: old?.scope ?? sharedScope(failures.map(({ scope }) => scope)),
    note: draftNote(skill, failures, halfLifeDays),
    evidence: {
      turns: turns.slice(-MOST_TURNS),
      quotes: old?.evidence.quotes ?? [],
      learner: 'evolver',
    },
    taint: old?.taint ?? [],
  };
}

function draftNote(skill: ProposedSkill, failures: readonly FailureCase[], halfLifeDays: number): Note {
  const old = skill.lesson?.text.note;
  const context = truncateEnd(oneLine(failures[0]?.task ?? ''), 300);
  return {
    ...(context === '' ? {} : { context }),
    keywords: keywordsOf(`${skill.name} ${skill.description} ${skill.content}`),
    tags: old?.tags ?? [],
    importance: Math.max(old?.importance ?? 0, importanceOf(failures)),
    confidence: confidenceOf(failures),
    source: old?.source ?? 'experience',
    visibility: old?.visibility ?? 'scoped',
    halfLifeDays: old?.halfLifeDays ?? halfLifeDays,
    links: old?.links ?? [],
  };
}
