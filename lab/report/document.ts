import { type Figure, figureText, type MeasureWords } from './figure.ts';
import { count } from './format-numbers.ts';
import type { Markup } from './markup.ts';
import {
  type Column,
  createTable,
  cut,
  type Medium,
  numberColumn,
  plainLine,
  type ReportTable,
  type TextOptions,
  tableLines,
  textColumn,
  wrapped,
} from './table.ts';

/** What a report shows, whatever the suite: `documentText` writes it for a terminal, `documentPage` as a page. */
export interface ReportDocument {
  readonly head: ReportHead;
  /** What a reader must know before the numbers. */
  readonly remarks: readonly string[];
  /** How much was run: `588 questions × 3 seeds`. */
  readonly size: string;
  readonly results: readonly ConditionResult[];
  readonly sections: readonly Section[];
  /** How the numbers were made; on the page only. */
  readonly footer: string;
}

/** How every journal begins, whatever the suite. */
export interface ReportHead {
  readonly run: string;
  readonly suite: string;
  /** Of the page; absent: the suite and the question that benchmarks ask. */
  readonly title?: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly policy: string;
  readonly startedAt: string;
  readonly version: string;
}

/** The figures of one condition: a card on the page, a column in a terminal. */
export interface ConditionResult {
  readonly condition: string;
  readonly figures: readonly {
    readonly words: MeasureWords;
    readonly figure: Figure;
    /** The largest value that the measure can have, for its scale. */
    readonly highest: number;
  }[];
  /** How much of it was counted: in a few characters, and in a sentence. */
  readonly counted: { readonly title: string; readonly text: string; readonly sentence: string };
}

export interface Section {
  readonly title: string;
  /** Added to the title in a terminal. */
  readonly brief?: string;
  /** How to read it; on the page only. */
  readonly about?: string;
  readonly blocks: readonly SectionBlock[];
}

export type SectionBlock =
  | {
      readonly kind: 'table';
      readonly table: ReportTable;
      readonly only?: Medium;
      /** The page folds the table under this line. */
      readonly summary?: string;
      readonly isOpen?: boolean;
    }
  | { readonly kind: 'text'; readonly text: string; readonly only?: Medium }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  | { readonly kind: 'markup'; readonly markup: Markup };

/** A table that both media show as it is. */
export const tableBlock = (table: ReportTable): SectionBlock => ({ kind: 'table', table });

/** More losses than these are counted instead of listed. */
const MOST_LOST = { terminal: 6, page: 60 } as const;

/** What went worse, largest first: names in a terminal, a folded table on the page. */
export function lostList<T>(
  lost: readonly T[],
  {
    summary,
    name,
    columns,
  }: { readonly summary: string; readonly name: (one: T) => string; readonly columns: readonly Column<T>[] },
): readonly SectionBlock[] {
  if (lost.length === 0) return [];
  const more = lost.length - MOST_LOST.terminal;
  const listed = lost.slice(0, MOST_LOST.terminal).map(name).join(', ');
  const caption = `The first ${MOST_LOST.page} of ${count(lost.length)}; the JSON report has all of them.`;
  const options = lost.length > MOST_LOST.page ? { caption } : {};
  return [
    {
      kind: 'text',
      only: 'terminal',
      text: `Lost, largest first: ${listed}${more > 0 ? `, and ${count(more)} more` : ''}.`,
    },
    {
      kind: 'table',
      only: 'page',
      summary,
      table: createTable(lost.slice(0, MOST_LOST.page), columns, options),
    },
  ];
}

/** The report for a terminal: no line is wider than asked, the last one is ended. */
export function documentText(document: ReportDocument, options: TextOptions): string {
  const { head, remarks, size, results, sections } = document;
  const { width } = options;
  const made = Object.entries(head.options).map(([name, value]) => `${name} ${value}`);
  const facts = [`run ${head.run}`, size, ...made, `instar ${head.version}`, head.startedAt];
  return textSections(
    [
      {
        title: plainLine(`${head.suite} · policy ${head.policy}`),
        lines: [
          ...wrapped(facts.join(' · '), width),
          ...remarks.flatMap((remark) => wrapped(`! ${remark}`, width)),
        ],
      },
      { title: 'Result (95 % intervals)', lines: tableLines(resultTable(results), options) },
      ...sections.map(({ title, brief, blocks }) => ({
        title: brief === undefined ? title : `${title} (${brief})`,
        lines: blocks.flatMap((block) => blockLines(block, options)),
      })),
    ],
    options,
  );
}

/** Each under its title with an empty line between them; sections without lines are left out. */
export function textSections(
  sections: readonly { readonly title: string; readonly lines: readonly string[] }[],
  { width, colour }: TextOptions,
): string {
  const bold = (text: string): string => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => `${[bold(cut(title, width)), ...lines].join('\n')}\n`)
    .join('\n');
}

function blockLines(block: SectionBlock, options: TextOptions): readonly string[] {
  if (block.kind === 'markup') return [];
  if (block.kind === 'lines') return block.lines;
  if (block.only === 'page') return [];
  return block.kind === 'table' ? tableLines(block.table, options) : wrapped(block.text, options.width);
}

/** More conditions than these are rows, not columns: a terminal is not wider. */
const MOST_COLUMNS = 4;

/** A measure a row, a condition a column; with many conditions the other way round. */
function resultTable(results: readonly ConditionResult[]): ReportTable {
  const [first] = results;
  if (first === undefined) return { columns: [], rows: [] };
  if (results.length > MOST_COLUMNS)
    return createTable(results, [
      textColumn('', ({ condition }) => condition),
      ...first.figures.map(({ words }, at) =>
        numberColumn<ConditionResult>(words.title, ({ figures }) => {
          const figure = figures[at]?.figure;
          return figure === undefined ? '' : figureText(words, figure);
        }),
      ),
      numberColumn(first.counted.title, ({ counted }) => counted.text),
    ]);
  const cells = ({ figures, counted }: ConditionResult): readonly string[] => [
    ...figures.map(({ words, figure }) => figureText(words, figure)),
    counted.text,
  ];
  const titles = [...first.figures.map(({ words }) => words.title), first.counted.title];
  return createTable(
    [...titles.keys()],
    [
      textColumn('', (at) => titles[at] ?? ''),
      ...results.map((one) => numberColumn<number>(one.condition, (at) => cells(one)[at] ?? '')),
    ],
  );
}
