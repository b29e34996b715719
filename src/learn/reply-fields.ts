import { createHash } from 'node:crypto';
import { asArray, isObject, type Json, type JsonObject } from '../core/json.ts';
import { oneLine, visibleText } from '../text/visible-text.ts';

/**
 * The repair of a model's reply in matters of form: other names for a field, a list where text was asked for, names that are no
 * slugs, texts that are too long. It never adds a statement: what the reply does not say stays unsaid.
 */

const bareKey = (key: string): string => key.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** The first of these fields that has a value; names are compared without case, blanks, hyphens and underscores. */
export function fieldOf(object: JsonObject, names: readonly string[]): Json | undefined {
  const byName = new Map<string, Json>();
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value !== undefined && value !== null && value !== '' && !byName.has(bareKey(key)))
      byName.set(bareKey(key), value);
  }
  for (const name of names) {
    const value = byName.get(bareKey(name));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A text as it was meant: visible characters, `\n` as line end, escapes that were escaped twice. */
export function plainText(text: string): string {
  const isEscapedTwice = !text.includes('\n') && /\\n/.test(text) && !/`[^`\n]{0,200}\\n/.test(text);
  const lines = isEscapedTwice
    ? text.replaceAll('\\r\\n', '\n').replaceAll('\\n', '\n').replaceAll('\\t', '  ')
    : text;
  return visibleText(lines)
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const IS_LISTED = /^\s*(?:\d{1,3}[.)]|[-*+•])\s+/;

/** Any value as Markdown: a list as numbered steps, an object as labelled lines. */
export function markdownOf(value: Json | undefined, depth = 0): string {
  if (typeof value === 'string') return plainText(value);
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) {
    const lines = value.map((item) => markdownOf(item, depth + 1)).filter((line) => line !== '');
    const isListed =
      lines.some((line) => IS_LISTED.test(line) || /^(?:#|```)/.test(line)) || lines.length < 2;
    return lines
      .map((line, at) => (isListed ? line : `${at + 1}. ${line.replaceAll('\n', '\n   ')}`))
      .join('\n');
  }
  if (!isObject(value) || depth > 3) return '';
  return Object.keys(value)
    .flatMap((key) => {
      const text = markdownOf(value[key], depth + 1);
      if (text === '') return [];
      // The number of a step, or the field that is the step itself.
      if (/^(?:step|number|order|index|id)$/i.test(key) && /^\d{1,3}$/.test(text)) return [];
      if (/^(?:steps?|text|content|body|action|instructions?|description|do|rule)$/i.test(key)) return [text];
      return [`${fieldLabel(key)}:${text.includes('\n') ? '\n' : ' '}${text}`];
    })
    .join('\n');
}

export const fieldLabel = (key: string): string => {
  const words = oneLine(key.replace(/[_-]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')).toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const BULLET = /^\s*(?:\d{1,2}[.)]|[-*+•])\s+/;

/** Short lines out of a list, or out of a text with one on each line or separated by semicolons or commas. */
export function linesOf(value: Json | undefined, most: number, longest: number): readonly string[] {
  const single = typeof value === 'string' ? value : '';
  const separator = single.includes('\n') ? '\n' : single.includes(';') ? ';' : ',';
  const items = typeof value === 'string' ? value.split(separator) : asArray(value);
  const lines = items.flatMap((item) => {
    const text =
      typeof item === 'string' ? item : isObject(item) ? markdownOf(fieldOf(item, TEXT_FIELDS)) : '';
    const line = oneLine(text.replace(BULLET, '')).replace(/^["'“‘`]+|["'”’`]+$/g, '');
    return line.length < 2 ? [] : [cutAtSentence(line, longest)];
  });
  return [...new Set(lines)].slice(0, most);
}

const TEXT_FIELDS = ['text', 'wording', 'trigger', 'phrase', 'task', 'value', 'quote'];

const SLUG_WORDS = 8;
const LONGEST_SLUG = 63;

/** A name as a slug; undefined when nothing of it can be written in Latin letters and digits. */
export function slugOf(name: string): string | undefined {
  const words = name
    .normalize('NFKD')
    .replace(/ß/g, 'ss')
    .replace(/['’]/g, '')
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/\.(?:md|json|txt|ya?ml)$/, '')
    .replace(/\p{M}/gu, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (words.join('').length < 2 || !/[a-z]/.test(words.join(''))) return undefined;
  const bare = words.slice(0, SLUG_WORDS).join('-').slice(0, LONGEST_SLUG).replace(/-+$/, '');
  return /^[a-z]/.test(bare) ? bare : `skill-${bare}`.slice(0, LONGEST_SLUG).replace(/-+$/, '');
}

/** A slug for a text in other letters: the same text has the same one. */
export const hashSlug = (text: string): string =>
  `lesson-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;

const SENTENCE = /[.!?…。！？]["'”’)\]]?(?=\s|$)|[。！？]/gu;

/** At most `most` characters, cut behind a sentence; without one, at a blank. */
export function cutAtSentence(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  let end = 0;
  for (const { index, 0: mark } of head.matchAll(SENTENCE)) end = index + mark.length;
  const line = head.lastIndexOf('\n');
  if (Math.max(end, line) > most / 3) return head.slice(0, Math.max(end, line)).trimEnd();
  const blank = head.lastIndexOf(' ');
  const cut = head.slice(0, blank > most / 2 ? blank : most - 1).replace(/[\ud800-\udbff]$/, '');
  return `${cut.trimEnd().slice(0, most - 1)}…`;
}

/** The first sentence of a Markdown text that is not a heading, a label or code, without its bullet and emphasis. */
export function firstSentence(markdown: string, most: number): string {
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const bare = oneLine(
      line
        .replace(BULLET, '')
        .replace(/^\s*>\s?/, '')
        .replace(/[*_]{2}/g, ''),
    );
    if (isCode || /^(?:#|```|~~~|---)/.test(bare) || bare.length < 8 || /^[\p{L}\s]{1,30}:$/u.test(bare))
      continue;
    const [end] = bare.matchAll(SENTENCE);
    return cutAtSentence(end === undefined ? bare : bare.slice(0, end.index + end[0].length), most);
  }
  return '';
}

/** How many words a text has; a few signs of a language that does not separate them count as one. */
export const wordCount = (text: string): number =>
  text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '').length +
  // Languages that do not separate words.
  Math.floor(
    (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0) / 3,
  );
