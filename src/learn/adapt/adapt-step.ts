import { hash } from 'node:crypto';
import type { CandidateDraft, CandidateType, LearningRecord } from '../../core/adapt.ts';
import type { Learner, Proposal } from '../../core/learn.ts';
import type { LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { OVERLAY_KINDS } from '../../core/overlay.ts';
import type { Records } from '../../core/store.ts';
import { type CycleEnd, type CycleOptions, runCycle } from '../cycle.ts';
import { uniqueLessonName } from '../draft-lesson.ts';
import type { WriteFacts } from '../evolve-step.ts';
import type { FactFold, LearningState } from '../learning-state.ts';
import { type CorroborateSettings, type Corroboration, corroborate } from './corroborate.ts';
import type { RegisteredKinds } from './digest.ts';
import { type DraftedOverlay, draftOverlay } from './draft-overlay.ts';
import { isByOwner, type JudgeOverlayOptions, judgeOverlay } from './judge-overlay.ts';
import { createRecordWindow, MOST_RECORDS, type RecordWindow } from './record-window.ts';

interface AdaptStepOptions extends Pick<CycleOptions, 'clock' | 'newId' | 'journal' | 'signal'> {
  readonly records: Pick<Records, 'newestOf' | 'session'>;
  readonly library: Library;
  readonly rules: JudgeOverlayOptions & AdaptRules;
}

/** What a person may set. */
export interface AdaptRules extends CorroborateSettings {
  /** Kinds of events beside the known ones, and what each feeds. */
  readonly kinds: Readonly<Record<string, CandidateType>>;
}

export interface AdaptStep extends FactFold {
  readonly window: RecordWindow;
  /** Proposes what new events suggest and other events support. Without new events it does nothing. */
  learn(state: LearningState, write: WriteFacts, isStopped: () => boolean): Promise<void>;
}

/** A candidate that other records support, with its lesson. */
export interface SupportedCandidate {
  readonly draft: CandidateDraft;
  readonly support: Corroboration;
  readonly records: readonly LearningRecord[];
  readonly overlay: DraftedOverlay;
}

export const ADAPTATION = 'adaptation';

/** Opens with the newest events of the record; from then on it follows them. */
export async function openAdaptStep(options: AdaptStepOptions): Promise<AdaptStep> {
  const { records, library, rules, clock, newId, journal, signal } = options;
  const kinds: RegisteredKinds = new Map(Object.entries(rules.kinds));
  const window = createRecordWindow(() => kinds);
  for (const stored of await records.newestOf('event-reported', MOST_RECORDS)) window.add(stored);
  const isRecorded = createIsRecorded(records);
  return {
    window,
    add: (stored) => window.add(stored),
    learn: async (state, write, isStopped) => {
      while (window.hasNews && !isStopped()) {
        const drafts = window.digest(takenKeys(library));
        const supported: SupportedCandidate[] = [];
        for (const draft of drafts) {
          const found = await supportedCandidate(draft, window, rules, isRecorded);
          if ('why' in found) journal(`${draft.dedupeKey}: ${found.why}`);
          else supported.push(found);
        }
        if (supported.length === 0) continue;
        const end: CycleEnd & { isRetryable?: boolean } = await runCycle(
          {
            id: hash(
              'sha256',
              JSON.stringify(supported.map(({ draft }) => [draft.dedupeKey, draft.records])),
            ).slice(0, 24),
            learner: adaptation,
            material: supported,
            cases: [],
            items: [],
          },
          {
            library,
            ask: undefined,
            gate: async ({ change }) => {
              const own = supported.find(
                ({ draft }) => change.op === 'add' && lessonIdOf(draft) === change.id,
              );
              if (own === undefined || change.op !== 'add')
                return { outcome: 'refused', why: ['it is no candidate'] };
              return judgeOverlay(
                change,
                { records: own.records, hasWords: own.overlay.hasWords },
                library,
                rules,
              );
            },
            clock,
            newId,
            journal,
            signal: AbortSignal.any([signal, state.running.signal]),
          },
        );
        const { isRetryable: _, ...fact } = end;
        await write([{ at: clock.now(), fact }]);
        if (fact.outcome === 'aborted') return;
      }
    },
  };
}

/** A candidate with its support and its lesson; or why there is none. */
export async function supportedCandidate(
  draft: CandidateDraft,
  window: Pick<RecordWindow, 'alike' | 'record'>,
  settings: CorroborateSettings,
  isRecorded: (session: string) => Promise<boolean>,
): Promise<SupportedCandidate | { readonly why: string; readonly support: Corroboration }> {
  const alike: LearningRecord[] = [];
  for (const { session, ...record } of window.alike(draft)) {
    // A session that nobody recorded is a name that the reporter made up: it has no vote of its own, unless the owner says so.
    const isKnown = session !== undefined && (isByOwner(record) || (await isRecorded(session)));
    alike.push(isKnown ? { ...record, session } : record);
  }
  const support = corroborate(draft, alike, settings);
  if (!support.passes) return { why: 'other events do not support it', support };
  const used = draft.records.flatMap((id) => window.record(id) ?? []);
  const overlay = draftOverlay(draft, used);
  return 'why' in overlay ? { why: overlay.why, support } : { draft, support, records: used, overlay };
}

const MOST_SESSIONS = 4_096;

/** Remembered while it is true: a session does not go away, except by an erasure, and then its events have no data. */
export function createIsRecorded(records: Pick<Records, 'session'>): (session: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (session) => {
    if (known.has(session)) return true;
    if ((await records.session(session)) === undefined) return false;
    if (known.size >= MOST_SESSIONS) known.clear();
    known.add(session);
    return true;
  };
}

/** Candidates whose lesson exists, in whatever state: what a person rejected, or a measurement retired, is not proposed again. */
const takenKeys = (library: Pick<Library, 'lessons'>): ReadonlySet<string> =>
  new Set(library.lessons().flatMap(({ text }) => text.overlay?.from?.key ?? []));

export const lessonIdOf = ({ dedupeKey }: Pick<CandidateDraft, 'dedupeKey'>): string =>
  `adapt_${hash('sha256', dedupeKey).slice(0, 20)}`;

const HALF_LIFE_DAYS = 30;

/** The learner of the adaptation engine: one lesson for each candidate. */
const adaptation: Learner<readonly SupportedCandidate[]> = {
  name: ADAPTATION,
  async *learn({ material, library }) {
    const taken = new Set(library.lessons().map(({ text }) => text.name));
    for (const { draft, support, overlay } of material) {
      const name = uniqueLessonName(overlay.name, taken);
      taken.add(name);
      yield proposalOf(draft, support, overlay, name);
    }
  },
};

function proposalOf(
  draft: CandidateDraft,
  { score, matches, mean }: Corroboration,
  { description, content, payload, scope }: DraftedOverlay,
  name: string,
): Proposal {
  const text: LessonText = {
    name,
    description,
    content,
    scope,
    note: {
      context: `candidate ${draft.dedupeKey}`.slice(0, 400),
      keywords: [],
      tags: [draft.type],
      importance: 0.5,
      confidence: Math.min(1, score / 100),
      source: 'inferred',
      visibility: 'scoped',
      halfLifeDays: HALF_LIFE_DAYS,
      links: [],
    },
    evidence: { turns: [], quotes: [], learner: ADAPTATION },
    taint: [],
    overlay: {
      payload,
      from: {
        key: draft.dedupeKey,
        score: Number(score.toFixed(1)),
        draftScore: draft.score,
        matches,
        mean: Number(mean.toFixed(1)),
        records: draft.records,
      },
    },
  };
  const kind = OVERLAY_KINDS[draft.type];
  return { change: { op: 'add', id: lessonIdOf(draft), kind, state: 'proposed', text }, quotes: [] };
}
