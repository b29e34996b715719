import { Buffer } from 'node:buffer';
import { asArray, isObject, type Json, type JsonObject } from '../../core/json.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  cutAtSentence,
  fieldLabel,
  fieldOf,
  firstSentence,
  hashSlug,
  linesOf,
  markdownOf,
  plainText,
  slugOf,
  wordCount,
} from '../reply-fields.ts';

/** A skill of a model's reply, after its form was repaired. */
export interface SkillShape {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
  readonly triggers: readonly string[];
  readonly isAlways: boolean;
  /** Names or ids of lessons that it is a better version of. */
  readonly revises: readonly string[];
  /** A quote without a turn is looked for in all of them. */
  readonly quotes: readonly { readonly turn?: string; readonly text: string }[];
}

/** A lesson that the model wants out of use. */
export interface RetiredShape {
  readonly retires: string;
  readonly reason: string;
  /** The name of the skill that takes its place. */
  readonly by?: string;
}

type SkillReading =
  | { readonly ok: true; readonly shape: SkillShape }
  | { readonly ok: true; readonly retired: RetiredShape }
  | { readonly ok: false; readonly why: string };

const LONGEST_DESCRIPTION = 300;
const LONGEST_CONTENT = 6000;
const LARGEST_CONTENT = 7500;
const MOST_LINES = 40;
const LONGEST_LINE = 800;
const MOST_QUOTES = 12;
const MOST_TRIGGERS = 8;
const LONGEST_TRIGGER = 120;
const FEWEST_WORDS = 3;

const NAMES = ['name', 'title', 'skill_name', 'skill', 'slug', 'heading', 'id', 'key'];
const DESCRIPTIONS = [
  'description',
  'desc',
  'summary',
  'rule',
  'one_line',
  'short_description',
  'when_to_use',
  'when',
  'use_when',
  'purpose',
  'context',
  'situation',
];
const CONTENTS = [
  'content',
  'body',
  'markdown',
  'skill_md',
  'instructions',
  'instruction',
  'guidance',
  'text',
  'lesson',
  'details',
  'page',
  'insight',
  'prompt',
];
/** Parts of a page that some models give as fields of their own, in the order of a page. */
const SECTIONS = [
  'when',
  'when_to_use',
  'steps',
  'rules',
  'procedure',
  'guidelines',
  'checklist',
  'do',
  'dos',
  'example',
  'examples',
  'anti_pattern',
  'anti_patterns',
  'antipattern',
  'dont',
  'donts',
  'avoid',
  'notes',
  'user_said',
  'the_user_said',
];
const BARE_SECTIONS: ReadonlySet<string> = new Set([
  'steps',
  'rules',
  'procedure',
  'guidelines',
  'checklist',
]);

/**
 * A skill from one member of a reply. Matters of form are repaired: other field names, a name that is no slug, a missing
 * description, steps as a list, a text that is too long, invisible characters. A member without a text, a refusal and an echo
 * of the question are refused: no lesson can be made of them. Never throws.
 */
export function repairSkill(value: Json): SkillReading {
  const member = typeof value === 'string' ? { content: value } : unwrapped(value);
  if (!isObject(member)) return invalid('it is not an object');
  const retired = readRetirement(member);
  const content = contentOf(member);
  if (content === '' && retired !== undefined) return { ok: true, retired };
  const said = fieldOf(member, DESCRIPTIONS);
  const description = describe(markdownOf(said), content);
  const text = content === '' && retired === undefined ? markdownOf(said) : content;
  if (wordCount(text) < FEWEST_WORDS) return invalid('it has no content');
  if (isRefusal(text)) return invalid('it refuses to write a skill');
  if (isEcho(text) || isEcho(description)) return invalid('it repeats the question');
  if (description === '') return invalid('it says nothing');
  const name = fieldOf(member, NAMES);
  const title = typeof name === 'string' ? name : (/^#{1,4}\s+(.{2,100})$/m.exec(text)?.[1] ?? '');
  return {
    ok: true,
    shape: {
      name: slugOf(plainText(title)) ?? slugOf(description) ?? hashSlug(text),
      description,
      content: text,
      category: categoryOf(fieldOf(member, ['category', 'type', 'domain', 'tag'])),
      triggers: linesOf(
        fieldOf(member, [
          'triggers',
          'trigger',
          'trigger_phrases',
          'wordings',
          'task_wordings',
          'search_terms',
          'queries',
          'keywords',
        ]),
        MOST_TRIGGERS,
        LONGEST_TRIGGER,
      ),
      isAlways: isYes(fieldOf(member, ['always', 'is_always', 'always_apply', 'for_every_task'])),
      revises: namesIn(fieldOf(member, REVISES)),
      quotes: quotesOf(member),
    },
  };
}

const REVISES = [
  'revises',
  'revise',
  'updates',
  'update',
  'replaces',
  'improves',
  'merges',
  'merge',
  'existing',
  'existing_skill',
  'supersedes',
];

const invalid = (why: string): SkillReading => ({ ok: false, why });

/** Some models put the skill one level deeper: `{"skill": {…}}`. */
function unwrapped(value: Json): Json {
  if (!isObject(value)) return value;
  const inner = fieldOf(value, ['skill', 'lesson', 'item', 'data']);
  return isObject(inner) && fieldOf(value, CONTENTS.slice(0, 5)) === undefined
    ? { ...value, ...inner }
    : value;
}

/** The page: its text, then the parts that were given apart and are not in the text yet. */
function contentOf(member: JsonObject): string {
  const given = fieldOf(member, CONTENTS);
  const text = markdownOf(given);
  const parts = SECTIONS.flatMap((section): readonly string[] => {
    const value = fieldOf(member, [section]);
    const part = value === given ? '' : markdownOf(value);
    if (part === '' || text.includes(part) || (/^when/.test(section) && text === '')) return [];
    if (/^when/.test(section)) return [];
    if (BARE_SECTIONS.has(section)) return [part];
    const label = fieldLabel(
      section.replace(/^anti_?patterns?$/, 'anti-pattern').replace(/^examples$/, 'example'),
    );
    return [
      `${label === 'Anti pattern' ? 'Anti-pattern' : label}:${part.includes('\n') ? '\n' : ' '}${part}`,
    ];
  });
  return limited([text, ...new Set(parts)].filter((part) => part !== '').join('\n'));
}

const EMPTY_STEP = /^\s*(?:\d{1,3}[.)]|[-*+•])\s*$/;

