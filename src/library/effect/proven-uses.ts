/** Sessions in which a lesson was shown and that came out well: how many, and the last few. */
export interface ProvenUses {
  readonly count: number;
  /** Oldest first. */
  readonly recent: readonly Use[];
}

export interface Use {
  readonly at: number;
  /** 0 to 1: how well the session came out. */
  readonly weight: number;
}

export const NO_USES: ProvenUses = { count: 0, recent: [] };

/** A score from here on is a session that came out well. */
const WELL = 0.5;
/** More would change nothing: what is remembered of a lesson is complete after a handful of traces. */
const MOST_RECENT = 12;

export function addUse(uses: ProvenUses, { at, weight }: Use): ProvenUses {
  if (weight < WELL) return uses;
  return { count: uses.count + 1, recent: [...uses.recent, { at, weight }].slice(-MOST_RECENT) };
}
