import type { LessonText } from '../../core/lesson.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../../text/topic-words.ts';
import { clip } from '../../text/truncate.ts';
import type { EvidenceByTrust, UntrustedText } from './evidence-by-trust.ts';
import type { LiteralProvenance } from './lesson-literals.ts';
import { foldedWords } from './normalize-text.ts';
import { givesInstruction, isForeignWording, readOutsideStatements } from './outside-statements.ts';
import type { LineMeaning } from './similar-meaning.ts';

/** Whether a model worded a lesson, and not people or this program. What practice writes is about attempts, which are measured. */
export const isModelWritten = ({ evidence: { learner, model } }: LessonText): boolean =>
  model !== undefined && learner !== 'practice';

/** The share of a line's content words that may be the model's own. */
const MOST_OWN_WORDS = 0.2;
const LONGEST_SHOWN = 80;
/** Words of the frame that a lesson is written in. */
const FRAME = topicStems(
  'run use work fail example anti-pattern avoid result step command rule first then failed worked attempt call said user check',
);

/** A page, a mail or a pasted text that says anything; of the output of a tool, what may tell its reader what to do. */
const couldTeach = ({ taint, views }: UntrustedText): boolean => {
  const statements = readOutsideStatements(views);
  return taint === 'web'
    ? statements.length > 0
    : statements.some((statement) => givesInstruction(statement) || isForeignWording(statement));
};

/**
 * Why a lesson that a model wrote waits: it says more than people did, in a session in which outside text could have taught it. No
 * comparison finds every paraphrase, so what cannot be traced to a person or to a command that was run here is not believed.
 * `others`: the lines that no person said.
 */
export function findModelAdditions(
  text: LessonText,
  others: readonly LineMeaning[],
  { firstParty, untrusted, events }: EvidenceByTrust,
  provenance: LiteralProvenance,
): readonly string[] {
  if (!isModelWritten(text) || others.length === 0) return [];
  const taught = untrusted.find((one) => !one.isAgent && !one.isClient && couldTeach(one));
  if (taught === undefined) return [];
  const known = new Set(FRAME);
  const ran = events.flatMap(({ kind, lines }) =>
    (kind === 'succeeded' || kind === 'failed') && provenance.ofCommand(lines) !== 'outside' ? [lines] : [],
  );
  for (const one of [...firstParty, ...ran]) for (const stem of topicStems(one)) known.add(stem);
  const added = others.find(({ line }) => {
    if (line.startsWith('#')) return false;
    const stems = [...topicStems(line)];
    return stems.filter((stem) => !known.has(stem)).length > stems.length * MOST_OWN_WORDS;
  });
  if (added === undefined) return [];
  const from = taught.taint === 'web' ? 'a page or a pasted text' : 'the output of a tool';
  return [
    `a model added this in a session with ${from}, and no person said it: ${clip(added.line, LONGEST_SHOWN)}`,
  ];
}

/** The share of a line's words that one message must have for the line to be its rewording. */
const SHARE_OF_STEMS = 0.7;
const FEWEST_STEMS = 2;
/** The cosine from which a line is a close rewording of a sentence. */
const CLOSE = 0.6;
const NOT =
  /\b(?:not|never|no|without|avoid\w*|don't|doesn't|isn't|aren't|nicht|nie|niemals|kein\w*|ne|pas|jamais|sin|nunca|не|без)\b|n't\b|[不别没勿]/;
/** "In cents, never in euros" forbids the euros alone. */
const CLAUSE_ENDS = /[,;:]\s|\s(?:but|sondern|aber|mais|pero)\s|[，；]/;
/** Says when, and not what to do. */
const SITUATION = /^(?:when|whenever|before|after|while|if|once)\b[^,:;]{1,200}$/;
/** Words around a rule that add nothing to it. */
const FRAME_WORDS =
  /^[\s#>*+-]{0,6}(?:\d{1,2}[.)]\s+)?(?:example|anti-?pattern|note|rule|beispiel|exemple|ejemplo):?\s+/;

/**
 * Whether a line only says what a person or a verifier said: it stands in their text, has nearly all its words from one
 * message of theirs, or is close to one of their sentences; and it forbids what they forbid.
 */
export function createWordingFinder(firstParty: readonly string[]): (line: LineMeaning) => boolean {
  const messages = firstParty.map((text) => ({
    text: foldedWords(text).join(' '),
    clauses: splitFoldedSentences(text)
      .flatMap((sentence) => sentence.split(CLAUSE_ENDS))
      .map((clause) => ({ stems: topicStems(clause), isNegative: NOT.test(clause) })),
  }));
  return ({ line, own, outside, ownSentence }) => {
    const said = line.replace(FRAME_WORDS, '');
    const words = foldedWords(said).join(' ');
    if (words === '') return true;
    if (messages.some(({ text }) => ` ${text} `.includes(` ${words} `))) return true;
    const isNegative = NOT.test(said);
    if (own >= CLOSE && own >= outside && NOT.test(ownSentence) === isNegative) return true;
    const stems = topicStems(said);
    const isSituation = SITUATION.test(said);
    const fewest = isSituation ? 1 : FEWEST_STEMS;
    if (stems.size < fewest) return false;
    return messages.some(({ clauses }) => {
      const all = new Set(clauses.flatMap((clause) => [...clause.stems]));
      const shared = [...stems].filter((stem) => all.has(stem));
      if (shared.length < fewest || shared.length < stems.size * SHARE_OF_STEMS) return false;
      const about = clauses.filter((clause) => shared.some((stem) => clause.stems.has(stem)));
      return isSituation || about.some((clause) => clause.isNegative === isNegative);
    });
  };
}
