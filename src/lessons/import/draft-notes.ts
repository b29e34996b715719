import { createHash } from 'node:crypto';
import {
  type Change,
  isActive,
  isInUse,
  type Lesson,
  type LessonText,
  type Scope,
} from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { uniqueKeyOf } from '../change-permissions.ts';
import { checkLessonText } from '../check-lesson-text.ts';
import { checkString } from '../check-words.ts';
import { type LintWords, lintText, proposeBeside, toReason } from '../skill-files/gate-file.ts';
import type { ForeignNote, NoteFormat } from './foreign-note.ts';

interface DraftOptions {
  readonly format: NoteFormat;
  /** The name of the file, for the provenance. */
  readonly file: string;
  /** Of new notes. Those with findings wait for a person. */
  readonly state: 'proposed' | 'trial' | 'live';
  readonly scope: Scope;
  readonly lessons: readonly Lesson[];
  readonly lint: LintWords;
  readonly hasSecret: (text: string) => boolean;
  readonly now: number;
}

/** What becomes of one note. `why` says why it is refused; without changes and `why` the library has it already. */
export interface DraftedNote {
  readonly line: number;
  readonly id: string;
  readonly name: string;
  readonly changes: readonly Change[];
  /** Why it waits for a person. */
  readonly findings: readonly string[];
  readonly remark?: string;
  readonly why?: string;
}

const HALF_LIFE_DAYS = { told: 180, inferred: 90 } as const;
const LONGEST_DESCRIPTION = 300;
const LONGEST_HEADING = 120;
const LONGEST_ORIGIN = 120;
const LONGEST_CONTEXT = 480;
const LONGEST_FILE = 100;
const LONGEST_TAG = 64;
const MOST_TAGS = 16;
const MOST_NAME_WORDS = 7;
const MOST_TOPIC_WORDS = 4;
const CHANGED = 'the other program has changed it';
const LONGEST_NAME = 48;

/**
 * The changes that bring notes into the library. Ids come from the words and the scope: the same file gives nothing new the
 * second time, and what a person rejected or retired stays so. A note that the other program has changed is a revision.
 */
export function draftNotes(notes: readonly ForeignNote[], options: DraftOptions): readonly DraftedNote[] {
  const { lessons, scope } = options;
  const active = lessons.filter(isActive);
  const byId = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const sayingKey = ({ content, scope: where }: Pick<LessonText, 'content' | 'scope'>): string =>
    `${content.trim()}\n${uniqueKeyOf({ name: '', scope: where })}`;
  const bySaying = new Map(active.map((lesson) => [sayingKey(lesson.text), lesson.text.name]));
  const byRef = new Map<string, Lesson[]>();
  for (const lesson of active)
    for (const tag of lesson.text.note.tags) byRef.set(tag, [...(byRef.get(tag) ?? []), lesson]);
  const taken = new Set(active.map(({ text }) => uniqueKeyOf(text)));
  const find = (idOrName: string): Lesson | undefined =>
    byId.get(idOrName) ?? active.find(({ text }) => text.name === idOrName);

  const draft = (note: ForeignNote): DraftedNote => {
    const content = note.lead === undefined ? note.content : `${note.lead}\n\n${note.content}`;
    const id = idOf(options.format, scope, content);
    const base = nameOf(note, id);
    const isFree = !taken.has(uniqueKeyOf({ name: base, scope }));
    const name = isFree ? base : `${base.slice(0, LONGEST_NAME).replace(/-+$/, '')}-${id.slice(-6)}`;
    const text = textOf(note, content, name, options);
    const drafted = { line: note.line, id, name, changes: [], findings: [] };
    if (note.expiresAt !== undefined && note.expiresAt <= options.now)
      return { ...drafted, remark: 'left out: it has expired' };
    const same = byId.get(id);
    const twin = same?.text.name ?? bySaying.get(sayingKey(text));
    if (twin !== undefined) {
      const isClosed = same !== undefined && !isActive(same);
      const remark = isClosed ? `unchanged: it is ${same.state} here` : 'unchanged';
      return { ...drafted, name: twin, remark };
    }
    const why = whyRefused(note, text, options.hasSecret);
    if (why !== undefined) return { ...drafted, ...why };
    bySaying.set(sayingKey(text), name);

    const findings = [...(note.doubts ?? []), ...lintText(text, options.lint)];
    const state = findings.length === 0 ? options.state : 'proposed';
    const reason = findings.length === 0 ? {} : { reason: toReason(findings) };
    const earlier = note.ref === undefined ? [] : (byRef.get(note.ref) ?? []);
    const before = earlier.find(isInUse) ?? earlier[0];
    if (before !== undefined) {
      const revised = { ...text, name: before.text.name, scope: before.text.scope };
      const isBeside = isInUse(before) && state === 'proposed';
      const reasons = isBeside ? [CHANGED, ...findings] : findings;
      const change = isBeside
        ? proposeBeside(before, revised, reasons, find)
        : ({ op: 'revise', id: before.id, from: before.revision, text: revised, ...reason } as const);
      if (change === undefined) return { ...drafted, name: before.text.name, remark: 'unchanged' };
      // An earlier change that nobody has approved is out of date.
      const outdated = earlier.filter((lesson) => lesson !== before && lesson.state === 'proposed');
      return {
        ...drafted,
        id: change.id,
        name: before.text.name,
        changes: [
          change,
          ...outdated.map(({ id: old }): Change => ({ op: 'retire', id: old, reason: CHANGED })),
        ],
        findings: reasons,
      };
    }
    taken.add(uniqueKeyOf(text));
    const kind = isTold(options.format) ? 'skill' : 'experience';
    const expiresAt = note.expiresAt === undefined ? {} : { expiresAt: note.expiresAt };
    return { ...drafted, findings, changes: [{ op: 'add', id, kind, state, text, ...expiresAt, ...reason }] };
  };
  return notes.map(draft);
}

