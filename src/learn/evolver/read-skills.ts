import { asArray, isObject, type Json } from '../../core/json.ts';
import type { ReplyFault } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import { visibleText } from '../../text/visible-text.ts';
import { readQuotes } from '../draft-lesson.ts';

const MOST_FAULTS = 5;

/** A skill that may be proposed, and the lesson that it revises. */
export interface ProposedSkill extends SkillShape {
  readonly lesson?: Lesson;
}

export interface SkillReply {
  readonly skills: readonly ProposedSkill[];
  /** Which skills were left out, and why. */
  readonly left: readonly string[];
}

interface SkillRules {
  readonly maxNewSkills: number;
  /** All lessons whose names are taken. */
  readonly known: readonly Lesson[];
  /** The lessons that may be revised. */
  readonly skills: readonly Lesson[];
  /** A further check; answers the fault. */
  readonly check: (skill: ProposedSkill) => string | undefined;
  /** After the one correction, the valid skills of a reply are accepted and the others left out. */
  readonly isLenient: boolean;
}

export function readSkillReply(value: Json, rules: SkillRules): SkillReply | ReplyFault {
  const list = listOf(value);
  if (list === undefined) return { fault: 'it must be a JSON list of skills' };
  if (list.length > rules.maxNewSkills)
    return { fault: `it has ${list.length} skills: write at most ${rules.maxNewSkills}` };
  const skills: ProposedSkill[] = [];
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
  before: readonly ProposedSkill[],
): { readonly ok: true; readonly skill: ProposedSkill } | Invalid {
  const read = readSkillShape(member);
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

const NAME = /^[a-z][a-z0-9-]{1,62}$/;
const LONGEST_DESCRIPTION = 300;
const LONGEST_CONTENT = 6000;
const FEWEST_LINES = 4;
const MOST_LINES = 30;
const LONGEST_LINE = 600;
const MOST_QUOTES = 12;

/** The description must say when the skill applies: recall searches for that. */
const WHEN =
  /\b(?:when|whenever|before|after|while|if|once|during|until|each time|every time|for (?:any|all|each|every)|use (?:for|in|on|this))\b/i;
const SENTENCE_END = /[.!?]["')\]]*\s+\p{Lu}/u;
const STEP = /^\s*(?:\d{1,2}[.)]|[-*+])\s+\S/;
const EXAMPLE = /\bexamples?\b|\be\.g\.|\bfor instance\b|\bcorrect\b|`[^`\n]+`|^\s*(?:```|~~~)/im;
const ANTI_PATTERN =
  /anti-?\s?pattern|\bavoid\b|\bnever\b|\bdon['’]t\b|\bdo not\b|\bwrong\b|\bincorrect\b|\bmistake\b/i;

/** A skill of a model's reply, valid in shape. */
interface SkillShape {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
  readonly revises?: string;
  readonly quotes: readonly { readonly turn: string; readonly text: string }[];
}

type ShapeReading =
  | { readonly ok: true; readonly shape: SkillShape }
  | { readonly ok: false; readonly why: string };

/** The skill, or its fault. Never throws. */
export function readSkillShape(value: Json): ShapeReading {
  if (!isObject(value)) return invalid('it must be an object');
  if (Object.hasOwn(value, '__proto__') || Object.hasOwn(value, 'constructor'))
    return invalid('it has a forbidden field');
  const { name, description, category, revises } = value;
  if (typeof name !== 'string' || !NAME.test(name))
    return invalid('"name" must be 2 to 63 lower-case letters, digits and hyphens, a letter first');
  const content = typeof value.content === 'string' ? value.content.replace(/\r\n/g, '\n').trim() : undefined;
  if (content === undefined) return invalid('"content" must be text');
  if (typeof description !== 'string') return invalid('"description" must be text');
  const why = wrongDescription(description.trim()) ?? wrongContent(content);
  if (why !== undefined) return invalid(why);
  if (!CATEGORIES.some((known) => known === category))
    return invalid(`"category" must be one of ${CATEGORIES.join(', ')}`);
  if (revises !== undefined && revises !== null && typeof revises !== 'string')
    return invalid('"revises" must be a name');
  const shape: SkillShape = {
    name,
    description: description.trim(),
    content,
    category: String(category),
    ...(typeof revises === 'string' && revises !== '' ? { revises } : {}),
    quotes: readQuotes(value.quotes, MOST_QUOTES),
  };
  return { ok: true, shape };
}

const invalid = (why: string): ShapeReading => ({ ok: false, why });

function wrongDescription(description: string): string | undefined {
  if (description === '' || description.length > LONGEST_DESCRIPTION)
    return `"description" must have 1 to ${LONGEST_DESCRIPTION} characters`;
  if (/[\n\t]/.test(description) || isHiding(description))
    return '"description" must be one line of visible characters';
  if (SENTENCE_END.test(description)) return '"description" must be one sentence';
  return WHEN.test(description) ? undefined : '"description" must say when to use the skill: "When …"';
}

function wrongContent(content: string): string | undefined {
  if (content.length > LONGEST_CONTENT) return `"content" must have at most ${LONGEST_CONTENT} characters`;
  if (isHiding(content)) return '"content" must hold visible characters only';
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < FEWEST_LINES || lines.length > MOST_LINES)
    return `"content" has ${lines.length} lines that are not empty: write 6 to 15`;
  if (lines.some((line) => line.length > LONGEST_LINE)) return '"content" has a line that is too long';
  if (lines.filter((line) => STEP.test(line)).length < 2)
    return '"content" needs at least two steps in a list';
  if (!EXAMPLE.test(content)) return '"content" needs an example';
  return ANTI_PATTERN.test(content) ? undefined : '"content" needs an anti-pattern: what not to do';
}

const isHiding = (text: string): boolean => visibleText(text) !== text;
