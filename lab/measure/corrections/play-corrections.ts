import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatMessage } from '../../../src/core/chat.ts';
import { isInUse, type Lesson } from '../../../src/core/lesson.ts';
import { isFirstLook } from '../../../src/embed/static-embed.ts';
import { NO_ENGINE } from '../measured.ts';
import { writeClientRequest } from './client-shapes.ts';
import type { CorrectionRow } from './correction-set.ts';
import {
  type CorrectionsHome,
  type JudgedTurn,
  openCorrectionsHome,
  type TurnDecision,
} from './corrections-home.ts';
import { gainedText } from './gained-text.ts';
import type { RecordedSession } from './recorded-messages.ts';
import { type RecordedProvider, startRecordedProvider, TURN_HEADER } from './recorded-provider.ts';
import { writeScriptedLessons } from './scripted-evolver.ts';

/** What a row came to: what its sessions taught, and what the prompt of the fresh session gained. */
export interface PlayedRow {
  readonly row: CorrectionRow;
  readonly gained: string;
  /** Only a further question was shown something: the vector of the first came too late. */
  readonly isLate: boolean;
  /** What compared the question with the lessons; `none` where there was no lesson to compare with. */
  readonly engine: string;
  /** The lessons that rest on this row's turns, in any state. */
  readonly lessons: readonly Lesson[];
  /** Why the fresh session was shown a lesson or was not, by the lesson's id. */
  readonly why: ReadonlyMap<string, string>;
  /** Names of shown lessons that rest on other rows' turns. */
  readonly foreign: readonly string[];
  readonly turns: readonly JudgedTurn[];
  /** The ids of each session's turns, in the order of the row's sessions. */
  readonly bySession: readonly (readonly string[])[];
  /** Milliseconds from the user's last words before it to the publication of the first lesson that the query was shown. */
  readonly delayMs?: number;
}

interface PlayOptions {
  /** `scripted`: a learning model that answers from a script. */
  readonly model: 'none' | 'scripted';
  /** Every row has a home of its own: slower, and no row can see another. */
  readonly apart?: boolean;
  /** What the owner files as feedback on the last answer of a row's session. */
  readonly feedback?: (row: string, session: number) => string | undefined;
  readonly onProgress?: (what: string) => void;
}

const AT_ONCE = 4;

/** Plays each row's sessions through the real daemon, then asks its question in a fresh session. */
export async function playCorrections(
  rows: readonly CorrectionRow[],
  options: PlayOptions,
): Promise<readonly PlayedRow[]> {
  const isAlone = (row: CorrectionRow): boolean => options.apart === true || namesFolder(row);
  const shared = rows.filter((row) => !isAlone(row));
  const played = new Map<CorrectionRow, PlayedRow>();
  const keep = (some: readonly PlayedRow[]): void => some.forEach((one) => void played.set(one.row, one));
  if (shared.length > 0) keep(await playTogether(shared, options));
  for (const row of rows.filter(isAlone)) {
    keep(await playTogether([row], { ...options, onProgress: () => undefined }));
    options.onProgress?.(`${played.size} of ${rows.length} rows`);
  }
  return rows.flatMap((row) => played.get(row) ?? []);
}

/** A recording that tells a folder itself could tell another row's: it gets a home of its own. */
const namesFolder = ({ sessions }: CorrectionRow): boolean =>
  /orking directory: ?[/~]|<cwd>/i.test(JSON.stringify(sessions));

/** A row on its way through one daemon. */
interface Part {
  readonly row: CorrectionRow;
  readonly folder: string;
  readonly sessions: Set<string>;
  readonly turns: Set<string>;
  readonly bySession: string[][];
  /** When the user spoke. */
  readonly spokenAt: number[];
}

const partOf = (row: CorrectionRow): Part => ({
  row,
  folder: folderOf(row),
  sessions: new Set(),
  turns: new Set(),
  bySession: row.sessions.map(() => []),
  spokenAt: [],
});

async function playTogether(
  rows: readonly CorrectionRow[],
  { model, feedback, onProgress }: PlayOptions,
): Promise<readonly PlayedRow[]> {
  const provider = await startRecordedProvider(writeScriptedLessons);
  const home = await openCorrectionsHome(provider.port, model === 'scripted');
  const stage = { home, provider };
  try {
    const parts = rows.map(partOf);
    // A person's sessions are hours apart: what one teaches is there when the next begins.
    const most = Math.max(...rows.map(({ sessions }) => sessions.length));
    for (let nth = 0; nth < most; nth++) {
      await inParallel(parts, AT_ONCE, async (part) => {
        const session = part.row.sessions[nth];
        if (session === undefined) return;
        await playSession(stage, part, session, nth);
        const [turn, note] = [part.bySession[nth]?.at(-1), feedback?.(part.row.id, nth)];
        if (turn !== undefined && note !== undefined) await untilRecorded(home, turn, note);
      });
      await home.untilLearned();
      onProgress?.(`session ${nth + 1} of ${most}`);
    }
    const lessons = await home.lessons();
    const played: PlayedRow[] = [];
    for (const part of parts) played.push(await askAgain(stage, part, lessons));
    onProgress?.(`${played.length} questions`);
    return played;
  } finally {
    await home.close();
    await provider.close();
  }
}

/** A turn is known a moment after its reply. */
async function untilRecorded(home: CorrectionsHome, turn: string, note: string): Promise<void> {
  const until = performance.now() + LONGEST_RECORDING_MS;
  for (;;) {
    try {
      return await home.blame(turn, note);
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(LOOK_MS);
    }
  }
}

const LOOK_MS = 100;

interface Stage {
  readonly home: CorrectionsHome;
  readonly provider: RecordedProvider;
}

