import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { firstLookFor } from '../../../src/embed/static-embed.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { markdownTable } from '../markdown.ts';
import { createEngineCounts, requireEngine, requireSome } from '../measured.ts';
import { askMetaClaw } from '../public/metaclaw.ts';
import { LIMITS, openRecall, recallTasks, withoutTriggers } from './quality.ts';
import type { RecallTask, RecallTasks } from './read-tasks.ts';
import type { PairLesson } from './synthetic.ts';

/** The room of every way: the bodies and the lines of lessons. */
const ROOM = LIMITS.tokenBudget + LIMITS.index.tokens;
/** More skills than fit into the room. */
const MANY = 24;

/** What one task's prompt gained. */
interface GainedPrompt {
  readonly text: string;
  /** The lessons that it holds whole. */
  readonly whole: readonly string[];
}

/** Where a right lesson stands whole in the prompt, by our recall, in a notes file and by MetaClaw's skills. */
export async function comparePeers(
  { lessons: given, tasks }: RecallTasks,
  embed: EmbeddingModel,
  metaclaw: string,
): Promise<string> {
  requireSome('task', tasks.length);
  // A skill file has no triggers.
  const lessons = given.map(withoutTriggers);
  const index = await openRecall(lessons, { embed, first: firstLookFor(embed) });
  const results = await recallTasks(index, tasks, true);
  const engines = createEngineCounts();
  for (const { result } of results) engines.add(result.engine);
  requireEngine(embed.id, engines);
  const holding = (text: string): GainedPrompt => ({
    text,
    whole: lessons.filter(({ content }) => text.includes(content.trim())).map(({ id }) => id),
  });
  const notes = holding(fillRoom(lessons.toReversed().map(noteOf)).trim());
  const skills = (most: number): readonly GainedPrompt[] =>
    askMetaClaw(metaclaw, {
      sessions: [],
      lessons,
      most,
      questions: tasks.map(({ query }) => query),
    }).skills.map((text) => holding(fillRoom(text.split(/(?=\n\n### )/))));
  const ours = results.map(({ result }) => ({
    text: renderBlock(result.lessons, result.index),
    whole: result.lessons.map(({ id }) => id),
  }));
  const withLines = results.map(({ result }, at) => ({
    text: ours[at]?.text ?? '',
    whole: [...result.lessons, ...result.index].map(({ id }) => id),
  }));
  return markdownTable(
    [
      'way',
      'right lesson, whole',
      ...kindsOf(tasks),
      'nothing fits: nothing gained',
      'tokens, fitting / none',
    ],
    [
      reportWay('Instar', tasks, ours),
      reportWay('– or by a line of it', tasks, withLines),
      reportWay('MetaClaw skills, 6', tasks, skills(6)),
      reportWay('MetaClaw skills, to the room', tasks, skills(MANY)),
      reportWay(
        'notes file, newest',
        tasks,
        tasks.map(() => notes),
      ),
    ],
  );
}

const noteOf = ({ name, description, content }: PairLesson): string =>
  `## ${name}\n${description}\n\n${content.trim()}\n\n`;

/** The first part that does not fit ends it. */
function fillRoom(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) {
    if (estimateTokens(text + part) > ROOM) break;
    text += part;
  }
  return text;
}

const isFitting = ({ right }: RecallTask): boolean => right.length > 0;
const kindsOf = (tasks: readonly RecallTask[]): readonly string[] => [
  ...new Set(tasks.filter(isFitting).map(({ kind }) => kind)),
];

function reportWay(
  name: string,
  tasks: readonly RecallTask[],
  gained: readonly GainedPrompt[],
): readonly string[] {
  const rows = tasks.map((task, at) => ({ task, ...(gained[at] ?? { text: '', whole: [] }) }));
  const share = (some: typeof rows, isHit: (row: (typeof rows)[number]) => boolean): string => {
    const hits = some.filter(isHit).length;
    const { low, high } = wilsonInterval(hits, some.length);
    return `${hits} of ${some.length} (${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)} %)`;
  };
  const isRight = ({ task, whole }: (typeof rows)[number]): boolean =>
    task.right.some((id) => whole.includes(id));
  const fitting = rows.filter(({ task }) => isFitting(task));
  const none = rows.filter(({ task }) => !isFitting(task));
  const tokens = (some: typeof rows): string =>
    (some.reduce((sum, { text }) => sum + estimateTokens(text), 0) / Math.max(1, some.length)).toFixed(0);
  return [
    name,
    share(fitting, isRight),
    ...kindsOf(tasks).map((kind) =>
      share(
        fitting.filter(({ task }) => task.kind === kind),
        isRight,
      ),
    ),
    share(none, ({ text }) => text === ''),
    `${tokens(fitting)} / ${tokens(none)}`,
  ];
}
