import { hash } from 'node:crypto';
import type { CandidateDraft } from '../../core/adapt.ts';
import type { Clock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import type { Learner, Proposal } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import { OVERLAY_KINDS } from '../../core/overlay.ts';
import type { Records } from '../../core/store.ts';
import { type CycleOptions, cycleIdOf } from '../cycle.ts';
import { draftLesson, uniqueLessonName } from '../draft-lesson.ts';
import type { FactFold } from '../learning-state.ts';
import type { LearnerRow } from '../runner.ts';
import { type JudgeOverlayOptions, judgeOverlay } from './judge-overlay.ts';
import { createRecordWindow, MOST_RECORDS } from './learning-records.ts';
import { createReporters, type SupportedCandidate, supportedCandidate } from './support-candidate.ts';

interface AdaptationOptions {
  readonly records: Pick<Records, 'newestOf' | 'session' | 'sessions' | 'turns'>;
  readonly library: Library;
  readonly rules: JudgeOverlayOptions;
  readonly clock: Clock;
  readonly journal: (note: string) => void;
}

export const ADAPTATION = 'adaptation';

/** Proposes what new events suggest and other events support. Opens with the newest events of the record; from then on it follows them. */
export async function openAdaptation(options: AdaptationOptions): Promise<LearnerRow & FactFold> {
  const { records, library, rules, clock, journal } = options;
  const window = createRecordWindow();
  for (const stored of await records.newestOf('event-reported', MOST_RECORDS)) window.add(stored);
  const reporters = createReporters(records);
  return {
    name: ADAPTATION,
    add: (stored) => window.add(stored),
    due: () => window.hasNews,
    learn: createAdaptation(library),
    material: async function* () {
      while (window.hasNews) {
        const supported: SupportedCandidate[] = [];
        for (const draft of window.digest(takenKeys(library))) {
          const result = await supportedCandidate(draft, window, reporters);
          if (result.ok) supported.push(result.candidate);
          else journal(`${draft.dedupeKey}: ${result.why}`);
        }
        if (supported.length === 0) continue;
        const marks = supported.map(({ draft }) => [draft.dedupeKey, draft.records]);
        const end = yield {
          id: cycleIdOf(marks),
          material: supported,
          cases: [],
          items: [],
          gate: createOverlayGate(supported, library, rules),
          facts: (ended) => [{ at: clock.now(), fact: ended }],
        };
        if (end?.outcome === 'aborted') return;
      }
    },
  };
}

const createOverlayGate =
  (
    supported: readonly SupportedCandidate[],
    library: Library,
    rules: JudgeOverlayOptions,
  ): CycleOptions['gate'] =>
  async ({ change }) => {
    const own = supported.find(({ draft }) => change.op === 'add' && lessonIdOf(draft) === change.id);
    if (own === undefined || change.op !== 'add') return { outcome: 'refused', why: ['it is no candidate'] };
    return judgeOverlay(
      change,
      { records: own.records, hasWords: own.overlay.hasWords, doubt: own.doubt },
      library,
      rules,
    );
  };

/** Candidates whose lesson exists, in whatever state: what a person rejected, or a measurement retired, is not proposed again. */
const takenKeys = (library: Pick<Library, 'lessons'>): ReadonlySet<string> =>
  new Set(library.lessons().flatMap(({ text }) => text.overlay?.from?.key ?? []));

export const lessonIdOf = ({ dedupeKey }: Pick<CandidateDraft, 'dedupeKey'>): string =>
  `adapt_${hash('sha256', dedupeKey).slice(0, 20)}`;

const HALF_LIFE_DAYS = 30;

/** The learner of the adaptation engine: one lesson for each candidate. Its candidates are of several principals, and names are unique. */
const createAdaptation = (all: Pick<Library, 'lessons'>): Learner<readonly SupportedCandidate[]> => ({
  name: ADAPTATION,
  async *learn({ material }) {
    const taken = new Set(all.lessons().map(({ text }) => text.name));
    for (const candidate of material) {
      const name = uniqueLessonName(candidate.overlay.name, taken);
      taken.add(name);
      yield proposalOf(candidate, name);
    }
  },
});

function proposalOf({ draft, support, overlay, onlyFor }: SupportedCandidate, name: string): Proposal {
  const { score, matches, mean } = support;
  const { description, payload, scope, hasWords } = overlay;
  const reach =
    onlyFor === undefined || hasWords ? '' : `\nIt acts on requests with the key ${onlyFor} alone.`;
  const content = `${overlay.content}${reach}`;
  const text = draftLesson({
    name,
    description,
    content,
    scope,
    context: `candidate ${draft.dedupeKey}`,
    keywords: [],
    tags: [draft.type],
    importance: 0.5,
    confidence: Math.min(1, score / 100),
    source: 'inferred',
    halfLifeDays: HALF_LIFE_DAYS,
    learner: ADAPTATION,
    turns: [],
    overlay: {
      payload,
      from: {
        key: draft.dedupeKey,
        ...compact({ onlyFor }),
        score: Number(score.toFixed(1)),
        draftScore: draft.score,
        matches,
        mean: Number(mean.toFixed(1)),
        records: draft.records,
      },
    },
  });
  const kind = OVERLAY_KINDS[draft.type];
  return { change: { op: 'add', id: lessonIdOf(draft), kind, state: 'proposed', text }, quotes: [] };
}
