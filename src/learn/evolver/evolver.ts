import { errorMessage } from '../../core/failure.ts';
import type { FailureCase, Learner, LearnerFailure, LearnInput, Proposal } from '../../core/learn.ts';
import { isActive, type Lesson, type LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { changedLessonId } from '../../lessons/codec.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { readSayings } from '../distiller/sayings.ts';
import { takesBack } from '../distiller/take-back.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import { mayScopesOverlap, rankFailures, recordedQuotes, separateTask, stuckBy } from '../draft-lesson.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import { coversRemark, failuresCovered, isUsedUp, whyNotWritten, wordsOf } from './check-skill.ts';
import { evolverSchema, writeEvolverPrompt } from './evolver-prompt.ts';
import { draftSkillText } from './keep-quotes.ts';
import { readPages } from './read-page.ts';
import { type ProposedSkill, type RetiredLesson, readSkillReply, type SkillReply } from './read-skills.ts';

const MOST_FAILURES = 6;
const MOST_NEAREST = 3;
const MOST_IN_FULL = 8;
const TOKENS_PER_SKILL = 1500;
/** Reasoning tokens count towards the same limit. */
const ROOM_TO_THINK = 4000;
/** The learner whose lessons quote people, and which the evolver writes out. */
const QUOTING = 'distiller';

export interface EvolverOptions {
  /** Per run. */
  readonly maxNewSkills: number;
  /** The lessons most similar to a text, the most similar first. */
  readonly nearest: (text: string) => Promise<readonly Lesson[]>;
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  readonly halfLifeDays?: number;
  /** Says what people said in their own words. Judged where the model's skill has to wait for a person: their words do not. */
  readonly quoting?: Learner<readonly FailureCase[]>;
}

/**
 * Asks a model once what would have prevented the failures, and proposes its answers: new skills, better versions of existing
 * ones, and skills that have to go. A lesson that quotes the user about these failures is revised and keeps the quotes.
 */
export function createEvolver(options: EvolverOptions): Learner<readonly FailureCase[]> {
  return {
    name: 'evolver',
    async *learn(input) {
      const failures = rankFailures(input.material).slice(0, MOST_FAILURES);
      if (failures.length === 0) return;
      let quoted: readonly Proposal[] | undefined;
      for await (const step of evolve(options, input, failures)) {
        if (!('change' in step && 'text' in step.change)) {
          yield step;
          continue;
        }
        quoted ??= await quotesOf(options, input, failures);
        const byRule = quotesIn(step.change.text, quoted);
        quoted = quoted.filter((one) => !byRule.includes(one));
        yield byRule.length === 0 ? step : { ...step, byRule };
      }
    },
  };
}

/** What the quoting learner makes of the same failures. */
async function quotesOf(
  { quoting }: EvolverOptions,
  input: LearnInput<unknown>,
  failures: readonly FailureCase[],
): Promise<readonly Proposal[]> {
  const proposals: Proposal[] = [];
  if (quoting === undefined) return proposals;
  for await (const step of quoting.learn({ ...input, ask: undefined, material: failures }))
    if ('change' in step) proposals.push(step);
  return proposals;
}

/** Whether a text states what a lesson of the quoting learner quotes; undefined of any other lesson. */
const statesQuote = (words: string, lesson: LessonText): boolean | undefined =>
  readLesson(lesson)?.quotes.some((quote) => coversRemark(words, quote));

/** Those of them that a skill states, with the retirements of what they replace. */
function quotesIn(text: LessonText, quoted: readonly Proposal[]): readonly Proposal[] {
  const words = wordsOf(text);
  const stated = quoted.filter(({ change }) => 'text' in change && statesQuote(words, change.text) === true);
  const ids = new Set(stated.map(({ change }) => changedLessonId(change)));
  const over = quoted.filter(({ change }) => change.op === 'retire' && ids.has(change.supersededBy ?? ''));
  return [...stated, ...over];
}

function draftOf(
  skill: ProposedSkill,
  failures: readonly FailureCase[],
  skills: readonly Lesson[],
  halfLifeDays: number,
): Draft {
  const quotes = recordedQuotes(skill.quotes, failures);
  const cited = failuresCovered(skill, quotes, failures);
  const placed = withQuoting(skill, cited, failures, skills);
  return { skill: placed, cited, quotes, text: draftSkillText(placed, cited, halfLifeDays) };
}

async function* evolve(
  options: EvolverOptions,
  input: LearnInput<readonly FailureCase[]>,
  failures: readonly FailureCase[],
): AsyncGenerator<Proposal | LearnerFailure, void> {
  const { library, ask, newId, journal, signal } = input;
  if (ask === undefined) return yield { stuck: 'no model is configured for learning', isRetryable: true };
  const { maxNewSkills, checkText, halfLifeDays = 60 } = options;
  const { skills } = lessonsFor(failures, library);
  const nearest = await inFull(options, failures, skills, journal);
  const quoting = new Set(skills.filter((lesson) => isQuoting(lesson, failures)).map(({ id }) => id));
  const prompt = writeEvolverPrompt({
    failures,
    skills,
    nearest,
    quoting,
    maxNewSkills,
    mark: newId('mark'),
  });
  const draft = (skill: ProposedSkill): Draft =>
    draftOf(skill, failures, lessonsFor(failures, library).skills, halfLifeDays);
  const read = (value: Parameters<typeof readSkillReply>[0]): ReturnType<typeof readSkillReply> =>
    readSkillReply(value, {
      maxNewSkills,
      // Read again: while the model wrote, a lesson may have been published.
      ...lessonsFor(failures, library),
      check: (skill) =>
        whyNotWritten(skill, recordedQuotes(skill.quotes, failures), failures) ??
        checkText?.(draft(skill).text),
    });
  const answer = await ask<SkillReply>(
    {
      name: 'evolve',
      ...prompt,
      maxTokens: ROOM_TO_THINK + TOKENS_PER_SKILL * maxNewSkills,
      schema: evolverSchema(maxNewSkills),
      read,
      readText: (text) => {
        const pages = readPages(text);
        return pages.length === 0 ? { ok: false, why: 'it holds no JSON' } : read(pages);
      },
    },
    signal,
  );
  if (!answer.ok) return yield stuckBy(answer);
  const { skills: written, retired, left: unused } = answer.value;
  for (const why of unused) journal(`left out: ${why}`);
  if (written.length + retired.length === 0)
    return yield {
      stuck: `${answer.model} found nothing to learn`,
      isRetryable: false,
      cause: 'nothing',
    };
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const successors = new Map<string, string>();
  for (const skill of written) {
    if (signal.aborted) return;
    const drafted = draft(skill);
    const lessons = drafted.skill.lessons.filter(({ id }) => !taken.has(id));
    for (const { id } of lessons) taken.add(id);
    const evidence = { ...drafted.text.evidence, model: answer.model, prompt: answer.prompt };
    const change = changeOf(lessons, { ...drafted.text, evidence }, newId);
    const id = change.op === 'merge' ? change.into : change.id;
    ids.set(skill.name, id);
    for (const turn of evidence.turns) successors.set(turn, id);
    const turns = drafted.cited.filter((one) => isUsedUp(one, written)).map(({ turn }) => turn);
    yield { change, quotes: drafted.quotes, turns };
  }
  const shown = new Set(nearest.map(({ id }) => id));
  for (const one of retired)
    if (shown.has(one.lesson.id) && !taken.has(one.lesson.id) && whyNotRetired(one.lesson) === undefined) {
      taken.add(one.lesson.id);
      yield* retire(one, failures, ids);
    }
  const left = lessonsFor(failures, library).skills.filter(({ id }) => !taken.has(id));
  yield* retireReplaced(left, failures, successors);
}

/** What the user says is over goes when a new lesson rests on those words, also where the model did not name it. */
function* retireReplaced(
  lessons: readonly Lesson[],
  failures: readonly FailureCase[],
  successors: ReadonlyMap<string, string>,
): Generator<Proposal> {
  for (const { id, createdAt, text } of lessons) {
    const older = { quote: text.description, matters: [] };
    const over = failures.find(
      (failure) =>
        successors.has(failure.turn) &&
        failure.at > createdAt &&
        readSayings(failure).some((saying) => saying.isStanding && takesBack(saying, older)),
    );
    const supersededBy = successors.get(over?.turn ?? '');
    if (over === undefined || supersededBy === undefined || supersededBy === id) continue;
    const change = { op: 'retire' as const, id, reason: 'the user has said otherwise since', supersededBy };
    yield { change, quotes: [], turns: [over.turn] };
  }
}

interface Draft {
  /** With all lessons that it takes the place of. */
  readonly skill: ProposedSkill;
  readonly cited: readonly FailureCase[];
  readonly quotes: Proposal['quotes'];
  readonly text: LessonText;
}

/** Lessons in use, and the skills among them that apply where the failures happened. */
function lessonsFor(
  failures: readonly FailureCase[],
  library: Library,
): { readonly known: readonly Lesson[]; readonly skills: readonly Lesson[] } {
  const inUse = library.lessons().filter(isActive);
  const skills = inUse.filter(
    ({ kind, text }) => kind === 'skill' && failures.some(({ scope }) => mayScopesOverlap(scope, text.scope)),
  );
  return { known: inUse, skills };
}

/** A lesson in the user's own words that took the place of the evolver's for one of these failures. */
const isQuoting = ({ text, frozen }: Lesson, failures: readonly FailureCase[]): boolean =>
  !frozen &&
  text.evidence.learner === QUOTING &&
  failures.some(({ turn }) => text.evidence.turns.includes(turn));

/**
 * The skill with the quoting lessons that it is a better version of: one that rests on a failure it cites, and on no failure of
 * this run that it does not cite. Further ones are merged into the first, unless a person told them.
 */
function withQuoting(
  skill: ProposedSkill,
  cited: readonly FailureCase[],
  failures: readonly FailureCase[],
  skills: readonly Lesson[],
): ProposedSkill {
  const other = failures.filter((failure) => !cited.includes(failure));
  const words = wordsOf(skill);
  const served = skills.filter(
    (lesson) =>
      isQuoting(lesson, cited) &&
      !isQuoting(lesson, other) &&
      // Of a remark with two rules each has a lesson of its own.
      (statesQuote(words, lesson.text) ?? true) &&
      !skill.lessons.some(({ id }) => id === lesson.id),
  );
  const [first, ...rest] = [...skill.lessons, ...served];
  if (first === undefined) return skill;
  const merged = rest.filter((lesson) => whyNotRetired(lesson) === undefined);
  return { ...skill, name: first.text.name, lessons: [first, ...merged] };
}

function changeOf(
  lessons: readonly Lesson[],
  text: LessonText,
  newId: (prefix: string) => string,
): Exclude<Proposal['change'], { readonly op: 'retire' }> {
  const [first, ...others] = lessons;
  if (first === undefined) return { op: 'add', id: newId('lesson'), kind: 'skill', state: 'proposed', text };
  const { id, revision } = first;
  return others.length === 0
    ? { op: 'revise', id, from: revision, text }
    : { op: 'merge', ids: lessons.map((lesson) => lesson.id), into: id, from: revision, text };
}

/** Only of a lesson that the failed work was shown, or for another one that takes its place. */
function* retire(
  { lesson, reason, by }: RetiredLesson,
  failures: readonly FailureCase[],
  ids: ReadonlyMap<string, string>,
): Generator<Proposal> {
  const shown = failures.filter((failure) => failure.shown?.includes(lesson.id));
  const successor = by === undefined ? undefined : 'text' in by ? by.id : ids.get(by.name);
  if (shown.length === 0 && successor === undefined) return;
  const turns = (shown.length === 0 ? failures : shown).map(({ turn }) => turn);
  const next = successor === undefined || successor === lesson.id ? {} : { supersededBy: successor };
  yield { change: { op: 'retire', id: lesson.id, reason, ...next }, quotes: [], turns };
}

/** The lessons that the model is shown in full: those in use for these failures, those that did not help, and the nearest. */
async function inFull(
  { nearest }: EvolverOptions,
  failures: readonly FailureCase[],
  skills: readonly Lesson[],
  journal: (note: string) => void,
): Promise<readonly Lesson[]> {
  const byId = new Map(skills.map((lesson) => [lesson.id, lesson]));
  if (byId.size === 0) return [];
  const quoting = skills.filter((lesson) => isQuoting(lesson, failures));
  const shown = failures.flatMap(({ shown: ids = [] }) => ids).flatMap((id) => byId.get(id) ?? []);
  const words = failures.map((failure) =>
    [
      failure.task,
      ...separateTask(failure.task, failure.passages)
        .rest.filter(isWish)
        .map(({ text }) => text),
      ...failure.appraisal.digests,
    ]
      .map((text) => truncateEnd(oneLine(text), 400))
      .join(' '),
  );
  let near: readonly Lesson[] = [];
  try {
    near = (await nearest(words.join('\n'))).filter(({ id }) => byId.has(id)).slice(0, MOST_NEAREST);
  } catch (error) {
    journal(`no nearest skills: ${errorMessage(error)}`);
  }
  return [...new Set([...quoting, ...shown, ...near])].slice(0, MOST_IN_FULL);
}

const isWish = ({ origin }: { readonly origin: string }): boolean =>
  origin === 'person' || origin === 'verifier' || origin === 'user';
