import type { Appraisal, TurnEvidence, Verdict } from '../../../src/core/evidence.ts';

export const TURN_LABELS: readonly Verdict[] = ['success', 'failure', 'infrastructure', 'ambiguous'];

export interface LabelledTurn {
  readonly id: string;
  readonly label: Verdict;
  readonly client: string;
  readonly note: string;
  /** What one of the turn's digests must say. */
  readonly digest?: string;
  readonly evidence: TurnEvidence;
}

export interface HitRate {
  readonly of: number;
  readonly hits: number;
}

interface LabelScore {
  readonly label: Verdict;
  /** Of the turns with this verdict, those with this label. */
  readonly precision: HitRate;
  /** Of the turns with this label, those with this verdict. */
  readonly recall: HitRate;
}

interface WrongTurn {
  readonly id: string;
  readonly client: string;
  readonly label: Verdict;
  readonly verdict: Verdict;
  readonly note: string;
  /** The signals that were seen, with what they say. */
  readonly signals: readonly string[];
}

export interface TurnScores {
  readonly turns: number;
  /** Turns whose verdict is the label. */
  readonly exact: HitRate;
  readonly labels: readonly LabelScore[];
  /** Of the turns judged as failures, those labelled as failures. */
  readonly precision: HitRate;
  /** Of the labelled failures, those that were found. */
  readonly recall: HitRate;
  /** Of the infrastructure turns, those judged as success or failure. */
  readonly taught: HitRate;
  /** Of the infrastructure turns, those judged as failures. */
  readonly blamed: HitRate;
  /** Of the turns with an expected digest, those of which one digest is that. */
  readonly digests: HitRate;
  readonly confusion: Readonly<Record<Verdict, Readonly<Record<Verdict, number>>>>;
  readonly signals: readonly SignalScore[];
  readonly clients: readonly {
    readonly client: string;
    readonly exact: HitRate;
    readonly precision: HitRate;
    readonly recall: HitRate;
  }[];
  readonly wrong: readonly WrongTurn[];
  readonly wrongDigests: readonly {
    readonly id: string;
    readonly expected: string;
    readonly found: readonly string[];
  }[];
}

/** Precision and recall of one signal on its own. */
interface SignalScore {
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
  const labels = TURN_LABELS.map((label) => scoreLabel(rows, label));
  const outages = rows.filter(({ label }) => label === 'infrastructure');
  const digested = rows.filter(({ digest }) => digest !== undefined);
  return {
    turns: rows.length,
    exact: exactOf(rows),
    labels,
    ...failuresOf(rows),
    taught: share(outages, ({ opinion: { verdict } }) => verdict === 'success' || verdict === 'failure'),
    blamed: share(outages, ({ opinion }) => opinion.verdict === 'failure'),
    digests: share(digested, isDigested),
    confusion: tally(rows),
    signals: signalsOf(rows),
    clients: clients.map((client) => {
      const own = rows.filter((row) => row.client === client);
      return { client, exact: exactOf(own), ...failuresOf(own) };
    }),
    wrong: rows.filter(({ label, opinion }) => label !== opinion.verdict).map(describeWrong),
    wrongDigests: digested
      .filter((row) => !isDigested(row))
      .map(({ id, digest = '', opinion }) => ({ id, expected: digest, found: opinion.digests })),
  };
}

const isDigested = ({ digest = '', opinion }: Row): boolean =>
  opinion.digests.some((found) => isSameDigest(digest, found));

const describeWrong = ({ id, client, label, note, opinion }: Row): WrongTurn => ({
  id,
  client,
  label,
  verdict: opinion.verdict,
  note,
  signals: opinion.signals.map(({ name, reason }) => `${name}: ${reason}`),
});

const share = (rows: readonly Row[], isHit: (row: Row) => boolean): HitRate => ({
  of: rows.length,
  hits: rows.filter(isHit).length,
});

const exactOf = (rows: readonly Row[]): HitRate =>
  share(rows, ({ label, opinion }) => label === opinion.verdict);

