import { z } from 'zod';

export const MEMORY_KINDS = [
  'update',
  'negation',
  'contradiction',
  'forgetting',
  'scope',
  'recall',
  'multi',
] as const;

const PLACE = { agent: z.string().min(1).optional(), project: z.string().min(1).optional() };
const PHRASES = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const SAID = z.object({
  session: z.union([z.string(), z.number()]).optional(),
  /** The number of a day, or a date. */
  day: z.union([z.number(), z.string()]).optional(),
  text: z.string().min(1),
  ...PLACE,
});
const WANTED = z.union([PHRASES, z.array(z.array(z.string().min(1)).min(1)).min(1), z.null()]).optional();
const ENTRY = z.object({
  id: z.union([z.string(), z.number()]),
  history: z.array(SAID).min(1),
  question: z.string().min(1),
  /** A phrase, or alternatives of which one is enough; a list of lists: one of each list. Null: nothing is wanted. */
  answer: WANTED,
  /** The same under another name. */
  answers: WANTED,
  /** Further phrases, each of which is enough in the place of the answer. */
  accept: z.union([PHRASES, z.array(z.never()), z.null()]).optional(),
  kind: z.string().min(1),
  must_not: z.union([PHRASES, z.array(z.never()), z.null()]).optional(),
  ...PLACE,
});

/** One message of a user, in a session of its own. */
export interface HistoryMessage {
  readonly text: string;
  /** Milliseconds since the epoch; the messages of an entry are in this order. */
  readonly at: number;
  readonly agent: string;
  readonly project: string;
}

export interface MemoryEntry {
  readonly id: string;
  readonly kind: string;
  readonly history: readonly HistoryMessage[];
  readonly question: string;
  /** When it is asked: the day after the last message. */
  readonly askedAt: number;
  readonly agent: string;
  readonly project: string;
  /** One phrase of each group has to be there. */
  readonly wanted: readonly (readonly string[])[];
  /** Its answer is that nothing is known ("unknown"): right where nothing wrong is shown as holding. */
  readonly isAbstention: boolean;
  /** Its answer is a bare "yes" or "no", which a reply can say and a prompt cannot: only a reply is scored, unless `accept` says more. */
  readonly verdict?: string;
  readonly mustNot: readonly string[];
}

export class MalformedEntryError extends Error {
  override readonly name = 'MalformedEntryError';
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 9);
const SOMEONE = { agent: 'assistant', project: 'work' };

/** Reads a set, a JSON object on each line. Throws a `MalformedEntryError` that names the line. */
export function parseMemorySet(text: string, file: string): readonly MemoryEntry[] {
  const seen = new Set<string>();
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const where = `${file}, line ${index + 1}`;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        throw new MalformedEntryError(`${where}: it is not a JSON object`);
      }
      const { data, error } = ENTRY.safeParse(value);
      if (data === undefined) throw new MalformedEntryError(`${where}: ${z.prettifyError(error)}`);
      const id = String(data.id);
      if (seen.has(id)) throw new MalformedEntryError(`${where}: the id "${id}" is taken`);
      seen.add(id);
      return [readEntry(id, data, where)];
    });
}

function readEntry(id: string, data: z.infer<typeof ENTRY>, where: string): MemoryEntry {
  const place = { agent: data.agent ?? SOMEONE.agent, project: data.project ?? SOMEONE.project };
  const history = data.history
    .map((said, nth) => ({
      text: said.text,
      // Entries without a day follow each other daily.
      at: dayOf(said.day ?? nth, where) + nth * MINUTE_MS,
      agent: said.agent ?? place.agent,
      project: said.project ?? place.project,
    }))
    .toSorted((a, b) => a.at - b.at);
  return {
    id,
    kind: data.kind,
    history,
    question: data.question,
    askedAt: (history.at(-1)?.at ?? FIRST_DAY) + DAY_MS,
    ...place,
    ...readAnswer(data),
    mustNot: [data.must_not ?? []].flat(),
  };
}

const ABSTAINS =
  /^(?:unknown|not (?:known|stated|said|mentioned|specified)|never (?:stated|said|mentioned)|(?:i )?(?:do not|don't) know|no (?:answer|information)|unanswerable|n\/a|abstain|unbekannt|inconnu|desconocido)[.!]?$/i;
const VERDICT = /^(?:yes|no|true|false|ja|nein|oui|non|sí|sim|não)[.!]?$/i;

function readAnswer(data: z.infer<typeof ENTRY>): Pick<MemoryEntry, 'wanted' | 'isAbstention' | 'verdict'> {
  const accept = [data.accept ?? []].flat();
  const groups = groupsOf(data.answer ?? data.answers ?? null);
  const [first = []] = groups;
  const isOneGroup = groups.length === 1;
  if (isOneGroup && accept.length === 0 && first.every((phrase) => ABSTAINS.test(phrase.trim())))
    return { wanted: [], isAbstention: true };
  const verdict = isOneGroup ? first.find((phrase) => VERDICT.test(phrase.trim())) : undefined;
  const said = first.filter((phrase) => phrase !== verdict);
  // Alternatives belong to an answer of one part.
  const alternatives = [...said, ...accept];
  const wanted = groups.length > 1 ? groups : alternatives.length === 0 ? [] : [alternatives];
  return { wanted, isAbstention: false, ...(verdict === undefined ? {} : { verdict }) };
}

function dayOf(day: number | string, where: string): number {
  const number = Number(day);
  if (Number.isFinite(number)) return FIRST_DAY + number * DAY_MS;
  const date = Date.parse(String(day));
  if (Number.isNaN(date))
    throw new MalformedEntryError(`${where}: "day" takes a number or a date, not "${day}"`);
  return date;
}

function groupsOf(
  answer: string | readonly (string | readonly string[])[] | null,
): readonly (readonly string[])[] {
  if (answer === null) return [];
  if (typeof answer === 'string') return [[answer]];
  const alternatives = answer.filter((one) => typeof one === 'string');
  const groups = answer.filter((one) => typeof one !== 'string');
  return alternatives.length > 0 ? [alternatives] : groups;
}
