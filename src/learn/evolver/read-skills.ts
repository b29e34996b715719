import { asArray, isObject, type Json } from '../../core/json.ts';
import type { Fault } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import { readShape, type SkillShape } from './skill-shape.ts';

const MOST_FAULTS = 5;

/** A skill that may be proposed, and the lesson that it revises. */
export interface ReadSkill extends SkillShape {
  readonly lesson?: Lesson;
}

export interface ReadSkills {
  readonly skills: readonly ReadSkill[];
  /** Which skills were left out, and why. */
  readonly left: readonly string[];
}

export interface SkillRules {
  readonly maxNewSkills: number;
  /** All lessons whose names are taken. */
  readonly known: readonly Lesson[];
  /** The lessons that may be revised. */
  readonly skills: readonly Lesson[];
  /** A further check; answers the fault. */
  readonly check: (skill: ReadSkill) => string | undefined;
  /** After the one correction, the valid skills of a reply are accepted and the others left out. */
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
    if (read.ok) skills.push(read.skill);
    else left.push(`skill ${index + 1}: ${read.why}`);
  }
  const isGood = left.length === 0 || (rules.isLenient && skills.length > 0);
  return isGood ? { skills, left } : { fault: left.slice(0, MOST_FAULTS).join('; ') };
}

/** Some models wrap the list in an object, or reply with a single skill. */
function listOf(value: Json): readonly Json[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  if (Array.isArray(value.skills)) return asArray(value.skills);
  return typeof value.name === 'string' && typeof value.content === 'string' ? [value] : undefined;
}

interface Invalid {
  readonly ok: false;
  readonly why: string;
}

const invalidSkill = (why: string): Invalid => ({ ok: false, why });

function readOne(
  member: Json,
  { known, skills, check }: SkillRules,
  before: readonly ReadSkill[],
): { readonly ok: true; readonly skill: ReadSkill } | Invalid {
  const read = readShape(member);
  if (!read.ok) return read;
  const { shape } = read;
  const revised = findRevised(shape.revises, skills);
  if (!revised.ok) return revised;
  const { lesson } = revised;
  if (lesson === undefined && known.some(({ text }) => text.name === shape.name))
    return invalidSkill(`a skill named "${shape.name}" exists: name it in "revises", or choose another name`);
  if (before.some((other) => other.name === shape.name || (lesson && other.lesson?.id === lesson.id)))
    return invalidSkill(`"${shape.name}" comes twice`);
  const skill = lesson === undefined ? shape : { ...shape, lesson };
  const why = check(skill);
  return why === undefined ? { ok: true, skill } : invalidSkill(why);
}

/** The lesson that is to be revised, if any, or why it cannot be. An unknown name is never guessed at. */
function findRevised(
  revises: string | undefined,
  skills: readonly Lesson[],
): { readonly ok: true; readonly lesson?: Lesson } | Invalid {
  if (revises === undefined) return { ok: true };
  const named = skills.filter(({ id, text }) => id === revises || text.name === revises);
  const [lesson] = named;
  if (lesson === undefined)
    return invalidSkill('"revises" names no skill that exists: leave it out for a new one');
  if (named.length > 1) return invalidSkill('several skills have the name in "revises": write a new one');
  return lesson.frozen
    ? invalidSkill('the skill in "revises" must stay as it is: write a new one')
    : { ok: true, lesson };
}
