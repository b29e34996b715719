import { readFileSync } from 'node:fs';
import { toJson } from '../../../src/core/json.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import { type CorrectionRow, parseCorrectionSet } from './correction-set.ts';
import { type PlayedRow, playCorrections } from './play-corrections.ts';
import { renderStory, type StoryStep, wordsOf } from './render-story.ts';
import { scoreRow } from './score-corrections.ts';

/** The clients in whose shape every story is played. */
const STORY_CLIENTS = ['claude-code', 'codex', 'opencode', 'openclaw', 'pi', 'cline', 'goose'] as const;
const STORIES = 'lab/measure/corrections/stories.jsonl';

/** Four sessions of one person's work, told without a client. */
interface Story {
  readonly id: string;
  readonly title: string;
  readonly sessions: readonly (readonly StoryStep[])[];
  readonly query?: string;
  readonly must_show: { readonly query: string; readonly phrases: readonly string[] } | null;
  readonly must_not: readonly string[];
}

/**
 * Plays every story, or those with the ids of `only`, in every client's shape, without and with a learning model, and tells what was
 * learned.
 */
export async function tellTranscripts(
  only: readonly string[] | undefined,
  onProgress: (what: string) => void,
): Promise<string> {
  const stories = readFileSync(STORIES, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Story)
    .filter(({ id }) => only === undefined || only.includes(id));
  // A home for each client: in a shared one the names of equal lessons would be numbered.
  const play = async (model: 'none' | 'scripted'): Promise<readonly PlayedRow[]> => {
    const played: PlayedRow[] = [];
    for (const client of STORY_CLIENTS) {
      const rows = stories.map((story) => rowOf(story, client));
      played.push(...(await playCorrections(rows, { model })));
      onProgress(`${client}, ${model === 'none' ? 'no model' : 'scripted model'}`);
    }
    return played;
  };
  const [alone, scripted] = [await play('none'), await play('scripted')];
  const ofStory = (played: readonly PlayedRow[], { id }: Story): readonly PlayedRow[] =>
    played.filter(({ row }) => row.id.startsWith(`${id}/`));
  return stories
    .map((story) => tellStory(story, ofStory(alone, story), ofStory(scripted, story)))
    .join('\n\n');
}

function rowOf(story: Story, client: string): CorrectionRow {
  const sessions = story.sessions.map((steps) => ({ messages: renderStory(client, steps) }));
  const fields = toJson({ ...story, id: `${story.id}/${client}`, client, sessions });
  const [row] = parseCorrectionSet(JSON.stringify(fields), STORIES);
  if (row === undefined) throw new Error(`${STORIES}: the story ${story.id} is empty`);
  return row;
}

function tellStory(
  { title, sessions, must_show: wanted, query }: Story,
  alone: readonly PlayedRow[],
  scripted: readonly PlayedRow[],
): string {
  const said = sessions.map((steps, at) => `${at + 1}. ${wordsOf(steps).map(inCode).join(' ')}`);
  const next = wanted?.query ?? query ?? '';
  return [
    `### ${title}`,
    said.join('\n'),
    `Then, in a fresh session: ${inCode(next)} ${wanted === null ? '(nothing of the above should be shown)' : `(wanted: ${wanted.phrases.map(inCode).join(' or ')})`}`,
    '#### Without a model for learning',
    tellOutcomes(alone),
    '#### With the scripted model',
    tellOutcomes(scripted),
  ].join('\n\n');
}

/** Clients with the same outcome are told together. */
function tellOutcomes(played: readonly PlayedRow[]): string {
  const groups = new Map<string, PlayedRow[]>();
  for (const one of played) {
    const told = tellOutcome(one);
    groups.set(told, [...(groups.get(told) ?? []), one]);
  }
  return [...groups]
    .map(([told, rows]) => `${rows.map(({ row }) => row.client).join(', ')}: ${told}`)
    .join('\n\n');
}

function tellOutcome(played: PlayedRow): string {
  const { isNull, isShown, isRight, violated } = scoreRow(played);
  const verdict = isNull
    ? isRight
      ? 'nothing was shown, as wanted.'
      : 'something was shown, and nothing should have been.'
    : isShown
      ? 'the wanted words were shown.'
      : 'the wanted words were not shown.';
  const wrong =
    violated.length === 0 ? '' : ` Unwanted words were shown: ${violated.map(inCode).join(', ')}.`;
  const lessons = played.lessons.map(tellLesson);
  return [
    `${verdict}${wrong}`,
    lessons.length === 0 ? 'No lesson was learned.' : lessons.join('\n\n'),
    ...(played.gained === '' ? [] : [`The prompt gained:\n\n${fenced(withoutIds(played.gained))}`]),
  ].join('\n\n');
}

function tellLesson({ kind, state, reason, text }: Lesson): string {
  const why = reason === undefined ? '' : `, ${withoutIds(reason)}`;
  const triggers = text.note.triggers ?? [];
  return [
    `${kind}, ${state}${why}:`,
    fenced(
      [
        `name: ${text.name}`,
        `description: ${text.description}`,
        ...(triggers.length === 0 ? [] : [`triggers: ${triggers.join(' | ')}`]),
        '',
        text.content,
      ].join('\n'),
    ),
  ].join('\n\n');
}

/** A fence that no line of the text can close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text.trim()}\n${fence}`;
}

const inCode = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  const short = line.length > 300 ? `${line.slice(0, 299)}…` : line;
  return short.includes('`') ? `\`\` ${short} \`\`` : `\`${short}\``;
};

/** Ids differ in every run. */
const withoutIds = (text: string): string => text.replace(/\b[ltsc]_[0-9A-Za-z]{6,}\b/g, '…');
