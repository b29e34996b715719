import { createHash } from 'node:crypto';
import type { FailureCase, Learner, Proposal } from '../../core/learn.ts';
import type { Note } from '../../core/lesson.ts';
import { type Manner, readManner } from '../../evidence/signals/manner.ts';
import { sentencesOf } from '../distiller/quote-sentences.ts';
import { writeLesson } from '../distiller/write-lesson.ts';
import { sharedScope, uniqueLessonName } from '../draft-lesson.ts';

/** The name of the learner. */
export const IDENTITY_LEARNER = 'identity';

const FEWEST_SESSIONS = 2;
const MOST_QUOTES = 4;

/** What people said to one agent. */
export interface MannerMaterial {
  readonly agent: string;
  readonly cases: readonly FailureCase[];
}

/** Something that was said about manner, with the turn that it was said after. */
interface SaidManner extends QuotedManner {
  readonly one: FailureCase;
}

interface QuotedManner extends Manner {
  /** Letter by letter. */
  readonly quote: string;
}

/** What people said to or about the agent after an answer: never what tools, pages or the agent said. */
export function mannerOf(one: FailureCase): readonly QuotedManner[] {
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
export function createIdentityLearner(): Learner<MannerMaterial> {
  return {
    name: IDENTITY_LEARNER,
    learn: async function* ({ material: { agent, cases }, library }) {
      const said: readonly SaidManner[] = cases
        .flatMap((one) => mannerOf(one).map((manner) => ({ ...manner, one })))
        .sort((a, b) => b.one.at - a.one.at);
      for (const topic of new Set(said.map((one) => one.topic))) {
        const newest = said.find((one) => one.topic === topic);
        if (newest === undefined) continue;
        const same = said.filter(({ key }) => key === newest.key);
        const id = mannerId(agent, newest.key);
        if (new Set(same.map(({ one }) => one.session)).size < FEWEST_SESSIONS) continue;
        if (library.lesson(id) !== undefined) continue;
        yield propose(agent, id, newest, same, new Set(library.lessons().map(({ text }) => text.name)));
      }
    },
  };
}

function propose(
  agent: string,
  id: string,
  newest: SaidManner,
  same: readonly SaidManner[],
  taken: ReadonlySet<string>,
): Proposal {
  const cases = [...new Set(same.map(({ one }) => one))];
  const quotes = [...new Set(same.map(({ quote }) => quote))];
  const [lead = newest.quote, ...rest] = quotes.slice(0, MOST_QUOTES);
  const words = writeLesson({ speaker: 'user', count: cases.length, quotes: [lead, ...rest], tasks: [] });
  const name = `manner-${newest.key.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
    .slice(0, 60)
    .replace(/-+$/, '');
  const note: Note = {
    keywords: [],
    tags: [newest.topic],
    importance: 0.7,
    confidence: 0.7,
    source: 'told',
    visibility: 'scoped',
    halfLifeDays: 365,
    links: [],
    tier: newest.tier,
  };
  const { project } = sharedScope(cases.map(({ scope }) => scope));
  return {
    change: {
      op: 'add',
      id,
      kind: 'identity',
      state: 'proposed',
      text: {
        name: uniqueLessonName(name, taken),
        description: words.description,
        content: words.content,
        scope: { agent, ...(project === undefined ? {} : { project }) },
        note,
        evidence: { turns: cases.map(({ turn }) => turn), quotes: [], learner: IDENTITY_LEARNER },
        taint: [],
      },
    },
    quotes: same.map(({ one, quote }) => ({ turn: one.turn, text: quote })),
  };
}
