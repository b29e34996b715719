import { asArray, asString, isObject, parseJson } from '../../core/json.ts';
import { LESSON_KINDS, LESSON_STATES, type Scope } from '../../core/lesson.ts';
import { keyOf } from './front-matter.ts';
import { readQuoted, writeQuoted } from './quoted-scalar.ts';
import type { Field, SkillFile, SkillOrigin } from './skill-file.ts';

/**
 * Instar's fields stand under `metadata`, which other tools keep unchanged, each value as a quoted string. If `metadata` is
 * not a plain map, they are top-level fields.
 */
const OWN = 'instar-';
const HOLDER = 'metadata';
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

type Own = Pick<SkillFile, 'origin' | 'keywords'>;

/** Separates Instar's own lines from the fields of others. */
export function takeOwnFields(fields: readonly Field[]): { own: Own; rest: readonly Field[] } {
  const values = new Map<string, string>();
  const rest: Field[] = [];
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
  const key = line.startsWith(OWN) ? keyOf(line) : undefined;
  if (key === undefined) return false;
  const text = line.slice(line.indexOf(':') + 1).trim();
  const value = text.startsWith('"') ? readQuoted(text) : text;
  if (typeof value === 'string') into.set(key.slice(OWN.length), value);
  return true;
}

function readOwn(values: ReadonlyMap<string, string>): Own {
  const origin = readOrigin(values);
  const keywords = parseJson(values.get('keywords') ?? '');
  return {
    ...(origin !== undefined && { origin }),
    ...(Array.isArray(keywords) && { keywords: asArray(keywords).flatMap((word) => asString(word) ?? []) }),
  };
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
  const { agent, project, runKind, domain } = said;
  return {
    ...(typeof agent === 'string' && { agent }),
    ...(typeof project === 'string' && { project }),
    ...(typeof runKind === 'string' && { runKind }),
    ...(typeof domain === 'string' && { domain }),
  };
}

/** The last lines of a front matter: the `metadata` of others, if any, and Instar's own fields. */
export function writeOwnFields({ origin, keywords }: Own, metadata: Field | undefined): readonly string[] {
  const lines = ownLines({ ...(origin && { origin }), ...(keywords && { keywords }) });
  if (metadata === undefined) {
    return lines.length === 0 ? [] : [`${HOLDER}:`, ...lines.map((line) => `  ${line}`)];
  }
  const indent = mapIndent(metadata.raw);
  const held = `${HOLDER}:${metadata.raw}`;
  if (indent === undefined) return [held, ...lines];
  return [held, ...lines.map((line) => indent + line)];
}

function ownLines({ origin, keywords }: Own): readonly string[] {
  const values: [string, string | undefined][] = [
    ['id', origin?.id],
    ['revision', origin?.revision.toString()],
    ['kind', origin?.kind],
    ['state', origin?.state],
    ['scope', origin && Object.keys(origin.scope).length > 0 ? JSON.stringify(origin.scope) : undefined],
    ['keywords', keywords && JSON.stringify(keywords)],
  ];
  return values.flatMap(([key, value]) => (value === undefined ? [] : `${OWN}${key}: ${writeQuoted(value)}`));
}

/** The indentation of a block map; undefined when it is not one. */
function mapIndent(raw: string): string | undefined {
  const [first = '', ...lines] = raw.split('\n');
  const line = lines.find((one) => one.trim() !== '' && !one.trimStart().startsWith('#'));
  if (first.trim() !== '' || line === undefined || keyOf(line.trimStart()) === undefined) return undefined;
  const indent = line.slice(0, line.length - line.trimStart().length);
  return indent !== '' && !indent.includes('\t') ? indent : undefined;
}
