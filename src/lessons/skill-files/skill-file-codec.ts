import { asArray, asString, compact, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { LESSON_KINDS, LESSON_STATES, type Note, type Scope, type Taint } from '../../core/lesson.ts';
import { clip } from '../../text/truncate.ts';
import { checkNote } from '../check-lesson-text.ts';
import { encodeNote } from '../codec.ts';
import {
  type FrontMatterField,
  isSkillFault,
  isSkillName,
  LARGEST_FILE_BYTES,
  type ReadField,
  type SkillFault,
  type SkillFile,
  type SkillOrigin,
  type SkillProvenance,
  toSkillName,
} from './skill-file.ts';
import { readList, readScalar, writeQuoted } from './yaml-scalar.ts';

/** The library's limit for a lesson. */
const LARGEST_CONTENT_BYTES = 8 * 1024;

/**
 * Reads a SKILL.md in linear time; nothing in it is evaluated. `folder` is the name of its folder: the skill's name when the
 * file has no valid one. Never throws.
 */
export function decodeSkillFile(text: string, folder = ''): SkillFile | SkillFault {
  // The first check saves counting the bytes of a huge text.
  if (text.length > LARGEST_FILE_BYTES || Buffer.byteLength(text) > LARGEST_FILE_BYTES) {
    return { ok: false, why: `is larger than ${LARGEST_FILE_BYTES} bytes, the limit for a skill file` };
  }
  const cut = splitFrontMatter(text);
  if (isSkillFault(cut)) return cut;
  const { own, rest } = takeOwnFields(cut.fields);
  const name = readName(rest, folder);
  if (!name.ok) return name;
  const description = readText(rest, 'description');
  if (!description.ok) return description;
  if (description.text.trim() === '') return { ok: false, why: 'has no description' };
  const category = readText(rest, 'category');
  if (!category.ok) return category;
  const content = readContent(cut.body);
  if (!content.ok) return content;
  const keywords = own.keywords ?? readKeywords(rest);
  const triggers = own.triggers ?? readTriggers(rest);
  const isAlways = own.isAlways ?? readAlways(rest);
  return {
    name: name.text,
    description: description.text,
    content: content.text,
    ...(category.text !== '' && { category: category.text }),
    ...(keywords !== undefined && { keywords }),
    ...(triggers !== undefined && { triggers }),
    ...(isAlways !== undefined && { isAlways }),
    ...(own.origin !== undefined && { origin: own.origin }),
    ...(own.provenance !== undefined && { provenance: own.provenance }),
    extra: rest.filter(({ key }) => !READ.has(key)),
  };
}

const READ = new Set(['name', 'description', 'category', 'keywords', 'tags', 'triggers', 'always']);

const rawOf = (fields: readonly FrontMatterField[], key: string): string | undefined =>
  fields.find((field) => field.key === key)?.raw;

/** A field that is absent is empty. */
function readText(fields: readonly FrontMatterField[], key: string): ReadField {
  const field = readScalar(rawOf(fields, key) ?? '');
  return field.ok ? field : { ok: false, why: `${key} ${field.why}` };
}

function readName(fields: readonly FrontMatterField[], folder: string): ReadField {
  const written = readText(fields, 'name');
  if (!written.ok) return written;
  const name = toSkillName(written.text) ?? toSkillName(folder);
  if (name !== undefined) return { ok: true, text: name };
  if (written.text === '') return { ok: false, why: 'has no name' };
  return {
    ok: false,
    why: `has the name ${JSON.stringify(clip(written.text, 65))}, which cannot be converted to 2 to 63 lower-case letters, digits and hyphens`,
  };
}

/** Without the empty line before the text and the line end after it, which the writer adds. */
function readContent(body: string): ReadField {
  const start = body.startsWith('\n') ? 1 : 0;
  const content = body.slice(start, body.length > start && body.endsWith('\n') ? -1 : undefined);
  if (content.trim() === '') return { ok: false, why: 'has no text below its front matter' };
  const bytes = Buffer.byteLength(content);
  if (bytes > LARGEST_CONTENT_BYTES) {
    return {
      ok: false,
      why: `has a text of ${bytes} bytes; a lesson may have at most ${LARGEST_CONTENT_BYTES}`,
    };
  }
  return { ok: true, text: content };
}

function readKeywords(fields: readonly FrontMatterField[]): readonly string[] | undefined {
  const raw = rawOf(fields, 'keywords') ?? rawOf(fields, 'tags') ?? hermesTags(rawOf(fields, HOLDER) ?? '');
  return raw === undefined ? undefined : readList(raw);
}

/** Hermes has its fields below `hermes` in the holder: tags in brackets on one line, or as items below. */
const hermesTags = (raw: string): string | undefined =>
  /^\s+hermes:\s*$/m.test(raw)
    ? /^\s+tags:((?: *\[[^\n]*| *\n(?:\s+- [^\n]*\n?)+))/m.exec(raw)?.[1]
    : undefined;

function readTriggers(fields: readonly FrontMatterField[]): readonly string[] | undefined {
  const raw = rawOf(fields, 'triggers');
  return raw === undefined ? undefined : readList(raw);
}

function readAlways(fields: readonly FrontMatterField[]): boolean | undefined {
  const flag = readText(fields, 'always');
  return flag.ok ? toFlag(flag.text) : undefined;
}

const toFlag = (text: string): boolean | undefined =>
  /^(?:true|yes)$/i.test(text.trim()) ? true : /^(?:false|no)$/i.test(text.trim()) ? false : undefined;

/** Words that YAML parsers read as something other than text. */
const YAML_WORDS = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off']);

/** A SKILL.md that reads back as the same skill. No text in it can end the front matter or add a field. */
export function encodeSkillFile(skill: SkillFile): string {
  const { name, description, category, content } = skill;
  const extra = [...new Map(skill.extra.filter(isWhole).map((field) => [field.key, field])).values()];
  const isHeld = extra.some(({ key }) => key === 'metadata');
  return [
    '---',
    `name: ${isSkillName(name) && !YAML_WORDS.has(name) ? name : writeQuoted(name)}`,
    `description: ${writeQuoted(description)}`,
    ...(category === undefined ? [] : [`category: ${writeQuoted(category)}`]),
    ...extra.flatMap((field) =>
      field.key === 'metadata' ? writeOwnFields(skill, field) : `${field.key}:${field.raw}`,
    ),
    ...(isHeld ? [] : writeOwnFields(skill, undefined)),
    '---',
    '',
    `${content}\n`,
  ].join('\n');
}

const TAKEN = READ;

/** Whether a field on its own reads back as the same field; other fields are left out. */
function isWhole(field: FrontMatterField): boolean {
  const cut = splitFrontMatter(`---\n${field.key}:${field.raw}\n---\n`);
  if (isSkillFault(cut) || cut.body !== '' || cut.fields.length !== 1 || TAKEN.has(field.key)) return false;
  const left = takeOwnFields(cut.fields).rest[0];
  return left?.key === field.key && left.raw === field.raw;
}

interface FrontMatter {
  readonly fields: readonly FrontMatterField[];
  readonly body: string;
}

const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Splits a file into its fields and its body, in one pass over its lines. A field is a line `key: …` and all following lines
 * that are indented, empty, list items or closing brackets, so that no text in it can end it. Duplicate fields are refused.
 */
export function splitFrontMatter(file: string): FrontMatter | SkillFault {
  const text = toLineFeeds(file.charCodeAt(0) === BYTE_ORDER_MARK ? file.slice(1) : file);
  if (!isFence(lineAt(text, 0))) return { ok: false, why: 'has no front matter: its first line is not ---' };
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  let number = 1;
  for (let at = nextLine(text, 0); at < text.length; at = nextLine(text, at)) {
    const line = lineAt(text, at);
    number++;
    if (isFence(line)) {
      const all = [...fields].map(([key, lines]) => ({ key, raw: lines.join('\n') }));
      return { fields: all, body: text.slice(nextLine(text, at)) };
    }
    if (line.startsWith('#')) continue;
    if (isContinuation(line)) {
      if (current === undefined && line.trim() !== '')
        return { ok: false, why: `line ${number} belongs to no field` };
      current?.push(line);
      continue;
    }
    const key = fieldKey(line);
    if (key === undefined) return { ok: false, why: `line ${number} is not "key: value"` };
    if (fields.has(key)) return { ok: false, why: `line ${number} repeats the field ${key}` };
    current = [line.slice(line.indexOf(':') + 1)];
    fields.set(key, current);
  }
  return { ok: false, why: 'has a front matter that never ends: there is no second ---' };
}

/** CRLF becomes LF when the first line ends so; a file with mixed line ends is left unchanged. */
function toLineFeeds(text: string): string {
  const first = text.indexOf('\n');
  return first > 0 && text[first - 1] === '\r' ? text.replaceAll('\r\n', '\n') : text;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.slice(at) : text.slice(at, end);
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

const isFence = (line: string): boolean => line.startsWith('---') && line.trimEnd() === '---';

const isContinuation = (line: string): boolean =>
  line.trim() === '' || ' \t]}'.includes(line.charAt(0)) || line === '-' || line.startsWith('- ');

/** The key of a line; undefined when the line does not begin with `key:`. */
function fieldKey(line: string): string | undefined {
  const colon = line.indexOf(':');
  const behind = line.charAt(colon + 1);
  if (colon < 1 || (behind !== '' && behind !== ' ' && behind !== '\t')) return undefined;
  const key = line.slice(0, colon).trimEnd();
  return KEY.test(key) ? key : undefined;
}

/**
 * Instar's fields stand under `metadata`, which other tools keep unchanged, each value as a quoted string. If `metadata` is
 * not a plain map, they are top-level fields.
 */
const OWN = 'instar-';
const HOLDER = 'metadata';
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

type Own = Pick<SkillFile, 'origin' | 'keywords' | 'triggers' | 'isAlways' | 'provenance'>;

/** Separates Instar's own lines from the fields of others. */
function takeOwnFields(fields: readonly FrontMatterField[]): { own: Own; rest: readonly FrontMatterField[] } {
  const values = new Map<string, string>();
  const rest: FrontMatterField[] = [];
  for (const field of fields) {
    if (field.key === HOLDER) {
      const others = field.raw.split('\n').filter((line) => !takeLine(line.trimStart(), values));
      if (others.some((line) => line.trim() !== '')) rest.push({ key: HOLDER, raw: others.join('\n') });
    } else if (!takeLine(`${field.key}:${field.raw}`, values)) {
      rest.push(field);
    }
  }
  return { own: readOwn(values), rest };
}

function takeLine(line: string, into: Map<string, string>): boolean {
  const key = line.startsWith(OWN) ? fieldKey(line) : undefined;
  if (key === undefined) return false;
  const text = line.slice(line.indexOf(':') + 1).trim();
  const value: ReadField = text.startsWith('"') ? readScalar(text) : { ok: true, text };
  if (value.ok) into.set(key.slice(OWN.length), value.text);
  return true;
}

function readOwn(values: ReadonlyMap<string, string>): Own {
  const origin = readOrigin(values);
  const listOf = (key: string): readonly string[] | undefined => {
    const list = parseJson(values.get(key) ?? '');
    return Array.isArray(list) ? asArray(list).flatMap((word) => asString(word) ?? []) : undefined;
  };
  return compact({
    origin,
    keywords: listOf('keywords'),
    triggers: listOf('triggers'),
    isAlways: toFlag(values.get('always') ?? ''),
    provenance: readProvenance(values),
  });
}

function readOrigin(values: ReadonlyMap<string, string>): SkillOrigin | undefined {
  const id = values.get('id') ?? '';
  const revision = Number(values.get('revision'));
  if (!ID.test(id) || !Number.isSafeInteger(revision) || revision < 1) return undefined;
  const kind = LESSON_KINDS.find((one) => one === values.get('kind')) ?? 'skill';
  const state = LESSON_STATES.find((one) => one === values.get('state')) ?? 'live';
  return { id, revision, kind, state, scope: readScope(values.get('scope') ?? '') };
}

function readScope(text: string): Scope {
  const said = parseJson(text);
  if (!isObject(said)) return {};
  const { agent, project, runKind, domain, member } = said;
  return {
    ...(typeof agent === 'string' && { agent }),
    ...(typeof project === 'string' && { project }),
    ...(typeof runKind === 'string' && { runKind }),
    ...(typeof domain === 'string' && { domain }),
    ...(typeof member === 'string' && { member }),
  };
}

/** The last lines of a front matter: the `metadata` of others, if any, and Instar's own fields. */
function writeOwnFields(
  { origin, keywords, triggers, isAlways, provenance }: Own,
  metadata: FrontMatterField | undefined,
): readonly string[] {
  const lines = ownLines(compact({ origin, keywords, triggers, isAlways, provenance }));
  if (metadata === undefined) {
    return lines.length === 0 ? [] : [`${HOLDER}:`, ...lines.map((line) => `  ${line}`)];
  }
  const indent = mapIndent(metadata.raw);
  const held = `${HOLDER}:${metadata.raw}`;
  if (indent === undefined) return [held, ...lines];
  return [held, ...lines.map((line) => indent + line)];
}

function ownLines({ origin, keywords, triggers, isAlways, provenance }: Own): readonly string[] {
  const values: [string, string | undefined][] = [
    ['id', origin?.id],
    ['revision', origin?.revision.toString()],
    ['kind', origin?.kind],
    ['state', origin?.state],
    ['scope', origin && Object.keys(origin.scope).length > 0 ? JSON.stringify(origin.scope) : undefined],
    ['keywords', keywords && JSON.stringify(keywords)],
    ['triggers', triggers && JSON.stringify(triggers)],
    ['always', isAlways?.toString()],
    ...(provenance === undefined ? [] : provenanceValues(provenance)),
  ];
  return values.flatMap(([key, value]) => (value === undefined ? [] : `${OWN}${key}: ${writeQuoted(value)}`));
}

/** The indentation of a block map; undefined when it is not one. */
function mapIndent(raw: string): string | undefined {
  const [first = '', ...lines] = raw.split('\n');
  const line = lines.find((one) => one.trim() !== '' && !one.trimStart().startsWith('#'));
  if (first.trim() !== '' || line === undefined || fieldKey(line.trimStart()) === undefined) return undefined;
  const indent = line.slice(0, line.length - line.trimStart().length);
  return indent !== '' && !indent.includes('\t') ? indent : undefined;
}

/** Instar's fields for the provenance of an exported skill: who learned it, from what, and the metadata of the lesson. */
function provenanceValues({
  note,
  taint,
  learner,
  turns = [],
}: SkillProvenance): [string, string | undefined][] {
  return [
    ['source', note.source],
    ['learner', learner],
    ['turns', turns.length === 0 ? undefined : JSON.stringify(turns)],
    ['taint', taint.length === 0 ? undefined : JSON.stringify(taint)],
    ['note', JSON.stringify(encodeNote({ ...note, keywords: [] }))],
  ];
}

/** The provenance of a file that Instar exported. Anybody can write it: a note that no lesson could have is not read. */
function readProvenance(values: ReadonlyMap<string, string>): SkillProvenance | undefined {
  const said = parseJson(values.get('note') ?? '');
  if (!isObject(said)) return undefined;
  const { keywords: _keywords, triggers: _triggers, isAlways: _isAlways, ...rest } = said;
  if (!isNote(rest)) return undefined;
  const learner = values.get('learner');
  const turns = asArray(parseJson(values.get('turns') ?? '')).flatMap((turn) => asString(turn) ?? []);
  return {
    note: pickNote(rest),
    taint: TAINTS.filter((taint) => asArray(parseJson(values.get('taint') ?? '')).includes(taint)),
    ...(learner === undefined ? {} : { learner }),
    turns,
  };
}

const TAINTS: readonly Taint[] = ['tool', 'web'];

type KeptNote = SkillProvenance['note'];

const isNote = (value: JsonObject): value is JsonObject & KeptNote =>
  checkNote({ ...value, keywords: [] }) === undefined;

const pickNote = ({
  context,
  tags,
  importance,
  confidence,
  source,
  visibility,
  halfLifeDays,
  links,
  relations,
}: KeptNote): KeptNote =>
  ({
    ...(context === undefined ? {} : { context }),
    tags,
    importance,
    confidence,
    source,
    visibility,
    halfLifeDays,
    links,
    ...(relations === undefined ? {} : { relations }),
  }) satisfies Omit<Note, 'keywords'>;
