import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { FailureCase, Learner, Proposal } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { type PlacedTurn, readCases } from '../../evidence/failure-case.ts';
import { type Manner, readManner } from '../../evidence/signals/manner.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { cycleIdOf } from '../cycle.ts';
import { writeLesson } from '../distiller/write-lesson.ts';
import { draftLesson, sharedScope, uniqueLessonName } from '../draft-lesson.ts';
import type { FactFold } from '../learning-state.ts';
import type { LearnerRow, LearningPieces } from '../runner.ts';

interface MannerOptions {
  readonly records: Pick<Records, 'turn'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Library;
  readonly clock: Clock;
}

export interface MannerTurns extends FactFold {
  /** Agents to whom people said something since the last reflection. */
  waiting(): number;
  /** Reads what people said, in sessions and in the notes that quote them. */
  readonly row: LearnerRow;
}

/** The newest turns of an agent after which a person said something. */
const MOST_TURNS = 48;
const MOST_AGENTS = 100;
const MOST_NOTES = 24;

/**
 * Reflection over sessions and notes, once a day: what people said about an agent's manner becomes a proposal. The turns that it uses are not used up: the
 * same words may also become a lesson for the work. After a restart the same words are read again, and give the same proposals.
 */
export function createMannerTurns(options: MannerOptions): MannerTurns {
  const { evidence, clock } = options;
  const agents = new Map<string, PlacedTurn[]>();
  const fresh = new Set<string>();
  /** Turns that were read, and whether they say something about manner. */
  const read = new Map<string, boolean>();
  const forget = (isGone: (turn: PlacedTurn) => boolean): void => {
    for (const [agent, turns] of agents) {
      const rest = turns.filter((turn) => !isGone(turn));
      for (const { turn } of turns.filter(isGone)) read.delete(turn);
      if (rest.length === 0) agents.delete(agent);
      else agents.set(agent, rest);
    }
  };

  const add = ({ at, fact }: StoredFact): void => {
    if (fact.type === 'session-erased') forget(({ session }) => session === fact.session);
    if (fact.type !== 'turn-appraised') return;
    const { turn, session, scope, verdict, source, isRemarked } = fact;
    const { agent, member } = scope;
    const isSpoken =
      isRemarked === true || (verdict === 'failure' && (source === 'chat' || source === 'person'));
    // An agent is the same for all members: one of them does not decide who it is.
    if (
      !isSpoken ||
      agent === undefined ||
      member !== undefined ||
      (agents.size >= MOST_AGENTS && !agents.has(agent))
    )
      return;
    const others = (agents.get(agent) ?? []).filter((one) => one.turn !== turn);
    agents.set(agent, [...others, { turn, session, at, scope }].slice(-MOST_TURNS));
    read.delete(turn);
    fresh.add(agent);
  };

  async function* reflectOn(agent: string): LearningPieces {
    const recent = agents.get(agent) ?? [];
    const noted = await turnsOfNotes(agent, options);
    const turns = [...noted.filter((one) => !recent.some(({ turn }) => turn === one.turn)), ...recent];
    for (const one of await readCases(
      turns.filter(({ turn }) => !read.has(turn)),
      evidence,
    ))
      read.set(one.turn, mannerOf(one).length > 0);
    const spoken = turns.filter(({ turn }) => read.get(turn) === true);
    if (new Set(spoken.map(({ session }) => session)).size < 2) return;
    const cases = await readCases(spoken, evidence);
    yield {
      id: cycleIdOf([IDENTITY_LEARNER, agent, spoken.map(({ turn }) => turn).sort()]),
      material: { agent, cases },
      cases,
      items: [],
      facts: (end) => (end.judgements.length > 0 ? [{ at: clock.now(), fact: { ...end, turns: [] } }] : []),
    };
  }

  return {
    add,
    waiting: () => fresh.size,
    row: {
      name: IDENTITY_LEARNER,
      due: () => fresh.size > 0,
      learn: createIdentityLearner(),
      material: async function* () {
        for (const agent of [...fresh]) {
          fresh.delete(agent);
          yield* reflectOn(agent);
        }
      },
    },
  };
}

/** The turns that notes quote a word about manner from: they may be older than the newest turns. */
async function turnsOfNotes(
  agent: string,
  { records, library }: MannerOptions,
): Promise<readonly PlacedTurn[]> {
  const quoting = library
    .lessons()
    .filter(
      ({ kind, text }) =>
        kind !== 'identity' && text.scope.agent === agent && text.scope.member === undefined,
    )
    .filter(({ text }) => text.note.source === 'told' && saysManner(text.content))
    .slice(-MOST_NOTES);
  const quoted: PlacedTurn[] = [];
  for (const turn of new Set(quoting.flatMap(({ text }) => text.evidence.turns))) {
    const view = await records.turn(turn);
    const scope = quoting.find(({ text }) => text.evidence.turns.includes(turn))?.text.scope;
    if (view !== undefined && view.agent === agent && scope !== undefined)
      quoted.push({ turn, session: view.session, at: view.startedAt, scope });
  }
  return quoted;
}

