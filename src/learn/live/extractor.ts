import { errorMessage } from '../../core/failure.ts';
import type {
  Ask,
  CoveredByLesson,
  Learner,
  LearnerFailure,
  LearnInput,
  Proposal,
} from '../../core/learn.ts';
import { isActive, type Lesson, type LessonText } from '../../core/lesson.ts';
import { LESSON_LIKENESS } from '../../lessons/similar/compare.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { taskLine } from '../distiller/write-lesson.ts';
import { mayScopesOverlap, rankFailures, recordedQuotes, stuckBy } from '../draft-lesson.ts';
import { whySaysNothing } from '../evolver/check-skill.ts';
import { draftExperience, type Experience, nameExperience, placeExperience } from './draft-experience.ts';
import { type Extraction, readExtraction, writeExtractionQuestion } from './extraction-question.ts';
import { type CallNote, describeCorrectedCall, findCorrectedCall } from './find-corrected-call.ts';
import { findProcedure, type Procedure } from './find-procedure.ts';
import { type LiveMaterial, shownCases, type ToolAttempt } from './live-material.ts';
import { callText, inlineCode, readToolInput } from './tool-input.ts';

const MOST_FAILURES = 4;
const MOST_SUCCESSES = 4;
const MAX_TOKENS = 1400;

interface ExtractorOptions {
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  readonly halfLifeDays?: number;
  /** The similarity of a text to each of some lessons. May reject: then only names are compared. */
  readonly findSimilar?: (
    text: LessonText,
    among: readonly Lesson[],
  ) => Promise<readonly { readonly id: string; readonly cosine: number }[]>;
}

/**
 * Learns from one finished session by asking a model once what distinguished the turns that worked from those that failed, and
 * which steps are worth keeping. Without a model, and where its note has to wait for a person, it only learns which calls worked in place
 * of failed ones, letter by letter.
 */
export function createExtractor(options: ExtractorOptions = {}): Learner<LiveMaterial> {
  return {
    name: 'live',
    async *learn(input) {
      const { material, signal } = input;
      const failures = rankFailures(material.cases).filter(
        ({ appraisal }) => appraisal.verdict === 'failure',
      );
      const procedure = findProcedure(material);
      const shown = {
        ...material,
        cases: failures.slice(0, MOST_FAILURES),
        successes: newestSuccesses(material, procedure),
      };
      const isContrast = shown.cases.length > 0 && shown.successes.length > 0;
      if (signal.aborted || (!isContrast && procedure === undefined)) return;
      if (input.ask === undefined) yield* learnByRule(options, input, procedure);
      else
        for await (const step of learnByAsking(options, { ...input, ask: input.ask }, shown, procedure))
          yield 'change' in step && step.change.op !== 'retire'
            ? withRule(step, [...learnByRule(options, input, procedure)].filter(isProposal))
            : step;
    },
  };
}

const withRule = (proposal: Proposal, byRule: readonly Proposal[]): Proposal =>
  byRule.length === 0 ? proposal : { ...proposal, byRule };

const isProposal = (step: Proposal | CoveredByLesson): step is Proposal => 'change' in step;

/** The last ones, and the turn that proves the result among them. */
function newestSuccesses({ successes }: LiveMaterial, procedure: Procedure | undefined) {
  const last = successes.slice(-MOST_SUCCESSES);
  const proof = successes.find(({ turn }) => turn === procedure?.proof?.turn);
  return proof === undefined || last.includes(proof) ? last : [proof, ...last.slice(1)];
}

async function* learnByAsking(
  { checkText, halfLifeDays = 60, findSimilar }: ExtractorOptions,
  { library, newId, journal, signal, ask }: LearnInput<LiveMaterial> & { readonly ask: Ask },
  shown: LiveMaterial,
  procedure: Procedure | undefined,
): AsyncGenerator<Proposal | CoveredByLesson | LearnerFailure, void> {
  const known = library
    .lessons()
    .filter(isActive)
    .filter(({ kind, text }) => kind === 'experience' && mayScopesOverlap(text.scope, shown.scope));
  const question = writeExtractionQuestion({
    failures: shown.cases,
    successes: shown.successes,
    known,
    ...(procedure === undefined ? {} : { procedure }),
    mark: newId('mark'),
  });
  const draft = (extraction: Extraction): Omit<Proposal, 'change'> & { readonly text: LessonText } => {
    const quotes = recordedQuotes(extraction.quotes, shownCases(shown));
    return {
      text: draftExperience(experienceOf(extraction, quotes, shown, procedure), halfLifeDays),
      quotes,
    };
  };
  const answer = await ask<Extraction | undefined>(
    {
      name: 'extract',
      ...question,
      maxTokens: MAX_TOKENS,
      read: (value) => {
        const read = readExtraction(value);
        if (!read.ok || read.value === undefined) return read;
        const { text, quotes } = draft(read.value);
        const why = whySaysNothing(text) ?? checkText?.(text);
        if (why !== undefined) return { ok: false, why: why };
        return quotes.length > 0
          ? read
          : { ok: false, why: '"quotes" must hold a passage exactly as it was recorded, with its turn' };
      },
    },
    signal,
  );
  if (!answer.ok) return yield stuckBy(answer);
  if (answer.value === undefined)
    return yield { stuck: 'the model found nothing to learn', isRetryable: false };
  if (signal.aborted) return;
  const { text, quotes } = draft(answer.value);
  const evidence = { ...text.evidence, model: answer.model, prompt: answer.prompt };
  const { revises, retires } = answer.value;
  const named = (names: readonly string[]): readonly Lesson[] =>
    known.filter(({ id, text: { name } }) => names.includes(name) || names.includes(id));
  const near = await nearTo(text, known, findSimilar, journal);
  const same = [...new Set([...named(revises), ...near])];
  const wrong = named(retires).filter((lesson) => !same.includes(lesson));
  yield* placeExperience({ text: { ...text, evidence }, quotes, same, wrong }, library.lessons(), newId);
}

