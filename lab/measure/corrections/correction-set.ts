import { asArray, asObject, asString, isObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { type RecordedSession, readRecordedMessages } from './recorded-messages.ts';

/** A story of one person, one project and one client: what was said, and what has to be known afterwards. */
export interface CorrectionRow {
  readonly id: string;
  /** As the set names it; an unknown one is played as a plain OpenAI chat client. */
  readonly client: string;
  readonly sessions: readonly RecordedSession[];
  /** Null: a trap. Nothing wrong may be shown: none of `mustNot`, or nothing at all where the row names no phrase. */
  readonly mustShow: { readonly query: string; readonly phrases: readonly string[] } | null;
  /** What must not be shown as holding; where it is rejected ("not tabs"), it is not. */
  readonly mustNot: readonly string[];
  /** What is asked in the fresh session: of a trap its `probe`, or the same task again. */
  readonly query: string;
}

export class MalformedRowError extends Error {
  override readonly name = 'MalformedRowError';
}

const PLAIN_CLIENT = 'openai';

/** Reads a set, a JSON object on each line; a malformed line makes the whole set unusable. */
export function parseCorrectionSet(text: string, file = 'the set'): readonly CorrectionRow[] {
  const seen = new Map<string, number>();
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const where = `${file}, line ${index + 1}`;
      const value = parseJson(line);
      if (!isObject(value)) throw new MalformedRowError(`${where}: it is not a JSON object`);
      const row = readRow(value, index, where);
      const before = seen.get(row.id);
      if (before !== undefined)
        throw new MalformedRowError(`${where}: line ${before} has the id "${row.id}" too`);
      seen.set(row.id, index + 1);
      return [row];
    });
}

function readRow(value: JsonObject, index: number, where: string): CorrectionRow {
  const listed = asArray(value.sessions);
  // One session may stand without its list.
  const given = listed.length > 0 ? listed : value.messages === undefined ? [] : [value];
  const sessions = given.map((session) => {
    const messages = Array.isArray(session) ? session : asArray(asObject(session).messages);
    return readRecordedMessages(messages);
  });
  if (sessions.length === 0) throw new MalformedRowError(`${where}: "sessions" is missing or empty`);
  if (sessions.every(({ turns }) => turns.length === 0))
    throw new MalformedRowError(`${where}: no session has a message of the user`);
  const mustShow = readMustShow(value.must_show ?? null, where);
  const ownId = value.id;
  return {
    id: typeof ownId === 'number' ? String(ownId) : (asString(ownId) ?? `line-${index + 1}`),
    client: nameOf(asString(value.client) ?? PLAIN_CLIENT),
    sessions,
    mustShow,
    mustNot: [
      ...phrasesOf(isObject(value.must_not) ? wordsIn(value.must_not) : value.must_not),
      ...phrasesOf(asObject(value.probe).must_not),
    ],
    query: mustShow?.query ?? probeOf(value) ?? sameTaskAgain(sessions),
  };
}

const wordsIn = ({ phrases, phrase }: JsonObject): unknown => phrases ?? phrase;

/** The question of a trap: a text, or the query of an object. */
function probeOf({ probe, must_not, query }: JsonObject): string | undefined {
  const given = [probe, asObject(probe).query, asObject(must_not).query, query];
  return given.flatMap((one) => asString(one)?.trim() || [])[0];
}

/** `Claude Code`, `claude_code` and `claude` are one client. */
function nameOf(client: string): string {
  const name = client
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
  return /^claude(-?code)?(-cli)?$/.test(name) ? 'claude-code' : name.replace(/^open-(code|claw)$/, 'open$1');
}

function readMustShow(value: unknown, where: string): CorrectionRow['mustShow'] {
  if (value === null) return null;
  const { query, phrases, phrase } = asObject(value);
  const wanted = phrasesOf(phrases ?? phrase);
  const asked = asString(query)?.trim() ?? '';
  if (asked === '' || wanted.length === 0)
    throw new MalformedRowError(`${where}: "must_show" needs a "query" and "phrases", or is null`);
  return { query: asked, phrases: wanted };
}

const phrasesOf = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : asArray(value)).flatMap((phrase) =>
    typeof phrase === 'string' && phrase.trim() !== '' ? [phrase.trim()] : [],
  );

/**
 * Nothing may be shown, whatever is asked: the first task once more is the likeliest place for it. A few words before it: some
 * clients' conversations are recognised by their first message, and this is a new one.
 */
const sameTaskAgain = (sessions: readonly RecordedSession[]): string =>
  `And the next one of these: ${sessions.flatMap(({ firstTask }) => firstTask ?? [])[0] ?? 'please go on.'}`;