const saysManner = (content: string): boolean =>
  content
    .split('\n')
    .flatMap((line) => sentencesOf(line.replace(/^> /, '')))
    .some((sentence) => readManner(sentence.trim()) !== undefined);

/** The name of the learner. */
const IDENTITY_LEARNER = 'identity';

const FEWEST_SESSIONS = 2;
const MOST_QUOTES = 4;

/** What people said to one agent. */
interface MannerMaterial {
  readonly agent: string;
  readonly cases: readonly FailureCase[];
}

/** A word about manner, with the turn after which it was said. */
interface MannerStatement extends QuotedManner {
  readonly one: FailureCase;
}

interface QuotedManner extends Manner {
  /** Letter by letter. */
  readonly quote: string;
}

/** What people said to or about the agent after an answer: never what tools, pages or the agent said. */
function mannerOf(one: FailureCase): readonly QuotedManner[] {
  const { appraisal, passages } = one;
  const told = passages.filter(({ origin, isFeedback }) => origin === 'person' || isFeedback === true);
  const texts = [
    ...told.map(({ text }) => text),
    ...(appraisal.correction?.quotes ?? []),
    ...(appraisal.remark ?? []),
  ];
  const found = new Map<string, QuotedManner>();
  for (const sentence of texts.flatMap(sentencesOf)) {
    const quote = sentence.trim();
    const manner = readManner(quote);
    if (manner !== undefined) found.set(`${manner.key}\n${quote}`, { ...manner, quote });
  }
  return [...found.values()];
}

/** The same words of the same agent give the same id: a rejected proposal is not made again. */
const mannerId = (agent: string, key: string): string =>
  `idl_${createHash('sha256').update(`${agent}\n${key}`).digest('hex').slice(0, 20)}`;

/**
 * Proposes a change of an agent's identity from what people said about its manner in two sessions or more, in their own words. Of
 * contradicting words the newest count. It proposes free and guarded parts, never the core. Without a model.
 */
function createIdentityLearner(): Learner<MannerMaterial> {
  return {
    name: IDENTITY_LEARNER,
    learn: async function* ({ material: { agent, cases }, library }) {
      const statements: readonly MannerStatement[] = cases
        .flatMap((one) => mannerOf(one).map((manner) => ({ ...manner, one })))
        .sort((a, b) => b.one.at - a.one.at);
      for (const topic of new Set(statements.map((one) => one.topic))) {
        const newest = statements.find((one) => one.topic === topic);
        if (newest === undefined) continue;
        const same = statements.filter(({ key }) => key === newest.key);
        const id = mannerId(agent, newest.key);
        if (new Set(same.map(({ one }) => one.session)).size < FEWEST_SESSIONS) continue;
        if (library.lesson(id) !== undefined) continue;
        yield propose({ agent, id, newest, same }, library);
      }
    },
  };
}

interface RepeatedManner {
  readonly agent: string;
  /** Of the lesson that is proposed. */
  readonly id: string;
  readonly newest: MannerStatement;
  /** All statements with the key of the newest, itself included. */
  readonly same: readonly MannerStatement[];
}

function propose({ agent, id, newest, same }: RepeatedManner, library: Pick<Library, 'lessons'>): Proposal {
  const taken = new Set(library.lessons().map(({ text }) => text.name));
  const cases = [...new Set(same.map(({ one }) => one))];
  const quotes = [...new Set(same.map(({ quote }) => quote))];
  const [lead = newest.quote, ...rest] = quotes.slice(0, MOST_QUOTES);
  const words = writeLesson({ speaker: 'user', count: cases.length, quotes: [lead, ...rest], tasks: [] });
  const name = `manner-${newest.key.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
    .slice(0, 60)
    .replace(/-+$/, '');
  const { project } = sharedScope(cases.map(({ scope }) => scope));
  return {
    change: {
      op: 'add',
      id,
      kind: 'identity',
      state: 'proposed',
      text: draftLesson({
        name: uniqueLessonName(name, taken),
        description: words.description,
        content: words.content,
        scope: { agent, ...(project === undefined ? {} : { project }) },
        keywords: [],
        tags: [newest.topic],
        importance: 0.7,
        confidence: 0.7,
        source: 'told',
        halfLifeDays: 365,
        tier: newest.tier,
        learner: IDENTITY_LEARNER,
        turns: cases.map(({ turn }) => turn),
      }),
    },
    quotes: same.map(({ one, quote }) => ({ turn: one.turn, text: quote })),
  };
}
