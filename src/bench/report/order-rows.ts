import { CONDITIONS, type Row } from '../row.ts';

export interface OrderedRows {
  readonly rows: readonly Row[];
  /** Lines for a question that another line had answered already: an interrupted run that began a question anew. */
  readonly repeated: number;
}

/**
 * Each question once, in an order that does not depend on that of the journal: sums are then the same to the last bit. Of two
 * lines for one question the graded one counts; of two graded ones whichever is written smaller, so that chance has no say.
 */
export function orderRows(given: readonly Row[]): OrderedRows {
  const byPlace = new Map<string, { readonly row: Row; readonly text: string }>();
  for (const row of given) {
    const place = placeOf(row);
    const text = JSON.stringify(row, Object.keys(row).sort());
    const held = byPlace.get(place);
    if (held === undefined || isPreferred({ row, text }, held)) byPlace.set(place, { row, text });
  }
  const rows = [...byPlace.values()].map(({ row }) => row).sort(compareRows);
  return { rows, repeated: given.length - rows.length };
}

/** A question of a day of a run, whatever the condition. */
export const questionKey = ({ seed, day, question }: Row): string => `${seed}/${day}/${question}`;

/** The questions of one day of one run stand or fall together: they share a workspace, a conversation, and lessons. */
export const blockKey = ({ seed, day }: Row): string => `${seed}/${day}`;

/** By code unit: the same on every machine, whatever its language. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The learning arcs, in the order in which they begin. */
export function arcsOf(rows: readonly Pick<Row, 'arc' | 'day'>[]): readonly string[] {
  const begins = new Map<string, number>();
  for (const { arc, day } of rows) {
    if (arc !== undefined) begins.set(arc, Math.min(day, begins.get(arc) ?? day));
  }
  return [...begins]
    .sort(([a, first], [b, second]) => first - second || compareText(a, b))
    .map(([arc]) => arc);
}

const placeOf = (row: Row): string => `${row.condition}/${questionKey(row)}`;

function isPreferred(
  one: { readonly row: Row; readonly text: string },
  other: { readonly row: Row; readonly text: string },
): boolean {
  const isGraded = one.row.score !== undefined;
  if (isGraded !== (other.row.score !== undefined)) return isGraded;
  return one.text < other.text;
}

const compareRows = (a: Row, b: Row): number =>
  CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) ||
  a.seed - b.seed ||
  a.day - b.day ||
  compareText(a.question, b.question);
