import { CONDITIONS, type Condition } from '../suite/arms.ts';
import type { LessonRecord, QuestionRecord } from '../suite/run-records.ts';
import { type Scale, scale } from './charts.ts';
import type { SectionBlock } from './document.ts';
import { count, counted } from './format-numbers.ts';
import { html, type Markup } from './markup.ts';
import { compareText } from './questions/question-rows.ts';
import { conditionCell, createTable, drawing, numberColumn, type ReportTable, textColumn } from './table.ts';

/** One lesson in one run: when it was learned, its states, how often it was shown. */
export interface LessonLife {
  readonly condition: Condition;
  readonly seed: number;
  readonly id: string;
  /** Its last name; written by a model. */
  readonly name: string;
  readonly firstDay: number;
  readonly lastDay: number;
  /** Stretches of days in one state, in order. */
  readonly states: readonly { readonly state: string; readonly from: number; readonly to: number }[];
  /** The rules it taught at any time. */
  readonly teaches: readonly string[];
  /** Questions whose prompt contained it. */
  readonly shown: number;
}

export function lessonLives(
  seen: readonly LessonRecord[],
  rows: readonly Pick<QuestionRecord, 'condition' | 'seed' | 'lessons'>[],
): readonly LessonLife[] {
  const shown = new Map<string, number>();
  for (const { condition, seed, lessons } of rows) {
    for (const id of lessons) {
      const key = lessonKey({ condition, seed, id });
      shown.set(key, (shown.get(key) ?? 0) + 1);
    }
  }
  const byLesson = new Map<string, LessonRecord[]>();
  for (const one of [...seen].sort(compareSeen)) {
    const key = lessonKey(one);
    const held = byLesson.get(key);
    // An interrupted day may have written the same evening twice.
    if (held === undefined) byLesson.set(key, [one]);
    else if (held.at(-1)?.day === one.day) held[held.length - 1] = one;
    else held.push(one);
  }
  return [...byLesson]
    .flatMap(([key, evenings]) => {
      const first = evenings[0];
      const last = evenings.at(-1);
      if (first === undefined || last === undefined) return [];
      return [
        {
          condition: first.condition,
          seed: first.seed,
          id: first.id,
          name: last.name,
          firstDay: first.day,
          lastDay: last.day,
          states: stretches(evenings),
          teaches: [...new Set(evenings.flatMap(({ teaches }) => teaches))].sort(compareText),
          shown: shown.get(key) ?? 0,
        },
      ];
    })
    .sort(
      (a, b) =>
        CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) ||
        a.seed - b.seed ||
        a.firstDay - b.firstDay ||
        compareText(a.id, b.id),
    );
}

function stretches(evenings: readonly LessonRecord[]): LessonLife['states'] {
  const out: { state: string; from: number; to: number }[] = [];
  for (const { state, day } of evenings) {
    const last = out.at(-1);
    if (last !== undefined && last.state === state) last.to = day;
    else out.push({ state, from: day, to: day });
  }
  return out;
}

const lessonKey = ({ condition, seed, id }: Pick<LessonRecord, 'condition' | 'seed' | 'id'>): string =>
  `${condition}/${seed}/${id}`;

const compareSeen = (a: LessonRecord, b: LessonRecord): number =>
  a.day - b.day ||
  compareText(a.id, b.id) ||
  compareText(a.state, b.state) ||
  compareText(JSON.stringify(a), JSON.stringify(b));

export interface LessonTimeline {
  readonly lessons: readonly LessonLife[];
  /** The last day or run, counted from 0; undefined where there was none. */
  readonly last: number | undefined;
  readonly period: 'day' | 'run';
  /** What lessons of this suite teach. */
  readonly subject: 'rule' | 'convention';
}

/** More lessons than these are counted instead of listed: in a terminal over all runs, on the page for each run. */
const MOST_LISTED = { terminal: 30, page: 40 } as const;

