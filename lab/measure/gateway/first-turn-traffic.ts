import { readTasks } from '../recall/read-tasks.ts';
import type { PairLesson } from '../recall/synthetic.ts';
import { createMulberry32, createSyntheticTexts } from '../recall/synthetic.ts';

/** A first message to a coding agent, and the lesson that it needs. */
export interface FirstRequest {
  readonly session: string;
  readonly kilobytes: number;
  readonly right: PairLesson;
  readonly body: string;
  /** The second turn of the same conversation. */
  readonly next: string;
}

const FILE = 'lab/measure/recall/tasks.jsonl';
/** Lessons of invented words are short: they are there to be compared with. */
const INVENTED_WORDS = 5;
const INVENTED_FROM = 10_000;
export const REQUEST_KILOBYTES = [1, 4, 16] as const;

/** Lessons that our recall tasks need, then further ones of that file, then ones of invented words. */
export function firstTurnLessons(count: number): readonly PairLesson[] {
  const { lessons, tasks } = readTasks(FILE);
  const needed = new Set(tasks.flatMap(({ right }) => right));
  const known = [
    ...lessons.filter(({ id }) => needed.has(id)),
    ...lessons.filter(({ id }) => !needed.has(id)),
  ].slice(0, count);
  const invented = createSyntheticTexts(11);
  const short = (text: string): string => text.split(' ').slice(0, INVENTED_WORDS).join(' ');
  const others = Array.from({ length: count - known.length }, (_, at) => invented.lesson(INVENTED_FROM + at));
  return [
    ...known,
    ...others.map((one) => ({ ...one, description: short(one.description), content: short(one.content) })),
  ];
}

const BRANCHES = ['checkout-retry', 'invoice-export', 'search-facets', 'login-audit', 'queue-drain'];
const FILES = [
  'src/billing/charge.ts',
  'services/mail/send.py',
  'internal/queue/worker.go',
  'web/app/cart.tsx',
];
const OPENINGS = [
  'I am on branch BRANCH.',
  'Context: this is about FILE.',
  'Hi,',
  'Follow-up of yesterday, FILE.',
  '',
];
const CLOSINGS = [
  'Keep the diff small and run the tests when you are done.',
  'Output below.',
  'Tell me what you changed.',
  'Do not touch anything outside of FILE.',
];
const TROUBLE = [
  'Error: connect ECONNREFUSED 127.0.0.1:PORT',
  "TypeError: Cannot read properties of undefined (reading 'idPORT')",
  'FATAL: remaining connection slots are reserved (pid PORT)',
  'AssertionError: expected PORT to equal 200',
];

/**
 * Requests that each begin a conversation: a sentence or two around a task of our recall tasks, with a log behind it that fills
 * the request to its size. No two are equal, so that no embedding is known before.
 */
export function createFirstRequests(
  lessons: readonly PairLesson[],
  count: number,
  run: string,
): readonly FirstRequest[] {
  const random = createMulberry32(5);
  const pick = <T>(list: readonly T[], otherwise: T): T =>
    list[Math.floor(random() * list.length)] ?? otherwise;
  const known = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const tasks = readTasks(FILE).tasks.filter(
    ({ right, kind, query }) =>
      right.some((id) => known.has(id)) && (kind === 'plain' || kind === 'paraphrase') && query.length < 400,
  );
  return Array.from({ length: count }, (_, nth) => {
    const kilobytes = REQUEST_KILOBYTES[nth % REQUEST_KILOBYTES.length] ?? 1;
    const { query, right } = tasks[Math.floor(random() * tasks.length)] ?? { query: '', right: [] };
    const lesson = right.flatMap((id) => known.get(id) ?? [])[0];
    if (lesson === undefined) throw new Error('the library has none of the lessons that the tasks need');
    const fill = (text: string): string =>
      text
        .replace('BRANCH', `${pick(BRANCHES, '')}-${nth}`)
        .replace('FILE', pick(FILES, ''))
        .replace('PORT', String(5000 + nth));
    const asked = [pick(OPENINGS, ''), query, pick(CLOSINGS, '')].map(fill).join(' ').trim();
    const system = systemText(kilobytes);
    const bodyWith = (log: string): string =>
      bodyOf(system, [{ role: 'user', content: log === '' ? asked : `${asked}\n\n${log}` }]);
    const room = kilobytes * 1024 - bodyWith('').length;
    const log = room < 300 ? '' : logOf(random, room - 40, fill(pick(TROUBLE, '')));
    const first = log === '' ? asked : `${asked}\n\n${log}`;
    return {
      session: `first-${run}-${nth}`,
      kilobytes,
      right: lesson,
      body: bodyWith(log),
      next: bodyOf(system, [
        { role: 'user', content: first },
        { role: 'assistant', content: 'I have read the files. Shall I go on?' },
        { role: 'user', content: 'yes' },
      ]),
    };
  });
}

const bodyOf = (system: string, messages: readonly object[]): string =>
  JSON.stringify({ model: 'bench-json', messages: [{ role: 'system', content: system }, ...messages] });

const GUIDE =
  'You are a coding agent in the repository of the user. Read a file before you change it. Use the tools; say what you did in two sentences. ';
const systemText = (kilobytes: number): string =>
  GUIDE.repeat(kilobytes === 1 ? 1 : kilobytes === 4 ? 6 : 24);

/** Lines of a service's log with one error near their end. */
function logOf(random: () => number, length: number, trouble: string): string {
  const lines: string[] = [];
  const number = (most: number): number => Math.floor(random() * most);
  for (let size = trouble.length; size < length; size += lines.at(-1)?.length ?? 0) {
    const time = `2026-11-1${number(9)}T1${number(9)}:${10 + number(49)}:${10 + number(49)}.${100 + number(899)}Z`;
    lines.push(
      `${time} INFO worker-${number(16)} handled job ${number(1e9).toString(36)} in ${number(900)} ms`,
    );
  }
  lines.splice(-2, 1, trouble);
  return lines.join('\n');
}
