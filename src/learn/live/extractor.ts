import type { Learner, LearnerFailure, LearnInput, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  mayScopesOverlap,
  rankFailures,
  recordedQuotes,
  stuckBy,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { draftExperience, type Experience, nameExperience } from './draft-experience.ts';
import { type Extraction, readExtraction, writeExtractionQuestion } from './extraction-question.ts';
import { describeCorrectedCall, findCorrectedCall } from './find-corrected-call.ts';
import { type LiveMaterial, shownCases } from './live-material.ts';

const MOST_FAILURES = 4;
const MOST_SUCCESSES = 4;
const MAX_TOKENS = 900;

export interface ExtractorOptions {
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  readonly halfLifeDays?: number;
}

/**
 * Learns from one finished session by asking a model once what distinguished the turns that worked from those that failed.
 * Without a model it only learns which corrected tool call replaced a failed one.
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
): AsyncGenerator<Proposal | LearnerFailure, void> {
  const active = library.lessons().filter(isActive);
  const known = active.filter(
    ({ kind, text }) => kind === 'experience' && mayScopesOverlap(text.scope, shown.scope),
  );
  const question = writeExtractionQuestion({
    failures: shown.cases,
    successes: shown.successes,
    known,
    mark: newId('mark'),
  });
  const draft = (extraction: Extraction): Omit<Proposal, 'change'> & { readonly text: LessonText } => {
    const quotes = recordedQuotes(extraction.quotes, shownCases(shown));
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
  if (!answer.ok) return yield stuckBy(answer);
  if (answer.value === undefined)
    return yield { stuck: 'the model found nothing to learn', isRetryable: false };
  if (signal.aborted) return;
  const { text, quotes } = draft(answer.value);
  if (quotes.length === 0) journal('no quote of the extraction was recorded');
  const evidence = { ...text.evidence, model: answer.model, prompt: answer.prompt };
  yield propose({ ...text, evidence }, quotes, newId);
}

async function* learnByRule(
  { checkText, halfLifeDays = 60 }: ExtractorOptions,
  { material, library, newId, journal }: LearnInput<LiveMaterial>,
): AsyncGenerator<Proposal, void> {
  const corrected = findCorrectedCall(material);
  const note = corrected && describeCorrectedCall(corrected);
  if (corrected === undefined || note === undefined) return;
  const lessons = library.lessons();
  if (lessons.some(({ text }) => text.content === note.content))
    return journal(`already known or rejected: ${note.name}`);
  const text = draftExperience(
    {
      ...note,
      name: nameAmong(note.name, lessons.filter(isActive)),
      scope: material.scope,
      failures: material.cases.filter(({ turn }) => turn === corrected.failed.turn),
      successes: material.successes.filter(({ turn }) => turn === corrected.worked.turn),
    },
    halfLifeDays,
  );
  const why = checkText?.(text);
  if (why !== undefined) return journal(`left out: ${note.name}: ${why}`);
  const quotes = recordedQuotes(
    [corrected.failed, corrected.worked].map(({ turn, input }) => ({ turn, text: input })),
    shownCases(material),
  );
  yield propose(text, quotes, newId);
}

/** It cites the turns that it quotes; of failures or successes that it does not quote, all that were shown. */
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

const isActive = ({ state }: Lesson): boolean => state !== 'retired' && state !== 'rejected';

const nameAmong = (name: string, active: readonly Lesson[]): string =>
  uniqueLessonName(name, new Set(active.map(({ text }) => text.name)));

const propose = (
  text: LessonText,
  quotes: Proposal['quotes'],
  newId: (prefix: string) => string,
): Proposal => ({
  change: { op: 'add', id: newId('lesson'), kind: 'experience', state: 'proposed', text },
  quotes,
});