/** Lessons that teach a rule come first. In a terminal one list; on the page one timeline for each run, the first of a condition open. */
export function lessonBlocks({ lessons, last, period, subject }: LessonTimeline): readonly SectionBlock[] {
  if (last === undefined || lessons.length === 0) return [];
  const x = scale(0, last + 1, 0, TIMELINE.width);
  const listed = (lives: readonly LessonLife[], only: 'terminal' | 'page'): readonly SectionBlock[] => {
    const most = MOST_LISTED[only];
    const left = lives.length - most;
    const table = lessonTable(teachingFirst(lives).slice(0, most), { last, period, x });
    return [
      { kind: 'table', table, only },
      ...(left > 0
        ? [{ kind: 'text' as const, text: `and ${counted(left, 'more lesson', 'more lessons')}`, only }]
        : []),
    ];
  };
  const runs = new Map<string, LessonLife[]>();
  for (const life of lessons) {
    const key = `${life.condition}, seed ${life.seed}`;
    const run = runs.get(key);
    if (run === undefined) runs.set(key, [life]);
    else run.push(life);
  }
  const opened = new Set<string>();
  return [
    ...listed(lessons, 'terminal'),
    {
      kind: 'markup',
      markup: html`<p class="key"><span>${swatch('trial')}trial</span><span>${swatch('live')}live</span><span>${swatch('other')}retired, waiting or rejected</span></p>`,
    },
    ...[...runs].flatMap(([name, lives]) => {
      const condition = lives[0]?.condition ?? 'skills';
      const isOpen = !opened.has(condition);
      opened.add(condition);
      const teaching = lives.filter(({ teaches }) => teaches.length > 0).length;
      const summary = `${name}: ${counted(lives.length, 'lesson')}, ${count(teaching)} teaching a ${subject}`;
      const [table, ...rest] = listed(lives, 'page');
      return table === undefined ? [] : [{ ...table, summary, isOpen }, ...rest];
    }),
  ];
}

const teachingFirst = (lives: readonly LessonLife[]): readonly LessonLife[] => [
  ...lives.filter(({ teaches }) => teaches.length > 0),
  ...lives.filter(({ teaches }) => teaches.length === 0),
];

const TIMELINE = { width: 420, height: 14 } as const;
const DRAWN_STATES = new Set(['trial', 'live']);

const lessonTable = (
  lives: readonly LessonLife[],
  { last, period, x }: { readonly last: number; readonly period: 'day' | 'run'; readonly x: Scale },
): ReportTable =>
  createTable(lives, [
    textColumn('lesson', ({ name }) => ({ text: name, markup: html`<bdi>${name}</bdi>` }), { maxWidth: 40 }),
    textColumn('condition', ({ condition }) => conditionCell(condition), { only: 'terminal' }),
    numberColumn('seed', ({ seed }) => String(seed), { only: 'terminal' }),
    textColumn('teaches', ({ teaches }) => teaches.join(' ')),
    textColumn('learned', ({ firstDay }) => `${period} ${firstDay + 1}`),
    textColumn('state', ({ states }) => states.at(-1)?.state ?? ''),
    numberColumn('shown', ({ shown }) => count(shown)),
    textColumn(
      `from ${period} 1 to ${period} ${last + 1}`,
      ({ states }) => drawing(timeline(states, period, x)),
      { only: 'page' },
    ),
  ]);

function timeline(states: LessonLife['states'], period: string, x: Scale): Markup {
  const { width, height } = TIMELINE;
  const title = states
    .map(({ state, from, to }) => `${state} ${period} ${from + 1}${from === to ? '' : ` to ${to + 1}`}`)
    .join(', ');
  return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${title}</title><rect class="track" y="6" width="${width}" height="2"/>${states.map(
    ({ state, from, to }) =>
      html`<rect class="${DRAWN_STATES.has(state) ? state : 'other'}" x="${x(from)}" y="2" width="${Number(x(to + 1)) - Number(x(from))}" height="10" rx="2"/>`,
  )}</svg>`;
}

const swatch = (state: string): Markup =>
  html`<svg width="18" height="10" aria-hidden="true"><rect class="${state}" width="18" height="10" rx="2"/></svg>`;