const scoreLabel = (rows: readonly Row[], label: Verdict): LabelScore => ({
  label,
  precision: share(
    rows.filter(({ opinion }) => opinion.verdict === label),
    (row) => row.label === label,
  ),
  recall: share(
    rows.filter((row) => row.label === label),
    ({ opinion }) => opinion.verdict === label,
  ),
});

function failuresOf(rows: readonly Row[]): Pick<TurnScores, 'precision' | 'recall'> {
  const { precision, recall } = scoreLabel(rows, 'failure');
  return { precision, recall };
}

function tally(rows: readonly Row[]): TurnScores['confusion'] {
  const count = (label: Verdict, verdict: Verdict): number =>
    rows.filter((row) => row.label === label && row.opinion.verdict === verdict).length;
  const line = (label: Verdict) =>
    Object.fromEntries(TURN_LABELS.map((verdict) => [verdict, count(label, verdict)]));
  return Object.fromEntries(TURN_LABELS.map((label) => [label, line(label)])) as TurnScores['confusion'];
}

function signalsOf(rows: readonly Row[]): readonly SignalScore[] {
  const seen = rows.flatMap(({ opinion }) => opinion.signals).filter(({ source }) => isCounted(source));
  const names = [...new Set(seen.map(({ name }) => name))].sort();
  return names.flatMap((name): readonly SignalScore[] =>
    (['failure', 'success', 'infrastructure'] as const).flatMap((says) => {
      const speaks = ({ opinion }: Row): boolean =>
        opinion.signals.some(
          (signal) => signal.name === name && isCounted(signal.source) && sideOf(signal) === says,
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

/** Signals of the rules; people, verifiers and judges are not measured here. */
const isCounted = (source: string): boolean => source === 'signal' || source === 'chat';

const sideOf = ({ name, score }: { readonly name: string; readonly score: number }): SignalScore['says'] =>
  name === 'infrastructure' ? 'infrastructure' : score < 0.5 ? 'failure' : 'success';

/** A digest, cut into its parts: `TimeoutError @ src/main.py:42`, `TS2322`, `src/main.py:42`. */
interface DigestParts {
  readonly kind?: string;
  readonly file?: string;
  readonly line?: string;
}

/**
 * Whether a digest says what was expected. The kind must be equal, without case and without the package before it
 * (`java.lang.NullPointerException`); the file and the line must be equal too when they are given, where a path may be given
 * from any of its folders on. What the expected one leaves out is not compared.
 */
function isSameDigest(expected: string, found: string): boolean {
  const wanted = partsOf(expected);
  const given = partsOf(found);
  if (wanted.kind !== undefined && bare(wanted.kind) !== bare(given.kind ?? '')) return false;
  if (wanted.file !== undefined && !isSameFile(wanted.file, given.file ?? '')) return false;
  return wanted.line === undefined || wanted.line === given.line;
}

function partsOf(digest: string): DigestParts {
  const text = digest.trim();
  const at = text.lastIndexOf(' @ ');
  const place = /^(\S{1,300}?)(?::(\d{1,7}))?(?::\d{1,7})?$/.exec(at >= 0 ? text.slice(at + 3).trim() : text);
  const isPlace = at >= 0 || (place?.[2] !== undefined && /[./\\]/.test(place[1] ?? ''));
  if (!isPlace || place === null) return { kind: at >= 0 ? text.slice(0, at) : text };
  const [, file = '', line] = place;
  return {
    ...(at > 0 ? { kind: text.slice(0, at) } : {}),
    file,
    ...(line === undefined ? {} : { line }),
  };
}

/** `java.lang.NullPointerException` and `NullPointerException` are one kind; `E0308` keeps its form. */
const bare = (kind: string): string => {
  const word = kind.trim().toLowerCase();
  return word.includes(' ') ? word : word.slice(word.lastIndexOf('.') + 1);
};

function isSameFile(wanted: string, given: string): boolean {
  const [one, other] = [wanted, given].map((path) => path.replaceAll('\\', '/').replace(/^\.\//, ''));
  if (one === undefined || other === undefined || other === '') return false;
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
