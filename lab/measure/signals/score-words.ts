import type { Appraisal, TurnEvidence } from '../../../src/core/evidence.ts';
import type { LabelledSpan } from '../../../src/core/reading.ts';

/** A message that followed an answer, with what it says about that answer. */
export interface LabelledMessage {
  readonly id: string;
  readonly lang: string;
  readonly task: string;
  readonly answer: string;
  readonly message: string;
  readonly label: 'correction' | 'doubt' | 'thanks' | 'none' | 'infrastructure';
  /** Of a correction: it holds for later work. Absent: opinions differ, not scored. */
  readonly standing?: boolean;
  /** Passages that the quotes of a correction must hold. Without them any quote is right. */
  readonly quotes?: readonly string[];
  /** Passages that no quote may hold: greetings, new tasks, other people's words. */
  readonly never?: readonly string[];
  /** What a model read in it, recorded from one that saw the question of `learn/read-words` alone. */
  readonly spans?: readonly LabelledSpan[];
}

export interface Share {
  readonly hits: number;
  readonly of: number;
}

export interface WordScores {
  readonly messages: number;
  readonly correctionPrecision: Share;
  readonly correctionRecall: Share;
  readonly thanksPrecision: Share;
  readonly thanksRecall: Share;
  readonly standingPrecision: Share;
  readonly standingRecall: Share;
  /** Both recalls, of messages that are not in English. */
  readonly otherLanguages: { readonly corrections: Share; readonly standing: Share };
  /** Corrections that were found, whose quotes are the ones that were wanted. */
  readonly quotes: Share;
  /** Messages that are neither of both and were read as neither. */
  readonly quiet: Share;
  /** Reports of outages that count as a failure or a success of the agent. */
  readonly outagesTaught: Share;
  /** Quotes that are not part of the message. It must be 0. */
  readonly inventedQuotes: number;
  readonly wrong: readonly string[];
}

interface Row {
  readonly item: LabelledMessage;
  readonly appraisal: Appraisal;
  readonly found: LabelledMessage['label'];
}

const FOUND: Readonly<Record<string, LabelledMessage['label']>> = {
  'user-corrected': 'correction',
  'user-doubted': 'doubt',
  'user-thanked': 'thanks',
  infrastructure: 'infrastructure',
};

export function scoreWords(
  items: readonly LabelledMessage[],
  appraise: (evidence: TurnEvidence) => Appraisal,
): WordScores {
  const rows = items.map((item): Row => {
    const appraisal = appraise(evidenceOf(item));
    const name = Object.keys(FOUND).find((one) => appraisal.signals.some((signal) => signal.name === one));
    return { item, appraisal, found: FOUND[name ?? ''] ?? 'none' };
  });
  const labelled = (label: LabelledMessage['label']) => rows.filter(({ item }) => item.label === label);
  const read = (label: LabelledMessage['label']) => rows.filter(({ found }) => found === label);
  const isStanding = ({ appraisal }: Row): boolean => appraisal.correction?.isStanding === true;
  const decided = rows.filter(({ item }) => item.label !== 'correction' || item.standing !== undefined);
  const corrected = labelled('correction').filter(({ found }) => found === 'correction');
  const standing = decided.filter(({ item }) => item.standing === true);
  const isOther = ({ item }: Row): boolean => item.lang !== 'en';
  const isCorrected = ({ found }: Row): boolean => found === 'correction';
  return {
    messages: rows.length,
    correctionPrecision: share(read('correction'), ({ item }) => item.label === 'correction'),
    correctionRecall: share(labelled('correction'), isCorrected),
    thanksPrecision: share(read('thanks'), ({ item }) => item.label === 'thanks'),
    thanksRecall: share(labelled('thanks'), ({ found }) => found === 'thanks'),
    standingPrecision: share(decided.filter(isStanding), ({ item }) => item.standing === true),
    standingRecall: share(standing, isStanding),
    otherLanguages: {
      corrections: share(labelled('correction').filter(isOther), isCorrected),
      standing: share(standing.filter(isOther), isStanding),
    },
    quotes: share(corrected, hasRightQuotes),
    quiet: share(labelled('none'), ({ found }) => found === 'none'),
    outagesTaught: share(labelled('infrastructure'), ({ appraisal: { verdict } }) =>
      ['success', 'failure'].includes(verdict),
    ),
    inventedQuotes: rows.flatMap(({ item, appraisal }) =>
      (appraisal.correction?.quotes ?? []).filter((quote) => !item.message.includes(quote)),
    ).length,
    wrong: rows.flatMap((row) => faultOf(row)),
  };
}

function evidenceOf({ id, task, answer, message, spans }: LabelledMessage): TurnEvidence {
  return {
    turn: id,
    session: id,
    agent: 'app',
    role: 'main',
    status: 'complete',
    task,
    tools: [],
    reply: [{ type: 'text', text: answer }],
    stop: 'end',
    earlier: [],
    next: { tools: [], user: message, ...(spans === undefined ? {} : { spans }) },
    given: [],
    attempts: [],
  };
}

function hasRightQuotes({ item, appraisal }: Row): boolean {
  const quotes = appraisal.correction?.quotes ?? [];
  const isHeld = (passage: string): boolean => quotes.some((quote) => quote.includes(passage));
  if (quotes.length === 0) return false;
  return (item.quotes ?? []).every(isHeld) && !(item.never ?? []).some(isHeld);
}

function faultOf(row: Row): readonly string[] {
  const { item, appraisal, found } = row;
  const line = `${item.id} ${item.lang} ${JSON.stringify(item.message)}`;
  if (found !== item.label) return [`${line}: ${item.label}, read as ${found}`];
  if (item.label !== 'correction') return [];
  const faults: string[] = [];
  const isStanding = appraisal.correction?.isStanding === true;
  if (item.standing !== undefined && item.standing !== isStanding)
    faults.push(`${line}: ${item.standing ? 'standing' : 'not standing'}, read otherwise`);
  if (!hasRightQuotes(row)) faults.push(`${line}: quotes ${JSON.stringify(appraisal.correction?.quotes)}`);
  return faults;
}

const share = (rows: readonly Row[], isHit: (row: Row) => boolean): Share => ({
  hits: rows.filter(isHit).length,
  of: rows.length,
});
