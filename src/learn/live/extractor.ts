import type { Learner, LearnInput, Proposal, Stuck } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { findQuote } from '../evolver/find-quote.ts';
import { freeName } from '../free-name.ts';
import { oneLine } from '../plain-text.ts';
import { doScopesMeet } from '../shared-scope.ts';
import { rankFailures } from '../weigh-failures.ts';
import { draftExperience, type Experience } from './draft-experience.ts';
import { findMendedCall } from './find-mended-call.ts';
import { type LiveMaterial, shownCases } from './live-material.ts';
import { nameExperience } from './name-experience.ts';
import { type Extraction, readExtraction } from './read-extraction.ts';
import { tellMendedCall } from './tell-mended-call.ts';
import { writeQuestion } from './write-question.ts';

const MOST_FAILURES = 4;
const MOST_SUCCESSES = 4;
const MAX_TOKENS = 900;

export interface ExtractorOptions {
  /** Why the library would not take a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  readonly halfLifeDays?: number;
}

/**
 * Learns from one session that is over, in one question: what set what worked apart from what failed. Without a model it
 * only learns which call of a tool took the place of one that failed.
 */
export function createExtractor(options: ExtractorOptions = {}): Learner<LiveMaterial> {
  return {
    name: 'live',
    async *learn(input) {
      const { material, signal } = input;
      const failures = rankFailures(material.cases).filter(
        ({ appraisal }) => appraisal.verdict === 'failure',
      );
      const shown = {
        ...material,
        cases: failures.slice(0, MOST_FAILURES),
        successes: material.successes.slice(-MOST_SUCCESSES),
      };
      if (signal.aborted || shown.cases.length === 0 || shown.successes.length === 0) return;
      if (input.ask === undefined) yield* learnByRule(options, input);
      else yield* learnByAsking(options, input, shown, input.ask);
    },
  };
}

async function* learnByAsking(
  { checkText, halfLifeDays = 60 }: ExtractorOptions,
  { library, newId, journal, signal }: LearnInput<LiveMaterial>,
  shown: LiveMaterial,
  ask: NonNullable<LearnInput<unknown>['ask']>,
): AsyncGenerator<Proposal | Stuck, void> {
  const active = library.lessons().filter(isActive);
  const known = active.filter(
    ({ kind, text }) => kind === 'experience' && doScopesMeet(text.scope, shown.scope),
  );
  const question = writeQuestion({
    failures: shown.cases,
    successes: shown.successes,
    known,
    mark: newId('mark'),
  });
  const draft = (extraction: Extraction): Omit<Proposal, 'change'> & { readonly text: LessonText } => {
    const quotes = recorded(extraction, shown);
    return { text: draftExperience(experienceOf(extraction, quotes, shown, active), halfLifeDays), quotes };
  };
  let replies = 0;
  const answer = await ask<Extraction | undefined>(
    {
      name: 'extract',
      ...question,
      maxTokens: MAX_TOKENS,
      read: (value) => {
        const isLast = replies++ > 0;
        const read = readExtraction(value);
        if (read === undefined || 'fault' in read) return read;
        const { text, quotes } = draft(read);
        const why = checkText?.(text);
        if (why !== undefined) return { fault: why };
        return quotes.length > 0 || isLast
          ? read
          : { fault: '"quotes" must hold a passage exactly as it was recorded, with its turn' };
      },
    },
    signal,
  );
  if (!answer.ok) return yield { stuck: answer.why, isRetryable: answer.isRetryable };
  if (answer.value === undefined)
    return yield { stuck: 'the model saw nothing to learn', isRetryable: false };
  if (signal.aborted) return;
  const { text, quotes } = draft(answer.value);
  if (quotes.length === 0) journal('what was extracted quotes nothing that was recorded');
  const evidence = { ...text.evidence, model: answer.model, prompt: answer.prompt };
  yield propose({ ...text, evidence }, quotes, newId);
}

async function* learnByRule(
  { checkText, halfLifeDays = 60 }: ExtractorOptions,
  { material, library, newId, journal }: LearnInput<LiveMaterial>,
): AsyncGenerator<Proposal, void> {
  const mended = findMendedCall(material);
  const told = mended && tellMendedCall(mended);
  if (mended === undefined || told === undefined) return;
  const lessons = library.lessons();
  if (lessons.some(({ text }) => text.content === told.content))
    return journal(`known already, or refused before: ${told.name}`);
  const text = draftExperience(
    {
      ...told,
      name: nameAmong(told.name, lessons.filter(isActive)),
      scope: material.scope,
      failures: material.cases.filter(({ turn }) => turn === mended.failed.turn),
      successes: material.successes.filter(({ turn }) => turn === mended.worked.turn),
    },
    halfLifeDays,
  );
  const why = checkText?.(text);
  if (why !== undefined) return journal(`left out: ${told.name}: ${why}`);
  const quotes = recorded(
    { quotes: [mended.failed, mended.worked].map(({ turn, input }) => ({ turn, text: input })) },
    material,
  );
  yield propose(text, quotes, newId);
}

/** The turns that it quotes are what it rests on; of a side that it does not quote, all that was shown. */
function experienceOf(
  { pattern, insight, keywords }: Extraction,
  quotes: Proposal['quotes'],
  { scope, cases, successes }: LiveMaterial,
  active: readonly Lesson[],
): Experience {
  const quoted = new Set(quotes.map(({ turn }) => turn));
  const among = <T extends { readonly turn: string }>(turns: readonly T[]): readonly T[] => {
    const named = turns.filter(({ turn }) => quoted.has(turn));
    return named.length === 0 ? turns : named;
  };
  const failures = among(cases);
  const digests = [...new Set(failures.flatMap(({ appraisal }) => appraisal.digests.map(plainDigest)))];
  const seen = digests.slice(0, 3).map((digest) => `\`${digest}\``);
  return {
    name: nameAmong(nameExperience(pattern), active),
    description: `When ${pattern}.`,
    content: seen.length === 0 ? insight : `${insight}\n\nIt went wrong with: ${seen.join(', ')}`,
    keywords,
    scope,
    failures,
    successes: among(successes),
  };
}

const plainDigest = (digest: string): string => oneLine(digest).replaceAll('`', "'").slice(0, 120);

/** What is quoted counts as far as it was really recorded. */
const recorded = ({ quotes }: Pick<Extraction, 'quotes'>, shown: LiveMaterial): Proposal['quotes'] => {
  const cases = shownCases(shown);
  return quotes.flatMap(({ turn, text }) => {
    const spoken = cases.find((one) => one.turn === turn);
    const found = spoken && findQuote(text, spoken);
    return found === undefined ? [] : [{ turn, text: found }];
  });
};

const isActive = ({ state }: Lesson): boolean => state !== 'retired' && state !== 'rejected';

const nameAmong = (name: string, active: readonly Lesson[]): string =>
  freeName(name, new Set(active.map(({ text }) => text.name)));

const propose = (
  text: LessonText,
  quotes: Proposal['quotes'],
  newId: (prefix: string) => string,
): Proposal => ({
  change: { op: 'add', id: newId('lesson'), kind: 'experience', state: 'proposed', text },
  quotes,
});
