import { asArray, isObject, type Json } from '../../core/json.ts';
import type { Fault } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import { readShape, type SkillShape } from './skill-shape.ts';

const MOST_FAULTS = 5;

/** A skill that may be proposed, and the lesson it is a better version of. */
export interface ReadSkill extends SkillShape {
  readonly lesson?: Lesson;
}

export interface ReadSkills {
  readonly skills: readonly ReadSkill[];
  /** What was left out, and why. */
  readonly left: readonly string[];
}

export interface SkillRules {
  readonly maxNewSkills: number;
  /** All that have a name in use. */
  readonly known: readonly Lesson[];
  /** Those that may be revised. */
  readonly skills: readonly Lesson[];
  /** What else is wrong with one. */
  readonly check: (skill: ReadSkill) => string | undefined;
  /** A model that has been told of its faults once is taken by what is right in its reply. */
  readonly isLenient: boolean;
}

export function readSkills(value: Json, rules: SkillRules): ReadSkills | Fault {
  const list = listOf(value);
  if (list === undefined) return { fault: 'it must be a JSON list of skills' };
  if (list.length > rules.maxNewSkills)
    return { fault: `it has ${list.length} skills: write at most ${rules.maxNewSkills}` };
  const skills: ReadSkill[] = [];
  const left: string[] = [];
  for (const [index, member] of list.entries()) {
    const read = readOne(member, rules, skills);
    if (typeof read === 'string') left.push(`skill ${index + 1}: ${read}`);
    else skills.push(read);
  }
  const isGood = left.length === 0 || (rules.isLenient && skills.length > 0);
  return isGood ? { skills, left } : { fault: left.slice(0, MOST_FAULTS).join('; ') };
}

/** Some models wrap the list, or leave its brackets out when there is one skill. */
function listOf(value: Json): readonly Json[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  if (Array.isArray(value.skills)) return asArray(value.skills);
  return typeof value.name === 'string' && typeof value.content === 'string' ? [value] : undefined;
}

function readOne(
  member: Json,
  { known, skills, check }: SkillRules,
  before: readonly ReadSkill[],
): ReadSkill | string {
  const shape = readShape(member);
  if (typeof shape === 'string') return shape;
  const lesson = shape.revises === undefined ? undefined : findRevised(shape.revises, skills);
  if (typeof lesson === 'string') return lesson;
  if (lesson === undefined && known.some(({ text }) => text.name === shape.name))
    return `a skill named "${shape.name}" exists: name it in "revises", or choose another name`;
  if (before.some((other) => other.name === shape.name || (lesson && other.lesson?.id === lesson.id)))
    return `"${shape.name}" comes twice`;
  const skill = lesson === undefined ? shape : { ...shape, lesson };
  return check(skill) ?? skill;
}

/** The one that is meant, or why it cannot be that one. A name that is not there is never guessed at. */
function findRevised(revises: string, skills: readonly Lesson[]): Lesson | string {
  const named = skills.filter(({ id, text }) => id === revises || text.name === revises);
  const [lesson] = named;
  if (lesson === undefined) return '"revises" names no skill that exists: leave it out for a new one';
  if (named.length > 1) return 'several skills have the name in "revises": write a new one';
  return lesson.frozen ? 'the skill in "revises" must stay as it is: write a new one' : lesson;
}