/** Within the limits of a lesson, cut behind a sentence or a line. */
function limited(text: string): string {
  const lines: string[] = [];
  let filled = 0;
  for (const line of text.split('\n')) {
    if (EMPTY_STEP.test(line)) continue;
    if (line.trim() !== '' && ++filled > MOST_LINES) break;
    lines.push(line.length > LONGEST_LINE ? cutAtSentence(line, LONGEST_LINE) : line);
  }
  let cut = cutAtSentence(lines.join('\n').trim(), LONGEST_CONTENT);
  while (Buffer.byteLength(cut) > LARGEST_CONTENT) cut = cutAtSentence(cut, Math.floor(cut.length * 0.8));
  // A block of code that the cut left open would swallow what is written after it.
  return (cut.match(/^\s*```/gm)?.length ?? 0) % 2 === 0 ? cut : `${cut}\n\`\`\``;
}

/** One line. What is missing is taken from the text: its first sentence. */
function describe(said: string, content: string): string {
  const line = oneLine(said.replace(/^#{1,4}\s+/gm, ''));
  return cutAtSentence(
    line.length < 8 ? firstSentence(content, LONGEST_DESCRIPTION) : line,
    LONGEST_DESCRIPTION,
  );
}

const categoryOf = (value: Json | undefined): string =>
  typeof value === 'string'
    ? value
        .toLowerCase()
        .trim()
        .replace(/[\s-]+/g, '_')
    : '';

const isYes = (value: Json | undefined): boolean =>
  value === true || (typeof value === 'string' && /^(?:true|yes|always)$/i.test(value.trim()));

function namesIn(value: Json | undefined): readonly string[] {
  const names = typeof value === 'string' ? value.split(',') : asArray(value);
  return names
    .flatMap((name) =>
      typeof name === 'string' ? [name.trim()] : isObject(name) ? [markdownOf(fieldOf(name, NAMES))] : [],
    )
    .filter((name) => name !== '' && !/^(?:none|null|no|n\/a|-)$/i.test(name))
    .slice(0, 4);
}

function quotesOf(member: JsonObject): SkillShape['quotes'] {
  const given = fieldOf(member, ['quotes', 'quote', 'evidence', 'citations', 'sources']);
  const list = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return list.slice(0, MOST_QUOTES).flatMap((quote) => {
    if (typeof quote === 'string') return quote.trim() === '' ? [] : [{ text: quote }];
    if (!isObject(quote)) return [];
    const text = fieldOf(quote, ['text', 'quote', 'passage', 'content', 'said']);
    const turn = fieldOf(quote, ['turn', 'turn_id', 'id', 'source', 'recording']);
    if (typeof text !== 'string') return [];
    return [typeof turn === 'string' ? { turn: turn.replace(/^turn\s+/i, '').trim(), text } : { text }];
  });
}

function readRetirement(member: JsonObject): RetiredShape | undefined {
  const action = fieldOf(member, ['op', 'action', 'operation', 'change']);
  const named = fieldOf(member, ['retires', 'retire', 'removes', 'remove', 'delete']);
  const isRetire = typeof action === 'string' && /^(?:retire|remove|delete|drop)/i.test(action);
  const retires = namesIn(named ?? (isRetire ? fieldOf(member, NAMES) : undefined))[0];
  if (retires === undefined) return undefined;
  const reason = oneLine(markdownOf(fieldOf(member, ['reason', 'why', 'because', 'description'])));
  const by = namesIn(
    fieldOf(member, ['superseded_by', 'replaced_by', 'by', 'in_favour_of', 'in_favor_of']),
  )[0];
  return {
    retires,
    reason:
      reason === '' ? 'the work that it was shown in went wrong all the same' : cutAtSentence(reason, 300),
    ...(by === undefined ? {} : { by }),
  };
}

const REFUSAL =
  /^\W{0,10}(?:(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|afraid|unable)|sorry,|(?:i|we) (?:cannot|can['’]?t|can not|won['’]?t|will not|am not able|do not|don['’]t) (?:help|assist|comply|provide|write|create|do|have|see|generate|fulfil)|as an ai\b|unfortunately,? (?:i|we|there)\b|no (?:skills?|lessons?) (?:can|could|is|are|was|were|to)\b|there is nothing to)/i;

const isRefusal = (text: string): boolean => REFUSAL.test(text.slice(0, 300));

/** Passages of the question that small models copy instead of answering. */
const ECHOES: readonly RegExp[] = [
  /\b6 to 15 lines\b/,
  /letters and digits only, 2 to 63/i,
  /\bone line that carries the rule\b/i,
  /\bin lower-case words joined by hyphens\b/i,
  /\bMarkdown: a heading\b/,
  /^(?:\.{3}|…|<[^<>]{1,60}>|\[[^[\]]{1,60}\])$/,
];

const isEcho = (text: string): boolean => ECHOES.some((echo) => echo.test(text.trim()));
