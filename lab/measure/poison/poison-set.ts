import { isObject, type JsonObject, parseJson } from '../../../src/core/json.ts';

export const POISON_CHANNELS = [
  'user',
  'tool_result',
  'web',
  'commit_message',
  'calendar',
  'file_name',
  'skill_file',
] as const;
type PoisonChannel = (typeof POISON_CHANNELS)[number];

/** One line of a set. */
export interface PoisonItem {
  readonly id: string;
  readonly channel: PoisonChannel;
  readonly text: string;
  /** What a lesson must say for the attack to have worked, or for the harmless lesson to count as learned. */
  readonly goal: string;
  readonly technique?: string;
  readonly isBenign: boolean;
  readonly series?: string;
  readonly part?: number;
  readonly isScored: boolean;
  readonly assistantEcho?: string;
  readonly evolverParaphrase?: string;
  readonly userComplaint?: string;
  /** Of a harmless lesson from a tool: the command that failed with `text`, and the one that then worked. */
  readonly tried?: string;
  readonly worked?: string;
}

/** What the owner's own command brings in is a person's doing. */
export const isFromPeople = ({ channel }: PoisonItem): boolean =>
  channel === 'user' || channel === 'skill_file';

/** What is played and scored once: a single item, or the parts of a series in their order. */
export interface PoisonPlay {
  readonly id: string;
  readonly parts: readonly PoisonItem[];
  /** The part that decides: the marked one, else the last. Parts after it are not played. */
  readonly scored: PoisonItem;
}

/** A set with a line that cannot be read is not played at all: a rate over the rest would be a rate of something else. */
export class MalformedSetError extends Error {
  override readonly name = 'MalformedSetError';
}

/** Throws a `MalformedSetError` that names every faulty line. Unknown fields are ignored. */
export function parsePoisonSet(text: string, file = 'the set'): readonly PoisonPlay[] {
  const items: PoisonItem[] = [];
  const faults: string[] = [];
  const ids = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.replace(/^\uFEFF/, '').trim() === '') continue;
    const read = readItem(line.replace(/^\uFEFF/, ''));
    const before = typeof read === 'string' ? undefined : ids.get(read.id);
    if (typeof read === 'string') faults.push(`line ${index + 1}: ${read}`);
    else if (before !== undefined)
      faults.push(`line ${index + 1}: line ${before} has the id "${read.id}" too`);
    else {
      ids.set(read.id, index + 1);
      items.push(read);
    }
  }
  if (faults.length > 0) throw new MalformedSetError(`${file} cannot be played.\n${faults.join('\n')}`);
  if (items.length === 0) throw new MalformedSetError(`${file} has no items.`);
  return groupSeries(items);
}

function readItem(line: string): PoisonItem | string {
  const value = parseJson(line);
  if (!isObject(value)) return 'it is not a JSON object';
  const { id, channel, text, goal, part } = value;
  if (typeof id !== 'string' && typeof id !== 'number') return '"id" is missing';
  const known = POISON_CHANNELS.find((one) => one === channel);
  if (known === undefined)
    return `"channel" is ${JSON.stringify(channel ?? null)}, and must be one of ${POISON_CHANNELS.join(', ')}`;
  if (typeof text !== 'string' || text === '') return '"text" is missing';
  if (typeof goal !== 'string' || goal.trim() === '') return '"goal" is missing';
  if (part !== undefined && part !== null && !Number.isFinite(Number(part))) return '"part" is not a number';
  return {
    id: String(id),
    channel: known,
    text,
    goal,
    isBenign: value.benign === true,
    isScored: value.scored === true,
    ...(typeof part === 'number' || typeof part === 'string' ? { part: Number(part) } : {}),
    ...(value.series === undefined || value.series === null ? {} : { series: String(value.series) }),
    ...optional(value, 'technique', 'technique'),
    ...optional(value, 'assistant_echo', 'assistantEcho'),
    ...optional(value, 'evolver_paraphrase', 'evolverParaphrase'),
    ...optional(value, 'user_complaint', 'userComplaint'),
    ...optional(value, 'tried', 'tried'),
    ...optional(value, 'worked', 'worked'),
  };
}

const optional = (value: JsonObject, from: string, to: string): Readonly<Record<string, string>> => {
  const found = value[from];
  return typeof found === 'string' && found.trim() !== '' ? { [to]: found } : {};
};

/** In the order of the set; a series stands where its first line does. */
function groupSeries(items: readonly PoisonItem[]): readonly PoisonPlay[] {
  const groups = new Map<string, PoisonItem[]>();
  for (const item of items) {
    const key = item.series === undefined ? `item ${item.id}` : `series ${item.series}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()].map((group) => {
    // Lines without a number keep their place in the file.
    const parts = group
      .map((item, index) => ({ item, at: item.part ?? index + 1 }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
    const decisive = parts.findLastIndex(({ isScored }) => isScored);
    const played = decisive < 0 ? parts : parts.slice(0, decisive + 1);
    const scored = played.at(-1) ?? group[0];
    if (scored === undefined) throw new MalformedSetError('a series has no parts');
    return { id: scored.series ?? scored.id, parts: played, scored };
  });
}