/** A folder that no other row has, with a name that many projects have. */
function folderOf({ id, client }: CorrectionRow): string {
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return client === 'openclaw' ? `/home/dev/${mark}/.openclaw/workspace` : `/home/dev/${mark}/app`;
}

/** Turn by turn: each request carries the history, and the recorded answer becomes part of it. */
async function playSession(
  { home, provider }: Stage,
  part: Part,
  { turns, system }: RecordedSession,
  nth: number,
): Promise<void> {
  const { row, folder } = part;
  const messages: ChatMessage[] = [];
  const tools = toolsOf(row);
  for (const [at, { added, reply, isSpoken }] of turns.entries()) {
    messages.push(...added);
    const name = `${row.id}/${nth}/${at}`;
    const place = { folder, session: `${row.id} session ${nth}`, now: new Date() };
    const request = writeClientRequest(row.client, { messages, system, tools }, place);
    provider.expect(encodeURIComponent(name), reply);
    if (isSpoken) part.spokenAt.push(Date.now());
    const served = await home.send(request, { [TURN_HEADER]: encodeURIComponent(name) });
    provider.received(encodeURIComponent(name));
    part.sessions.add(served.session);
    part.turns.add(served.turn);
    part.bySession[nth]?.push(served.turn);
    messages.push({ role: 'assistant', content: reply });
  }
}

const toolsOf = ({ sessions }: CorrectionRow): readonly string[] => {
  const parts = sessions.flatMap(({ turns }) => turns.flatMap(({ reply }) => reply));
  return [...new Set(parts.flatMap((one) => (one.type === 'tool-call' ? one.name : [])))];
};

/** What a fresh session's first prompt gained. */
interface FreshPrompt {
  readonly gained: string;
  /** The ids of the lessons that it was shown. */
  readonly shown: readonly string[];
  readonly turn: string;
}

async function askFresh({ home, provider }: Stage, { row, folder }: Part, nth: number): Promise<FreshPrompt> {
  // Some clients' sessions are known by their first message alone: blanks behind it make another session of the same words.
  const text = `${row.query}${' '.repeat(nth)}`;
  const messages: readonly ChatMessage[] = [{ role: 'user', content: [{ type: 'text', text }] }];
  const place = { folder, session: `${row.id} fresh ${nth}`, now: new Date() };
  const system = row.sessions[0]?.system ?? [];
  const request = writeClientRequest(row.client, { messages, system, tools: toolsOf(row) }, place);
  const name = encodeURIComponent(`${row.id}/fresh/${nth}`);
  provider.expect(name, [{ type: 'text', text: 'Okay.' }]);
  const { lessons, turn } = await home.send(request, { [TURN_HEADER]: name });
  return { gained: gainedText(request.body, provider.received(name)), shown: lessons, turn };
}

/** Serving waits a moment for the vector of a new query: on a busy machine it is there for a later question. */
const LATE_MS = 400;
const MOST_QUESTIONS = 6;
const LONGEST_RECORDING_MS = 3_000;

/** A turn is recorded a moment after its reply. Undefined where nothing was recalled. */
async function readDecision({ home }: Stage, turn: string): Promise<TurnDecision | undefined> {
  const until = performance.now() + LONGEST_RECORDING_MS;
  for (;;) {
    const decision = await home.why(turn);
    if (decision !== undefined || performance.now() > until) return decision;
    await sleep(LOOK_MS);
  }
}

interface AnsweredQuestion {
  readonly fresh: FreshPrompt;
  readonly decision: TurnDecision | undefined;
  /** How many fresh sessions asked it before the sentence model answered. */
  readonly tries: number;
}

/** Asks in fresh sessions until the sentence model has answered: what is measured is what was learned, not how busy the machine is. */
async function askPatiently(stage: Stage, part: Part, hasLessons: boolean): Promise<AnsweredQuestion> {
  for (let tries = 1; ; tries++) {
    const fresh = await askFresh(stage, part, tries - 1);
    const mayRecall = hasLessons || fresh.shown.length > 0;
    const decision = mayRecall ? await readDecision(stage, fresh.turn) : undefined;
    const isByLetters = decision !== undefined && isFirstLook(decision.engine);
    if (!isByLetters || tries >= MOST_QUESTIONS) return { fresh, decision, tries };
    await sleep(LATE_MS);
  }
}

async function askAgain(stage: Stage, part: Part, all: readonly Lesson[]): Promise<PlayedRow> {
  const { row, sessions, turns, spokenAt } = part;
  const own = all.filter(({ text }) => text.evidence.turns.some((turn) => turns.has(turn)));
  const hasUsed = own.some(isInUse);
  const { fresh, decision, tries } = await askPatiently(stage, part, hasUsed);
  const { gained, shown } = fresh;
  const foreign = all.filter((lesson) => shown.includes(lesson.id) && !own.includes(lesson));
  const judged: JudgedTurn[] = [];
  for (const session of sessions) judged.push(...(await stage.home.judged(session)));
  const published = own.filter(({ id }) => shown.includes(id)).map(({ createdAt }) => createdAt);
  const publishedAt = Math.min(...published);
  const before = spokenAt.findLast((at) => at <= publishedAt);
  return {
    row,
    gained,
    isLate: tries > 1 && gained !== '',
    engine: decision?.engine ?? NO_ENGINE,
    lessons: own,
    why: decision?.reasons ?? new Map<string, string>(),
    foreign: foreign.map(({ text }) => text.name),
    turns: judged,
    bySession: part.bySession,
    ...(published.length === 0 || before === undefined ? {} : { delayMs: publishedAt - before }),
  };
}

async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
