import { isObject, type Json } from '../../core/json.ts';
import { visibleText } from '../plain-text.ts';
import { readQuotes } from './find-quote.ts';

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
export interface SkillShape {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
  readonly revises?: string;
  readonly quotes: readonly { readonly turn: string; readonly text: string }[];
}

export type ShapeReading =
  | { readonly ok: true; readonly shape: SkillShape }
  | { readonly ok: false; readonly why: string };

/** The skill, or its fault. Never throws. */
export function readShape(value: Json): ShapeReading {
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
