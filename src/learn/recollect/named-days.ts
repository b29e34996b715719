import type { NamedTime } from '../../core/recollection.ts';
import { writtenDay, writtenMonth } from '../../text/phrases.ts';

/** The words of these languages are taken from the platform, which knows them for every language; a year's worth is enough. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ru', 'tr', 'zh', 'ja', 'ko'];
const FARTHEST = { day: 14, week: 8, month: 12, year: 5 } as const;
type Unit = keyof typeof FARTHEST;

interface Distance {
  readonly unit: Unit;
  readonly count: number;
}

let table: ReadonlyMap<string, Distance> | undefined;

/** "yesterday", "vor zwei Wochen", "先月": every phrase with what it means. Shorter than two letters means too many things. */
function phrases(): ReadonlyMap<string, Distance> {
  if (table !== undefined) return table;
  const made = new Map<string, Distance>();
  for (const language of LANGUAGES)
    for (const numeric of ['auto', 'always'] as const) {
      const format = new Intl.RelativeTimeFormat(language, { numeric });
      for (const unit of Object.keys(FARTHEST) as Unit[])
        for (let count = -FARTHEST[unit]; count <= FARTHEST[unit]; count++) {
          const phrase = format.format(count, unit).toLowerCase();
          if (phrase.length > 1 && (numeric === 'auto' || count !== 0)) made.set(phrase, { unit, count });
        }
    }
  table = made;
  return made;
}

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const MOST_WORDS = 5;

/** The times that a text names, said at a certain time; each phrase once. */
export function readNamedTimes(text: string, at: number): readonly NamedTime[] {
  const known = phrases();
  const times = new Map<string, string>();
  for (const { words, distance } of HAN.test(text) ? inScript(text, known) : inWords(text, known))
    if (!times.has(words)) times.set(words, describe(distance, new Date(at)));
  return [...times].map(([words, means]) => ({ words, means }));
}

interface FoundPhrase {
  readonly words: string;
  readonly distance: Distance;
}

/** Scripts without spaces. */
const inScript = (text: string, known: ReadonlyMap<string, Distance>): readonly FoundPhrase[] =>
  [...known].flatMap(([words, distance]) =>
    HAN.test(words) && text.includes(words) ? [{ words, distance }] : [],
  );

/** The longest phrase at each word. */
function inWords(text: string, known: ReadonlyMap<string, Distance>): readonly FoundPhrase[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  const found: FoundPhrase[] = [];
  for (let at = 0; at < words.length; at++) {
    for (let count = MOST_WORDS; count > 0; count--) {
      const phrase = words.slice(at, at + count).join(' ');
      const distance = known.get(phrase);
      if (distance === undefined || at + count > words.length) continue;
      found.push({ words: phrase, distance });
      at += count - 1;
      break;
    }
  }
  return found;
}

function describe({ unit, count }: Distance, said: Date): string {
  const [year, month, day] = [said.getFullYear(), said.getMonth(), said.getDate()];
  if (unit === 'year') return String(year + count);
  if (unit === 'month') return writtenMonth(new Date(year, month + count, 1));
  const there = new Date(year, month, day + count * (unit === 'week' ? 7 : 1));
  return unit === 'week' ? `the week of ${writtenDay(there)}` : writtenDay(there);
}
