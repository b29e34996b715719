/** Successful sessions in which a lesson was shown: their number, and the last few. */
export interface ProvenUses {
  readonly count: number;
  /** Oldest first. */
  readonly recent: readonly Use[];
}

export interface Use {
  readonly at: number;
  /** The session's score, 0 to 1. */
  readonly weight: number;
}

export const NO_USES: ProvenUses = { count: 0, recent: [] };

/** From this score on a session counts as successful. */
const WELL = 0.5;
/** More would not change the activation noticeably. */
const MOST_RECENT = 12;

export function addUse(uses: ProvenUses, { at, weight }: Use): ProvenUses {
  if (weight < WELL) return uses;
  return { count: uses.count + 1, recent: [...uses.recent, { at, weight }].slice(-MOST_RECENT) };
}