/** A file that a person wrote states what they told their agents; what programs inferred is inferred. */
const isTold = (format: NoteFormat): boolean => format === 'markdown';

function idOf(format: NoteFormat, scope: Scope, content: string): string {
  const words = JSON.stringify([format, scope.agent, scope.project, scope.runKind, scope.domain, content]);
  return `imp_${createHash('sha256').update(words).digest('hex').slice(0, 20)}`;
}

function textOf(note: ForeignNote, content: string, name: string, options: DraftOptions): LessonText {
  const { line, heading = '', origin = '', ref, tags = [] } = note;
  const source = isTold(options.format) ? 'told' : 'inferred';
  const under = truncateEnd(oneLine(heading), LONGEST_HEADING);
  const place = [
    `${truncateEnd(oneLine(options.file), LONGEST_FILE)}, line ${line}`,
    truncateEnd(oneLine(origin), LONGEST_ORIGIN),
  ];
  const from = place.filter((part) => part !== '').join(', ');
  const marks = [options.format, ...(ref === undefined ? [] : [ref]), ...tags.map(oneLine)];
  return {
    name,
    description: truncateEnd(
      [under, firstWords(note.content)].filter(Boolean).join(': '),
      LONGEST_DESCRIPTION,
    ),
    content,
    scope: options.scope,
    note: {
      context: truncateEnd(under === '' ? `from ${from}` : `${under} (${from})`, LONGEST_CONTEXT),
      keywords: [],
      tags: [...new Set(marks)].filter((tag) => tag !== '' && tag.length <= LONGEST_TAG).slice(0, MOST_TAGS),
      importance: note.importance ?? 0.5,
      confidence: note.confidence ?? 0.5,
      source,
      visibility: 'scoped',
      halfLifeDays: HALF_LIFE_DAYS[source],
      links: [],
    },
    evidence: { turns: [], quotes: [], learner: 'import' },
    taint: [],
  };
}

/** Why a note cannot be a lesson, with the line where that can be told. */
function whyRefused(
  { line, content, isVerbatim }: ForeignNote,
  text: LessonText,
  hasSecret: (text: string) => boolean,
): Pick<DraftedNote, 'line' | 'why'> | undefined {
  const words = [text.description, text.content, text.note.context ?? '', ...text.note.tags];
  if (words.some(hasSecret)) return { line, why: 'contains a secret: remove it, and import the file again' };
  const at = content
    .split('\n')
    .findIndex(
      (one) => checkString('it', one, { max: Number.POSITIVE_INFINITY, mayBeEmpty: true }) !== undefined,
    );
  const fault = checkLessonText(text);
  if (fault === undefined) return undefined;
  return { line: isVerbatim && at >= 0 ? line + at : line, why: `cannot be imported: ${fault}` };
}

/** The first line with words, without the marks of Markdown. */
function firstWords(content: string): string {
  const lines = content.split('\n').map((line) => oneLine(line).replace(/^(?:[-*+>]|\d{1,3}[.)])\s+/, ''));
  const [first = '', ...rest] = lines.filter((line) => line !== '' && !/^(?:```|~~~|#)/.test(line));
  // A line that only announces the next says nothing by itself.
  return /[:：][*_]{0,3}$/.test(first) && rest.length > 0 ? `${first} ${rest.join(' ')}` : first;
}

/** Words that a cut name must not lose. */
const TURNS =
  /\b(?:not|no|never|n't|without|except|unless|only|instead|avoid|nicht|nie|kein\w*|ohne|außer|pas|jamais|sans|sauf|nunca|sin|não|sem|non|mai|senza|niet|geen|nooit)\b|n['’]t\b/i;

/** A name of its first words. Where the rest could turn their meaning, its heading and its id name it. */
function nameOf({ title, content, lead, heading = '' }: ForeignNote, id: string): string {
  const words = wordsOf(title ?? firstWords(content));
  const kept = words.slice(0, MOST_NAME_WORDS);
  while (kept.length > 1 && kept.join('-').length > LONGEST_NAME) kept.pop();
  const isCut = title === undefined && (kept.length < words.length || content.trim().includes('\n'));
  const isPlain = !/[^\p{ASCII}“”‘’–—…]/u.test(firstWords(content));
  const name = kept.join('-').replace(/^(?=[0-9])/, 'note-');
  const isSafe = lead === undefined && isPlain && !(isCut && TURNS.test(content));
  if (isSafe && /^[a-z][a-z0-9-]{2,62}$/.test(name)) return name;
  const topic = wordsOf(heading.split('›').at(-1) ?? '')
    .slice(0, MOST_TOPIC_WORDS)
    .join('-')
    .slice(0, LONGEST_NAME);
  return `${/^[a-z]/.test(topic) ? topic.replace(/-+$/, '') : 'note'}-${id.slice(-6)}`;
}

const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/[`*_"'’“”]/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
