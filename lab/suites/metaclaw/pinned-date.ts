const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const IN_WORDS = new RegExp(String.raw`\b(${MONTHS.join('|')}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`, 'i');
const IN_NUMBERS = /\b(\d{4})-(\d{2})-(\d{2})\b/;
/** A line that states the current date, not the date of something else. */
const SAYS_WHEN = /\b(?:date|today|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i;
const IN_NAMES = /\b(\d{4})(\d{2})(\d{2})_/g;

/**
 * The date of a day, `2026-03-16`: from its README, otherwise the most frequent date at the beginning of file names in its questions. A
 * rule about today's date cannot be obeyed without it, since the machine's clock differs.
 */
export function pinnedDate(readme: string, questions: string): string | undefined {
  const stated = readme
    .split('\n')
    .filter((line) => SAYS_WHEN.test(line))
    .map(dateIn)
    .find((date) => date !== undefined);
  return stated ?? mostFrequent(datesInNames(questions));
}

/** The dates at the beginning of file names in a text, with repetitions. */
export const datesInNames = (text: string): readonly string[] =>
  [...text.matchAll(IN_NAMES)].flatMap(([, year, month, day]) => realDate(year, month, day) ?? []);

/** `Monday, March 16, 2026` */
export const sayDate = (date: string): string =>
  new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeZone: 'UTC' }).format(
    new Date(`${date}T00:00:00Z`),
  );

function dateIn(line: string): string | undefined {
  const [, month = '', day, year] = IN_WORDS.exec(line) ?? [];
  if (year !== undefined) return realDate(year, String(MONTHS.indexOf(month.toLowerCase()) + 1), day);
  const [, ...numbers] = IN_NUMBERS.exec(line) ?? [];
  return realDate(numbers[0], numbers[1], numbers[2]);
}

function realDate(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text ? undefined : text;
}

/** The earliest of equally frequent dates. */
function mostFrequent(dates: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const date of dates) counts.set(date, (counts.get(date) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}