/** Lessons in use that say nearly the same. None when they cannot be compared. */
async function nearTo(
  text: LessonText,
  known: readonly Lesson[],
  findSimilar: ExtractorOptions['findSimilar'],
  journal: (note: string) => void,
): Promise<readonly Lesson[]> {
  if (findSimilar === undefined || known.length === 0) return [];
  try {
    const near = new Set(
      (await findSimilar(text, known)).flatMap(({ id, cosine }) =>
        cosine >= LESSON_LIKENESS.same ? [id] : [],
      ),
    );
    return known.filter(({ id }) => near.has(id));
  } catch (error) {
    journal(`not compared with other notes: ${errorMessage(error)}`);
    return [];
  }
}

/** Steps that were proven, or one call that worked in place of another. */
function* learnByRule(
  { checkText, halfLifeDays = 60 }: ExtractorOptions,
  { material, library, newId, journal }: LearnInput<LiveMaterial>,
  procedure: Procedure | undefined,
): Generator<Proposal | CoveredByLesson, void> {
  const corrected = findCorrectedCall(material);
  const steps = procedure && writeProcedure(procedure);
  const note = steps ?? (corrected && describeCorrectedCall(corrected));
  const used: readonly (ToolAttempt | undefined)[] =
    steps === undefined
      ? [corrected?.failed, corrected?.worked]
      : [...(procedure?.failed ?? []), ...(procedure?.steps ?? []), procedure?.proof];
  const calls = used.flatMap((one) => one ?? []);
  if (note === undefined || calls.length === 0) return;
  const lessons = library.lessons();
  const turns = new Set(calls.map(({ turn }) => turn));
  const saysIt = lessons.find(({ text: { content } }) => content === note.content);
  if (saysIt !== undefined) {
    journal(`already known or rejected: ${note.name}`);
    if (isActive(saysIt)) yield { known: saysIt.id, turns: [...turns] };
    return;
  }
  const task = taskLine(
    procedure?.proof?.task ?? (material.isReported ? corrected?.worked.task : undefined) ?? '',
  );
  const text = draftExperience(
    {
      ...note,
      ...((steps === undefined && !material.isReported) || task === '' ? {} : { triggers: [task] }),
      scope: material.scope,
      failures: material.cases.filter(({ turn }) => turns.has(turn)),
      successes: material.successes.filter(({ turn }) => turns.has(turn)),
    },
    halfLifeDays,
  );
  const why = checkText?.(text);
  if (why !== undefined) return journal(`left out: ${note.name}: ${why}`);
  const quotes = recordedQuotes(
    calls.map(({ turn, input }) => ({ turn, text: input })),
    shownCases(material),
  );
  const own = lessons.filter(
    (lesson) =>
      isActive(lesson) &&
      lesson.text.evidence.learner === 'live' &&
      mayScopesOverlap(lesson.text.scope, text.scope),
  );
  const same = own.filter(({ text: old }) => isAboutSame(old, note));
  const wrong = own.filter((lesson) => !same.includes(lesson) && isRefuted(lesson, material));
  yield* placeExperience({ text, quotes, same, wrong }, lessons, newId);
}

/** The same call failed, or the same task was worked on: the rest of the frame is no sign. */
const isAboutSame = ({ name, content, evidence: { model } }: LessonText, note: CallNote): boolean =>
  model === undefined && (content === note.content || name.replace(/-\d{1,3}$/, '') === note.name);

/** What a lesson of the rules says to have worked has failed now, and did not work at any time of the session. */
function isRefuted({ text: { content, evidence } }: Lesson, { tries = [] }: LiveMaterial): boolean {
  if (evidence.model !== undefined) return false;
  const advised = /; (`[^\n]{1,330}`) worked\./.exec(content)?.[1];
  const codeOf = (one: ToolAttempt): string | undefined =>
    inlineCode(callText(one, readToolInput(one.input)));
  const ran = tries.filter(
    (one) => advised !== undefined && one.isOutage !== true && codeOf(one) === advised,
  );
  return ran.length > 0 && ran.every(({ isOk }) => !isOk);
}

