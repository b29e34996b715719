import type { CheckedWork, RuleCheck } from '../../core/check.ts';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Ask, DecidedChanges, Learner } from '../../core/learn.ts';
import { isInUse, type Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { answeredRequests } from '../../evidence/checked-work.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { type CheckEvidence, MOST_OUTSIDE_ANSWERS } from '../../lessons/checks/accept-check.ts';
import {
  checkFromWords,
  chooseCheck,
  createOutsideTest,
  draftJudge,
} from '../../lessons/checks/draft-check.ts';
import type { RuleEvidence } from '../../lessons/checks/rule-material.ts';
import { runWholeCheck } from '../../lessons/checks/run-check.ts';
import { titleOf } from '../../lessons/title.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import type { WriterAccess } from '../asked-models.ts';
import { cycleIdOf } from '../cycle.ts';
import { stuckBy } from '../draft-lesson.ts';
import type { FactFold, LearningState } from '../learning-state.ts';
import { lastTryOf, nextMidnight } from '../pauses.ts';
import type { LearnerRow, LearningPiece } from '../runner.ts';
import { writeCheckQuestion } from './check-question.ts';
import { createSlowTests } from './slow-tests.ts';

interface CheckRowsOptions {
  readonly library: Pick<Library, 'lessons'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly records: Pick<Records, 'turn' | 'turns'>;
  readonly writer: Pick<WriterAccess, 'model' | 'askAbout'>;
  readonly hasSecret: (text: string) => boolean;
  readonly clock: Clock;
}

interface CheckRows {
  /** From the words of the rule and the two answers. */
  readonly words: LearnerRow;
  /** From a model, where the words gave no check with proof. */
  readonly models: LearnerRow;
  /** Which rules were tried, and which sessions there were. */
  readonly fold: FactFold;
}

const CHECKS = 'checks';
const CHECKS_MODEL = 'checks-model';
const MOST_OF_ROUND = 16;
/** Questions of one round: other work does not wait behind them. */
const MOST_QUESTIONS = 2;
const MOST_SESSIONS = 400;
/** After so long the answer to a correction does not come any more. */
const LONGEST_ANSWER_MS = 3_600_000;

/** A lesson with what its check is drafted from. `isWaiting`: the answer to the person's words is still being given. */
interface CheckMaterial {
  readonly lesson: Lesson;
  readonly evidence: RuleEvidence;
  readonly tests: CheckEvidence;
  readonly session?: string;
  readonly isWaiting: boolean;
}

/**
 * Gives the rules that people stated a check. A rule is tried once for its words and its evidence: the end of the cycle is the fact that
 * says so, and the change set has the same key, so that a kill repeats nothing twice.
 */
export function createCheckRows(options: CheckRowsOptions): CheckRows {
  const { library, clock } = options;
  const tried = new Set<string>();
  const sessions = new Set<string>();
  const readMaterial = createMaterialReader(options, () => [...sessions]);
  const isDue = (lesson: Lesson): boolean => isUnproven(lesson) && !tried.has(wordsKey(lesson));
  const isDueForModel =
    (state: LearningState, now: number) =>
    (lesson: Lesson): boolean =>
      isUnproven(lesson) &&
      tried.has(wordsKey(lesson)) &&
      !tried.has(modelKey(lesson)) &&
      state.queuePauses.isOver(modelKey(lesson), now);

  return {
    fold: {
      add: ({ fact }: StoredFact) => {
        if (fact.type === 'turn-appraised') addNewest(sessions, fact.session);
        if (fact.type !== 'cycle-end' || (fact.learner !== CHECKS && fact.learner !== CHECKS_MODEL)) return;
        for (const item of fact.items) tried.add(item);
      },
    },
    words: {
      name: CHECKS,
      fault: 'rules could not be given checks',
      due: () => library.lessons().some(isDue),
      learn: wordsLearner,
      material: async function* () {
        for (const lesson of firstOf(library.lessons(), isDue, MOST_OF_ROUND)) {
          const material = await readMaterial(lesson);
          if (!material.isWaiting) yield pieceOf(wordsKey(lesson), material, clock);
        }
      },
    },
    models: {
      name: CHECKS_MODEL,
      fault: 'a model could not be asked for checks',
      due: (state, now) => library.lessons().some(isDueForModel(state, now)),
      learn: modelLearner,
      material: async function* (state) {
        const wanted = isDueForModel(state, clock.now());
        for (const lesson of firstOf(library.lessons(), wanted, MOST_QUESTIONS)) {
          const material = await readMaterial(lesson);
          const ask = await askFor(material, options.writer);
          if (ask === undefined || material.isWaiting) continue;
          const key = modelKey(lesson);
          const piece = pieceOf(key, material, clock);
          yield {
            ...piece,
            ask,
            facts: (end, isRetryable) => {
              if (isRetryable && end.outcome !== 'aborted')
                state.queuePauses.postpone(key, clock.now(), lastTryOf(end), nextMidnight(clock.now()));
              return isRetryable ? [] : piece.facts(end, isRetryable);
            },
          };
        }
      },
    },
  };
}

/** Stops looking when it has enough: a large library is looked through in many rounds. */
function firstOf(lessons: readonly Lesson[], isWanted: (lesson: Lesson) => boolean, most: number): Lesson[] {
  const found: Lesson[] = [];
  for (const lesson of lessons) {
    if (found.length === most) break;
    if (isWanted(lesson)) found.push(lesson);
  }
  return found;
}

/** In force, a person's word, and without a check that was proven. */
const isUnproven = (lesson: Lesson): boolean =>
  isInUse(lesson) &&
  isPersonsWord(lesson) &&
  !lesson.frozen &&
  (lesson.check === undefined || (lesson.check.standing === 'provisional' && lesson.check.by !== 'person'));

/** Every look asks for the keys of all rules: each is hashed once. A revised lesson is another object. */
function keptOf(keyOf: (lesson: Lesson) => string): (lesson: Lesson) => string {
  const keys = new WeakMap<Lesson, string>();
  return (lesson) => {
    const known = keys.get(lesson) ?? keyOf(lesson);
    keys.set(lesson, known);
    return known;
  };
}

/** New evidence for the same words is another try: it may prove what was provisional. */
const wordsKey = keptOf(
  ({ id, text }) => `${CHECKS}:${cycleIdOf([id, text.description, text.evidence.turns])}`,
);
/** A model is asked once about the same words. */
const modelKey = keptOf(({ id, text }) => `${CHECKS_MODEL}:${cycleIdOf([id, text.description])}`);

function addNewest(sessions: Set<string>, session: string): void {
  sessions.delete(session);
  sessions.add(session);
  const [oldest] = sessions;
  if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
}

/** The words of the rule, without the quotation marks around all of them. */
const ruleOf = ({ text }: Lesson): string => text.description.replace(/^"([\s\S]*)"$/, '$1');

const pieceOf = (key: string, material: CheckMaterial, clock: Clock): LearningPiece => ({
  id: key,
  material,
  cases: [],
  items: [key],
  facts: (end) => (end.outcome === 'aborted' ? [] : [{ at: clock.now(), fact: { ...end, items: [key] } }]),
});

const wordsLearner: Learner<CheckMaterial> = {
  name: CHECKS,
  async *learn({ material }) {
    const { lesson, evidence, tests } = material;
    const result = await checkFromWords(evidence, tests);
    if (result.ok) yield decided(wordsKey(lesson), lesson, result.check);
  },
};

type Asked = readonly [check: RuleCheck, work: CheckedWork];

const modelLearner: Learner<CheckMaterial> = {
  name: CHECKS_MODEL,
  async *learn({ material, ask, newId, signal }) {
    const { lesson, evidence, tests } = material;
    if (ask === undefined) return;
    const answer = await ask(writeCheckQuestion(evidence, newId('mark')), signal);
    if (!answer.ok) return yield stuckBy(answer);
    const slow = createSlowTests({ ask, signal });
    const asked = { ...tests, ask: (...of: Asked) => runWholeCheck(...of, slow.ask) };
    const result = await chooseCheck([...answer.value, draftJudge(evidence)], asked);
    const fault = result.ok ? undefined : slow.fault();
    if (fault !== undefined) return yield { stuck: fault, isRetryable: true };
    const isBetter = result.ok && (lesson.check === undefined || result.check.standing === 'accepted');
    if (isBetter) yield decided(modelKey(lesson), lesson, result.check);
  },
};

const decided = (key: string, lesson: Lesson, check: RuleCheck): DecidedChanges => ({
  set: {
    id: key,
    by: { kind: 'learner', name: CHECKS },
    reason: `a check of “${titleOf(lesson)}”: ${check.proof}`,
    changes: [{ op: 'check', id: lesson.id, check }],
  },
});

/** Where the words came from a session, the model must be one that may be shown it. */
async function askFor(
  { session }: CheckMaterial,
  writer: CheckRowsOptions['writer'],
): Promise<Ask | undefined> {
  if (session !== undefined) return writer.askAbout(session);
  const model = await writer.model();
  return model?.onlyFor === undefined ? model?.ask : undefined;
}

type ReadMaterial = (lesson: Lesson) => Promise<CheckMaterial>;

function createMaterialReader(
  { evidence, records, hasSecret, clock }: CheckRowsOptions,
  sessions: () => readonly string[],
): ReadMaterial {
  const otherAnswers = async (rule: RuleEvidence): Promise<readonly CheckedWork[]> => {
    const outside: CheckedWork[] = [];
    const isOutside = createOutsideTest(rule);
    for (const session of sessions().toReversed()) {
      const works = answeredRequests(await evidence.turns(session)).map(({ work }) => work);
      outside.unshift(...works.filter(isOutside));
      if (outside.length >= MOST_OUTSIDE_ANSWERS) break;
    }
    return outside;
  };
  return async (lesson) => {
    const rule = ruleOf(lesson);
    const answers = await readAnswers(lesson, { evidence, records });
    const { corrected, revised, request, session, lastTurn } = answers;
    const words: RuleEvidence = { rule, corrected, revised, request };
    const startedAt = lastTurn === undefined ? undefined : (await records.turn(lastTurn))?.startedAt;
    const isWaiting =
      answers.isOpen && startedAt !== undefined && clock.now() - startedAt < LONGEST_ANSWER_MS;
    const isConditional = createOutsideTest(words)({ request: '', reply: '', files: [], commands: [] });
    let read: Promise<readonly CheckedWork[]> | undefined;
    const outside = async (): Promise<readonly CheckedWork[]> => {
      if (!isConditional) return [];
      read ??= otherAnswers(words);
      return read;
    };
    const tests: CheckEvidence = { corrected, revised, outside, hasSecret };
    return { lesson, evidence: words, tests, isWaiting, ...(session === undefined ? {} : { session }) };
  };
}

interface RuleAnswers {
  readonly corrected?: CheckedWork;
  readonly revised?: CheckedWork;
  readonly request?: string;
  readonly session?: string;
  readonly lastTurn?: string;
  /** The answer to the person's words is not finished. */
  readonly isOpen: boolean;
}

/** The answer that the newest words of the rule were about, and the one that followed them. */
async function readAnswers(
  { text }: Lesson,
  { evidence, records }: Pick<CheckRowsOptions, 'evidence' | 'records'>,
): Promise<RuleAnswers> {
  let answers: RuleAnswers = { isOpen: false };
  for (const turn of text.evidence.turns.toReversed()) {
    const session = (await records.turn(turn))?.session;
    if (session === undefined) continue;
    const requests = answeredRequests(await evidence.turns(session));
    const at = requests.findIndex(({ turns }) => turns.some((one) => one.evidence.turn === turn));
    const remarked = requests[at]?.turns.find((one) => one.evidence.turn === turn);
    const [work, after] = [requests[at]?.work, requests[at + 1]];
    if (work === undefined || remarked === undefined) continue;
    const lastTurn = requests.at(-1)?.turns.at(-1)?.evidence.turn;
    const place = { session, request: work.request, ...(lastTurn === undefined ? {} : { lastTurn }) };
    // A remark that blames nothing says nothing about the answer before it.
    if (remarked.appraisal.correction === undefined && remarked.appraisal.verdict !== 'failure') {
      answers = { ...place, isOpen: false };
      continue;
    }
    const isRevised = remarked.evidence.next?.user !== undefined && after !== undefined;
    if (!isRevised) return { ...place, corrected: work, isOpen: remarked.evidence.next?.user !== undefined };
    return { ...place, corrected: work, revised: after.work, isOpen: !after.isDone };
  }
  return answers;
}
