import { asArray, isObject, type Json } from '../../core/json.ts';
import type { ReplyRead } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import { topicStems } from '../../text/topic-words.ts';
import { uniqueLessonName } from '../draft-lesson.ts';
import { fieldOf } from '../reply-fields.ts';
import { type RetiredShape, repairSkill, type SkillShape } from './repair-skill.ts';

export const CATEGORIES = [
  'coding',
  'research',
  'data_analysis',
  'security',
  'communication',
  'automation',
  'productivity',
  'agentic',
  'general',
  'common_mistakes',
] as const;

const MOST_FAULTS = 5;
const MOST_READ = 64;
const MOST_RETIRED = 3;

/** A skill that may be proposed, and the lessons that it is a better version of. */
export interface ProposedSkill extends SkillShape {
  /** The first one is revised; the others are merged into it. */
  readonly lessons: readonly Lesson[];
}

/** A lesson that the model wants out of use, and the skill of the same reply, or the lesson, that takes its place. */
export interface RetiredLesson {
  readonly lesson: Lesson;
  readonly reason: string;
  readonly by?: ProposedSkill | Lesson;
}

export interface SkillReply {
  readonly skills: readonly ProposedSkill[];
  readonly retired: readonly RetiredLesson[];
  /** Which skills were left out, and why. */
  readonly left: readonly string[];
}

interface SkillRules {
  readonly maxNewSkills: number;
  /** All lessons whose names are taken. */
  readonly known: readonly Lesson[];
  /** The lessons that may be revised. */
  readonly skills: readonly Lesson[];
  /** A further check of what the library would refuse; answers the fault. */
  readonly check: (skill: ProposedSkill) => string | undefined;
}

const LISTS = [
  'skills',
  'lessons',
  'rules',
  'items',
  'results',
  'result',
  'data',
  'answer',
  'output',
  'proposals',
  'response',
  'changes',
];
const SKILL_FIELDS = [
  'name',
  'title',
  'content',
  'body',
  'instructions',
  'steps',
  'description',
  'retires',
  'skill',
];

/**
 * The skills of a reply. Its form is repaired and never a reason to refuse it; a member that says nothing is left out. A fault
 * only when nothing is left of a reply that was not empty.
 */
export function readSkillReply(value: Json, rules: SkillRules): ReplyRead<SkillReply> {
  const list = membersOf(value);
  if (list === undefined) return { ok: false, why: 'it must be a JSON list of skills' };
  const skills: ProposedSkill[] = [];
  const retirements: RetiredShape[] = [];
  const left: string[] = [];
  for (const [index, member] of list.slice(0, MOST_READ).entries()) {
    const read = repairSkill(member);
    if (!read.ok) left.push(`skill ${index + 1}: ${read.why}`);
    else if ('retired' in read) retirements.push(read.retired);
    else if (skills.length >= rules.maxNewSkills)
      left.push(`skill ${index + 1}: only ${rules.maxNewSkills} are taken`);
    else {
      const placed = place(read.shape, rules, skills);
      const why = placed.ok ? rules.check(placed.skill) : placed.why;
      if (placed.ok && why === undefined) skills.push(placed.skill);
      else left.push(`skill ${index + 1}: ${why ?? ''}`);
    }
  }
  const retired = retirements.slice(0, MOST_RETIRED).flatMap((one) => findRetired(one, rules.skills, skills));
  if (skills.length + retired.length === 0 && left.length > 0)
    return { ok: false, why: left.slice(0, MOST_FAULTS).join('; ') };
  return { ok: true, value: { skills, retired, left } };
}

/** Some models wrap the list in an object, reply with a single skill, or with an object whose keys are the names. */
function membersOf(value: Json): readonly Json[] | undefined {
  if (Array.isArray(value)) {
    const [only] = value;
    return value.length === 1 && Array.isArray(only) ? only : value;
  }
  if (!isObject(value)) return undefined;
  const wrapped = fieldOf(value, LISTS);
  if (Array.isArray(wrapped)) return [...wrapped, ...asArray(value.retired)];
  const isSkill = SKILL_FIELDS.some((field) => fieldOf(value, [field]) !== undefined);
  if (isSkill) return [value];
  if (isObject(wrapped)) return membersOf(wrapped);
  const named = Object.keys(value).flatMap((name) => {
    const member = value[name];
    return isObject(member) ? [{ name, ...member }] : [];
  });
  if (named.length > 0) return named;
  // An object without a member is how some models say that there is nothing.
  return Object.keys(value).length === 0 || (asArray(wrapped).length === 0 && wrapped !== undefined)
    ? []
    : undefined;
}

type PlacedSkill =
  | { readonly ok: true; readonly skill: ProposedSkill }
  | { readonly ok: false; readonly why: string };

/** Where a skill belongs: a better version of lessons, or a new one under a free name; or why it is left out. */
function place(
  shape: SkillShape,
  { known, skills }: SkillRules,
  before: readonly ProposedSkill[],
): PlacedSkill {
  if (before.some((other) => other.content === shape.content))
    return { ok: false, why: `"${shape.name}" comes twice` };
  const isFree = (lesson: Lesson): boolean =>
    !lesson.frozen && !before.some((other) => other.lessons.some(({ id }) => id === lesson.id));
  const named = [...new Set([...shape.revises, shape.name].flatMap((name) => findNamed(name, skills) ?? []))];
  // A name alone makes no revision: another rule under an old name would take the old rule away.
  const lessons = named.filter((lesson) => isFree(lesson) && isSameRule(shape, lesson));
  const taken = new Set([...known.map(({ text }) => text.name), ...before.map(({ name }) => name)]);
  const category = CATEGORIES.find((one) => one === shape.category) ?? 'general';
  const name = lessons[0]?.text.name ?? uniqueLessonName(shape.name, taken);
  return { ok: true, skill: { ...shape, category, name, lessons } };
}

/** By id or name; undefined when none or several have it. An unknown name is never guessed at. */
function findNamed(name: string, skills: readonly Lesson[]): Lesson | undefined {
  const found = skills.filter(({ id, text }) => id === name || text.name === name);
  return found.length === 1 ? found[0] : undefined;
}

/** The share of the shorter text's words that are in the other when both state one rule. */
const SHARED_WORDS = 0.34;

/** Whether a skill states the rule of a lesson. */
function isSameRule(shape: SkillShape, { text }: Lesson): boolean {
  const words = (one: { readonly description: string; readonly content: string }): ReadonlySet<string> =>
    topicStems(`${one.description} ${one.content}`);
  const [mine, theirs] = [words(shape), words(text)];
  const shared = [...mine].filter((word) => theirs.has(word)).length;
  return shared >= SHARED_WORDS * Math.max(1, Math.min(mine.size, theirs.size));
}

function findRetired(
  { retires, reason, by }: RetiredShape,
  skills: readonly Lesson[],
  proposed: readonly ProposedSkill[],
): readonly RetiredLesson[] {
  const lesson = findNamed(retires, skills);
  if (lesson === undefined || lesson.frozen) return [];
  if (proposed.some(({ lessons }) => lessons.some(({ id }) => id === lesson.id))) return [];
  const successor =
    by === undefined ? undefined : (proposed.find(({ name }) => name === by) ?? findNamed(by, skills));
  return [{ lesson, reason, ...(successor === undefined ? {} : { by: successor }) }];
}
