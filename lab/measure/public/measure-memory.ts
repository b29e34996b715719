import { existsSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '../../../src/core/json.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { countTerms, createBm25Index } from '../../../src/lessons/recall/bm25-index.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { containsPhrase } from '../../../src/text/contains-phrase.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { writtenDay } from '../../../src/text/phrases.ts';
import { foldPhrase } from '../held-phrase.ts';
import { markdownTable, quantile } from '../markdown.ts';
import { createEngineCounts, describeEngines, findOtherEngine } from '../measured.ts';
import { openPlayedHome, type PlayedAnswer, type TypedTurn } from '../memory/played-home.ts';
import { withVectorMap } from '../memory/vector-map.ts';
import type { Measured } from './customers.ts';
import { askMetaClaw } from './metaclaw.ts';
import {
  type PublicPerson,
  type PublicQuestion,
  readBfcl,
  readLocomo,
  readPrefEval,
  type SaidSession,
} from './public-memory.ts';

interface MemorySet {
  readonly folder: string;
  read(folder: string): readonly PublicPerson[];
  /** A preference is in view when a run of its words is; an answer, when it stands there as it is written. */
  readonly isQuoted?: boolean;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** The preferences of one person: what a person might tell an agent in a year. */
const PREFERENCES = 20;
export const MEMORY_SETS = {
  'bfcl-memory': { folder: 'bfcl-memory', read: readBfcl },
  locomo: { folder: 'locomo', read: readLocomo },
  prefeval: { folder: 'prefeval', read: (folder) => readPrefEval(folder, PREFERENCES), isQuoted: true },
  'prefeval-pool': { folder: 'prefeval', read: (folder) => readPrefEval(folder, EVERYTHING), isQuoted: true },
} as const satisfies Record<string, MemorySet>;

const PLACE = { agent: 'assistant' };
const DAY_MS = 86_400_000;
const ACKNOWLEDGED = 'Okay.';
/** The room of the baselines: the bodies and lines of lessons, and what was said. */
const ROOM = 3000;

/** How one prompt answers one question. */
interface Score {
  readonly kind: string;
  readonly hasAnswer: boolean;
  /** In a body, a quotation or the first line. */
  readonly isOnTop: boolean;
  readonly hasEvidence: boolean;
  readonly hasTrap: boolean;
  readonly isEmpty: boolean;
  readonly tokens: number;
}

type Arm =
  | 'Instar'
  | 'BM25, 6'
  | 'BM25, 24'
  | 'vectors, 6'
  | 'vectors, 24'
  | 'whole history'
  | 'MetaClaw skills'
  | 'MetaClaw memory'
  | 'without a limit';

/**
 * What each person typed is recorded and learned from without a model, in sessions with their dates; then each question is asked in a
 * fresh session. Scored is what its prompt gained, beside raw messages that a simple search would put there.
 */
export async function measurePublicMemory(
  name: keyof typeof MEMORY_SETS,
  data: string,
  metaclaw?: string,
): Promise<Measured> {
  const set: MemorySet = MEMORY_SETS[name];
  const own = path.join(data, set.folder);
  const persons = set.read(existsSync(own) ? own : data).filter(({ questions }) => questions.length > 0);
  const asked = persons.reduce((sum, { questions }) => sum + questions.length, 0);
  if (asked === 0) return { ok: false, why: `The set "${name}" is absent: no questions below ${own}.` };
  const embed = withVectorMap(createMiniLmEmbed());
  const engines = createEngineCounts();
  const scores = new Map<Arm, Score[]>();
  const times: number[] = [];
  const strangers: Score[] = [];
  try {
    for (const [nth, person] of persons.entries()) {
      const other = persons[(nth + 1) % persons.length];
      const played = await playPerson(person, other === person ? [] : (other?.questions ?? []), embed);
      for (const [at, question] of person.questions.entries()) {
        const answer = played.answers[at];
        if (answer === undefined) continue;
        engines.add(answer.engine);
        times.push(answer.searchMs);
        addTo(scores, 'Instar', scoreAnswer(question, answer, person, set));
      }
      for (const [arm, texts] of await fillBaselines(person, embed))
        for (const [at, question] of person.questions.entries())
          addTo(scores, arm, scoreText(question, texts[at] ?? '', person, set));
      if (metaclaw !== undefined) {
        const { skills, memory } = askMetaClaw(metaclaw, {
          sessions: person.sessions.map((session, at) => ({
            id: `s${at}`,
            turns: turnsOf(session).map(typed),
          })),
          questions: person.questions.map(({ text }) => text),
        });
        for (const [at, question] of person.questions.entries()) {
          addTo(scores, 'MetaClaw skills', scoreText(question, skills[at] ?? '', person, set));
          addTo(scores, 'MetaClaw memory', scoreText(question, memory[at] ?? '', person, set));
        }
      }
      for (const answer of played.toStrangers) strangers.push(scoreStranger(answer));
      process.stderr.write(`${person.name}: ${person.questions.length} questions\n`);
    }
  } finally {
    await embed.close();
  }
  const fault = findOtherEngine(embed.id, engines);
  if (fault !== undefined) return { ok: false, why: fault };
  return report(name, { scores, strangers, times, engines: Object.fromEntries(engines.byEngine) });
}

function addTo(scores: Map<Arm, Score[]>, arm: Arm, score: Score): void {
  scores.set(arm, [...(scores.get(arm) ?? []), score]);
}

interface PlayedPerson {
  readonly answers: readonly PlayedAnswer[];
  /** What this person's prompts gain when asked what somebody else was asked. */
  readonly toStrangers: readonly PlayedAnswer[];
}

const MOST_STRANGE = 40;

async function playPerson(
  { name, sessions, questions }: PublicPerson,
  strange: readonly PublicQuestion[],
  embed: EmbeddingModel,
): Promise<PlayedPerson> {
  const home = await openPlayedHome(embed, sessions[0]?.at ?? 0);
  try {
    for (const [nth, session] of sessions.entries())
      await home.play({ session: `${name} ${nth}`, at: session.at, turns: turnsOf(session), ...PLACE });
    const at = (sessions.at(-1)?.at ?? 0) + DAY_MS;
    await home.settle(at);
    const askAll = async (some: readonly PublicQuestion[]): Promise<readonly PlayedAnswer[]> => {
      const answers: PlayedAnswer[] = [];
      for (const { id, text } of some)
        answers.push(await home.ask({ session: `question ${id}`, text, at, ...PLACE }));
      return answers;
    };
    return {
      answers: await askAll(questions),
      toStrangers: await askAll(strange.slice(0, MOST_STRANGE)),
    };
  } finally {
    await home.close();
  }
}

/** A request for each message that was typed, with all that was said before. */
function turnsOf({ messages }: SaidSession): readonly TypedTurn[] {
  const turns: TypedTurn[] = [];
  const history: TypedTurn['request'][number][] = [];
  for (const [nth, { role, text }] of messages.entries()) {
    const next = messages[nth + 1];
    if (role === 'user') {
      history.push({ role, content: text });
      const reply = next?.role === 'assistant' ? next.text : ACKNOWLEDGED;
      turns.push({ request: [...history], reply });
      if (next?.role !== 'assistant') history.push({ role: 'assistant', content: ACKNOWLEDGED });
    } else if (nth > 0) history.push({ role, content: text });
  }
  return turns;
}

const typed = ({ request, reply }: TypedTurn) => ({ prompt: request.at(-1)?.content ?? '', reply });

const scoreStranger = ({ block, quotes }: PlayedAnswer): Score => ({
  kind: 'stranger',
  hasAnswer: false,
  isOnTop: false,
  hasEvidence: false,
  hasTrap: false,
  isEmpty: quotes.length === 0,
  tokens: estimateTokens(block),
});

function scoreAnswer(
  question: PublicQuestion,
  { block, bodies, lines, quotes }: PlayedAnswer,
  person: PublicPerson,
  set: MemorySet,
): Score {
  const quoted = quotes.map(({ text }) => text).join('\n');
  const [firstLine = ''] = lines.split('\n').filter((line) => line.startsWith('- '));
  const top = [bodies, quoted, firstLine].join('\n');
  return {
    ...scoreText(question, block, person, set),
    isOnTop: hasAnswer(question, top, set),
    isEmpty: quotes.length === 0,
  };
}

function scoreText(question: PublicQuestion, text: string, person: PublicPerson, set: MemorySet): Score {
  const { kind, evidence, trap } = question;
  const words = foldPhrase(text);
  const said = person.sessions.flatMap(({ messages }) => messages.filter(({ id }) => evidence.includes(id)));
  const answered = hasAnswer(question, text, set);
  return {
    kind,
    hasAnswer: answered,
    isOnTop: answered,
    hasEvidence: said.some((one) => holdsRun(words, one.text)),
    hasTrap: trap !== undefined && containsPhrase(words, foldPhrase(trap)),
    isEmpty: text === '',
    tokens: estimateTokens(text),
  };
}

function hasAnswer({ answers }: PublicQuestion, text: string, { isQuoted = false }: MemorySet): boolean {
  const words = foldPhrase(text);
  return answers.some((answer) =>
    isQuoted ? holdsRun(words, answer) : containsPhrase(words, foldPhrase(answer)),
  );
}

/** Words in a row that nobody else says by chance. */
const RUN = 6;

function holdsRun(folded: string, text: string): boolean {
  const own = foldPhrase(text).split(/\s+/);
  if (own.length <= RUN) return folded.includes(own.join(' '));
  return own.some((_, at) => at + RUN <= own.length && folded.includes(own.slice(at, at + RUN).join(' ')));
}

/** What simple searches over the raw messages put into the same room, with their dates; for each question. */
async function fillBaselines(
  { sessions, questions }: PublicPerson,
  embed: EmbeddingModel,
): Promise<readonly (readonly [Arm, readonly string[]])[]> {
  const messages = sessions.flatMap(({ at, messages: own }) =>
    own.filter(({ role }) => role === 'user').map(({ text }) => `- ${writtenDay(new Date(at))}: ${text}`),
  );
  const index = createBm25Index();
  for (const [slot, body] of messages.entries()) index.add(slot, countTerms({ head: '', body }));
  const vectors = await embed.embed(messages);
  const byWords = questions.map(({ text }) => {
    const found = new Float32Array(messages.length);
    for (const term of index.terms(text)) index.score(term, found);
    return rank(messages, found);
  });
  const byVectors: (readonly string[])[] = [];
  for (const { text } of questions) {
    const [asked = new Float32Array()] = await embed.embed([text]);
    const near = vectors.map((vector) =>
      vector.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0),
    );
    byVectors.push(rank(messages, near));
  }
  const newest = fillRoom(messages.toReversed());
  return [
    ['BM25, 6', byWords.map((all) => fillRoom(all.slice(0, 6)))],
    ['BM25, 24', byWords.map((all) => fillRoom(all.slice(0, 24)))],
    ['vectors, 6', byVectors.map((all) => fillRoom(all.slice(0, 6)))],
    ['vectors, 24', byVectors.map((all) => fillRoom(all.slice(0, 24)))],
    ['whole history', questions.map(() => newest)],
    // What no search can exceed that only quotes.
    ['without a limit', questions.map(() => messages.join('\n'))],
  ];
}

const rank = (messages: readonly string[], scores: ArrayLike<number>): readonly string[] =>
  messages
    .map((message, slot) => ({ message, score: scores[slot] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ message }) => message);

/** The first message that does not fit ends it. */
function fillRoom(messages: readonly string[]): string {
  let tokens = 0;
  const end = messages.findIndex((message) => {
    tokens += estimateTokens(message);
    return tokens > ROOM;
  });
  return messages.slice(0, end < 0 ? messages.length : end).join('\n');
}

interface MemoryNumbers {
  readonly scores: ReadonlyMap<Arm, readonly Score[]>;
  readonly strangers: readonly Score[];
  readonly times: readonly number[];
  readonly engines: Readonly<Record<string, number>>;
}

const share = (some: readonly Score[], isIt: (score: Score) => boolean): string => {
  const hits = some.filter(isIt).length;
  if (some.length === 0) return '–';
  const { low, high } = wilsonInterval(hits, some.length);
  const percent = (value: number): string => (100 * value).toFixed(0);
  return `${hits} of ${some.length} (${percent(low)}–${percent(high)} %)`;
};

function report(name: string, { scores, strangers, times, engines }: MemoryNumbers): Measured {
  const arms = [...scores.keys()];
  const of = (arm: Arm, kind?: string): readonly Score[] =>
    (scores.get(arm) ?? []).filter((one) =>
      kind === undefined ? one.kind !== 'no answer' : one.kind === kind,
    );
  const kinds = [...new Set((scores.get('Instar') ?? []).map(({ kind }) => kind))].sort();
  const row = (title: string, cell: (arm: Arm) => string): readonly string[] => [title, ...arms.map(cell)];
  const mean = (some: readonly Score[]): string =>
    String(Math.round(some.reduce((sum, { tokens }) => sum + tokens, 0) / Math.max(1, some.length)));
  const none = of('Instar', 'no answer').length > 0;
  const table = markdownTable(
    ['answer in the prompt', ...arms],
    [
      row('all with an answer', (arm) => share(of(arm), ({ hasAnswer: is }) => is)),
      ...kinds
        .filter((kind) => kind !== 'no answer')
        .map((kind) => row(kind, (arm) => share(of(arm, kind), ({ hasAnswer: is }) => is))),
      row('in a body, a quotation or the first line', (arm) => share(of(arm), ({ isOnTop: is }) => is)),
      row('a message with the answer', (arm) => share(of(arm), ({ hasEvidence: is }) => is)),
      ...(none
        ? [
            row('no answer: nothing quoted', (arm) => share(of(arm, 'no answer'), ({ isEmpty: is }) => is)),
            row('no answer: the wrong one stands there', (arm) =>
              share(of(arm, 'no answer'), ({ hasTrap: is }) => is),
            ),
          ]
        : []),
      row('tokens, mean', (arm) => mean(scores.get(arm) ?? [])),
    ],
  );
  const text = [
    `### ${name}`,
    table,
    ...(strangers.length === 0
      ? []
      : [
          `Questions about somebody else: nothing quoted in ${share(strangers, ({ isEmpty: is }) => is)}, ${mean(strangers)} tokens.`,
        ]),
    `Search of what was said: ${quantile(times, 0.5).toFixed(1)} ms (median), ${quantile(times, 0.99).toFixed(1)} ms (99 %). Lessons ${describeEngines(engines)}.`,
  ].join('\n\n');
  const rates = Object.fromEntries(
    arms.map((arm) => {
      const some = of(arm);
      const rate = (isIt: (score: Score) => boolean): number =>
        some.filter(isIt).length / Math.max(1, some.length);
      const byKind = kinds.map((kind) => [kind, of(arm, kind).filter(({ hasAnswer: is }) => is).length]);
      return [
        arm,
        {
          questions: some.length,
          answered: rate(({ hasAnswer: is }) => is),
          onTop: rate(({ isOnTop: is }) => is),
          evidence: rate(({ hasEvidence: is }) => is),
          tokens: Number(mean(scores.get(arm) ?? [])),
          byKind: Object.fromEntries(byKind) as JsonObject,
        },
      ];
    }),
  );
  const result: JsonObject = { set: name, engines, arms: rates };
  return { ok: true, result, text, isMet: true };
}