/** It cites the turns that it quotes and the one that proves it; of failures or successes that it does not quote, all that were shown. */
function experienceOf(
  { pattern, insight, steps, keywords, triggers }: Extraction,
  quotes: Proposal['quotes'],
  { scope, cases, successes }: LiveMaterial,
  procedure: Procedure | undefined,
): Experience {
  const quoted = new Set(quotes.map(({ turn }) => turn));
  const among = <T extends { readonly turn: string }>(turns: readonly T[]): readonly T[] => {
    const named = turns.filter(({ turn }) => quoted.has(turn));
    return named.length === 0 ? turns : turns.filter(({ turn }) => quoted.has(turn) || turn === proven);
  };
  const proven = procedure?.proof?.turn;
  const failures = among(cases);
  const digests = [...new Set(failures.flatMap(({ appraisal }) => appraisal.digests.map(plainDigest)))];
  const seen = digests.slice(0, 3).map((digest) => `\`${digest}\``);
  return {
    name: nameExperience(pattern),
    description: `When ${pattern}.`,
    content: [
      insight,
      ...(steps === '' ? [] : [steps]),
      ...(seen.length === 0 ? [] : [`It went wrong with: ${seen.join(', ')}`]),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    keywords,
    triggers,
    scope,
    failures,
    successes: among(successes),
  };
}

const plainDigest = (digest: string): string => oneLine(digest).replaceAll('`', "'").slice(0, 120);

const MOST_STEPS = 12;
const MOST_FILES = 4;
const FEWEST_STEPS = 2;
const MOST_FAILED = 4;
const LONGEST_DESCRIPTION = 280;

/**
 * A procedure in a fixed frame, with its calls letter by letter. Undefined where it would not be one: no proof, no way that
 * failed, a single step, a step that cannot be quoted whole, or so many edited files that the work was the edits.
 */
function writeProcedure({ steps, failed, proof }: Procedure): CallNote | undefined {
  const tried = failed.flatMap((one) => {
    const call = quoteCall(one);
    return call === undefined
      ? []
      : [{ call, error: one.digest === undefined ? undefined : inlineCode(one.digest) }];
  });
  const done = steps.map((step) => (step.path === undefined ? quoteCall(step) : inlineCode(step.path)));
  const files = steps.filter(({ path }) => path !== undefined);
  const calls = done.filter((_, at) => steps[at]?.path === undefined);
  const [first] = tried;
  if (proof?.proof === undefined || first === undefined || done.includes(undefined)) return undefined;
  if (calls.length < FEWEST_STEPS || files.length > MOST_FILES || steps.length > MOST_STEPS) return undefined;
  const lines = steps.map((step, at) => `${at + 1}. ${step.path === undefined ? '' : 'Change '}${done[at]}`);
  const task = taskLine(proof.task ?? '');
  return {
    name: `how-to-${nameExperience(task === '' ? callText(proof, readToolInput(proof.input)) : task)}`,
    description: describe(
      calls.flatMap((call) => call ?? []),
      first.call,
    ),
    content: [
      'This worked here, in this order:',
      lines.join('\n'),
      `The last of them showed it: ${proof.proof}.`,
      'This did not work:',
      tried
        .slice(0, MOST_FAILED)
        .map(({ call, error }) => `- Not ${call}${error === undefined ? '' : `, which ended with ${error}`}`)
        .join('\n'),
    ].join('\n\n'),
    keywords: keywordsOf(
      `${task} ${calls.join(' ')} ${failed.map(({ digest }) => digest ?? '').join(' ')}`,
      8,
    ),
  };
}

/** The point in one line: the commands that worked, and the one that did not. */
function describe(calls: readonly string[], failed: string): string {
  const all = `${calls.join(', then ')} worked here, not ${failed}.`;
  if (all.length <= LONGEST_DESCRIPTION) return all;
  return truncateEnd(
    `${calls.at(-1)} worked here, after ${calls[0]}; ${failed} did not.`,
    LONGEST_DESCRIPTION,
  );
}

/** A call as code, letter by letter; undefined for scripts of several lines and for what does not fit. */
function quoteCall(attempt: ToolAttempt): string | undefined {
  const input = readToolInput(attempt.input);
  const text = callText(attempt, input);
  // Blanks inside of a command may matter: what cannot be quoted as it was sent is not quoted.
  const isExact =
    input.kind !== 'command' || !/[ \t]{2,}|\\[nt]/.test(attempt.input.replace(/":\s+"/g, '":"'));
  return oneLine(text) === '' || !isExact ? undefined : inlineCode(text);
}
