import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';
import type { StoredFact } from '../../core/fact.ts';
import { candidateTypeOf, DEFAULT_DIGEST, digestRecords, type RegisteredKinds } from './digest.ts';
import { learningRecordOf } from './learning-records.ts';

/** The newest that are kept; what is older has had its time. */
export const MOST_RECORDS = 20_000;

/**
 * The newest learning records, and what is new of them. A run of the digest looks at the places (label and scope) that have a new
 * record: its time grows with what is new, not with what there is.
 */
export interface RecordWindow {
  add(stored: StoredFact): void;
  /** Drafts of the places with new records, the best first. Those that the limit leaves out are in the next run. */
  digest(taken: ReadonlySet<string>): readonly CandidateDraft[];
  /** The records of the label, scope and principal of a draft, oldest first. */
  alike(draft: Pick<CandidateDraft, 'scope' | 'sourceLabel' | 'member'>): readonly LearningRecord[];
  record(id: string): LearningRecord | undefined;
  readonly size: number;
  /** Whether a run of the digest has something to look at. */
  readonly hasNews: boolean;
}

export function createRecordWindow(
  registered: () => RegisteredKinds = () => new Map(),
  most = MOST_RECORDS,
): RecordWindow {
  const records = new Map<string, LearningRecord>();
  const places = new Map<string, LearningRecord[]>();
  const news = new Set<string>();
  /** Drafts that the limit left out, the best first. */
  let waiting: readonly CandidateDraft[] = [];
  const dropOldest = (): void => {
    for (const [id, record] of records) {
      if (records.size <= most) return;
      records.delete(id);
      const place = placeOf(record);
      const here = places.get(place);
      here?.shift();
      if (here?.length === 0) places.delete(place);
    }
  };
  return {
    add: (stored) => {
      const record = learningRecordOf(stored);
      if (record === undefined || records.has(record.id)) return;
      records.set(record.id, record);
      const place = placeOf(record);
      const here = places.get(place);
      if (here === undefined) places.set(place, [record]);
      else here.push(record);
      if (candidateTypeOf(record.kind, registered()) !== undefined) news.add(place);
      dropOldest();
    },
    digest: (taken) => {
      if (news.size > 0) {
        // A draft that waits is replaced by what its place drafts now.
        waiting = waiting.filter((draft) => !news.has(placeOf(draft)));
        const looked = [...news].flatMap((place) => places.get(place) ?? []);
        const drafts = digestRecords(looked, taken, registered(), {
          ...DEFAULT_DIGEST,
          limit: looked.length,
        });
        waiting = [...waiting, ...drafts].toSorted((a, b) => b.score - a.score);
        news.clear();
      }
      const now = waiting.slice(0, DEFAULT_DIGEST.limit);
      waiting = waiting.slice(DEFAULT_DIGEST.limit);
      return now.filter(({ dedupeKey }) => !taken.has(dedupeKey));
    },
    alike: (draft) => places.get(placeOf(draft)) ?? [],
    record: (id) => records.get(id),
    get size() {
      return records.size;
    },
    get hasNews() {
      return news.size > 0 || waiting.length > 0;
    },
  };
}

const placeOf = ({
  sourceLabel,
  scope,
  member = '',
}: Pick<LearningRecord, 'sourceLabel' | 'scope' | 'member'>): string =>
  JSON.stringify([sourceLabel, scope.type, scope.id, member]);
