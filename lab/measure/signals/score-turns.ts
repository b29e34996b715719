import type { Appraisal, TurnEvidence, Verdict } from '../../../src/core/evidence.ts';

export const TURN_LABELS: readonly Verdict[] = ['success', 'failure', 'infrastructure', 'ambiguous'];

export interface LabelledTurn {
  readonly label: Verdict;
  readonly client: string;
  readonly note: string;
  readonly evidence: TurnEvidence;
}

export interface HitRate {
  readonly of: number;
  readonly hits: number;
}

export interface TurnScores {
  readonly turns: number;
  /** Turns whose verdict is the label. */
  readonly exact: HitRate;
  /** Of the turns judged as failures, those labelled as failures. */
  readonly precision: HitRate;
  /** Of the labelled failures, those that were found. */
  readonly recall: HitRate;
  /** Of the infrastructure failures, those judged as success or failure. */
  readonly taught: HitRate;
  readonly confusion: Readonly<Record<Verdict, Readonly<Record<Verdict, number>>>>;
  readonly signals: readonly SignalScore[];
  readonly clients: readonly {
    readonly client: string;
    readonly precision: HitRate;
    readonly recall: HitRate;
  }[];
  readonly wrong: readonly string[];
}

/** Precision and recall of one signal on its own. */
export interface SignalScore {
  readonly name: string;
  readonly says: 'failure' | 'success' | 'infrastructure';
  readonly precision: HitRate;
  readonly recall: HitRate;
}

interface Row extends LabelledTurn {
  readonly opinion: Appraisal;
}

export function scoreTurns(
  turns: readonly LabelledTurn[],
  appraise: (evidence: TurnEvidence) => Appraisal,
): TurnScores {
  const rows: readonly Row[] = turns.map((turn) => ({ ...turn, opinion: appraise(turn.evidence) }));
  const clients = [...new Set(rows.map(({ client }) => client))];
  return {
    turns: rows.length,
    exact: share(rows, ({ label, opinion }) => label === opinion.verdict),
    ...failuresOf(rows),
    taught: share(
      rows.filter(({ label }) => label === 'infrastructure'),
      ({ opinion: { verdict } }) => verdict === 'success' || verdict === 'failure',
    ),
    confusion: tally(rows),
    signals: signalsOf(rows),
    clients: clients.map((client) => ({
      client,
      ...failuresOf(rows.filter((row) => row.client === client)),
    })),
    wrong: rows
      .filter(({ label, opinion }) => label !== opinion.verdict)
      .map(
        (row) =>
          `${row.evidence.turn} (${row.client}): ${row.label}, judged ${row.opinion.verdict}: ${row.note}`,
      ),
  };
}

const share = (rows: readonly Row[], isHit: (row: Row) => boolean): HitRate => ({
  of: rows.length,
  hits: rows.filter(isHit).length,
});

const failuresOf = (rows: readonly Row[]): Pick<TurnScores, 'precision' | 'recall'> => ({
  precision: share(
    rows.filter(({ opinion }) => opinion.verdict === 'failure'),
    ({ label }) => label === 'failure',
  ),
  recall: share(
    rows.filter(({ label }) => label === 'failure'),
    ({ opinion }) => opinion.verdict === 'failure',
  ),
});

function tally(rows: readonly Row[]): TurnScores['confusion'] {
  const count = (label: Verdict, verdict: Verdict): number =>
    rows.filter((row) => row.label === label && row.opinion.verdict === verdict).length;
  const line = (label: Verdict) =>
    Object.fromEntries(TURN_LABELS.map((verdict) => [verdict, count(label, verdict)]));
  return Object.fromEntries(TURN_LABELS.map((label) => [label, line(label)])) as TurnScores['confusion'];
}

function signalsOf(rows: readonly Row[]): readonly SignalScore[] {
  const seen = rows.flatMap(({ opinion }) => opinion.signals).filter(({ source }) => source === 'signal');
  const names = [...new Set(seen.map(({ name }) => name))].sort();
  return names.flatMap((name): readonly SignalScore[] =>
    (['failure', 'success', 'infrastructure'] as const).flatMap((says) => {
      const speaks = ({ opinion }: Row): boolean =>
        opinion.signals.some(
          (signal) => signal.name === name && signal.source === 'signal' && sideOf(signal) === says,
        );
      const spoken = rows.filter(speaks);
      if (spoken.length === 0) return [];
      const precision = share(spoken, ({ label }) => label === says);
      return [
        {
          name,
          says,
          precision,
          recall: share(
            rows.filter(({ label }) => label === says),
            speaks,
          ),
        },
      ];
    }),
  );
}

const sideOf = ({ name, score }: { readonly name: string; readonly score: number }): SignalScore['says'] =>
  name === 'infrastructure' ? 'infrastructure' : score < 0.5 ? 'failure' : 'success';
