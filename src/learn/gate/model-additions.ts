import type { LessonText } from '../../core/lesson.ts';
import { topicStems } from '../../text/topic-words.ts';
import { clip } from '../../text/truncate.ts';
import type { EvidenceByTrust, UntrustedText } from './evidence-by-trust.ts';
import type { LiteralProvenance } from './literal-provenance.ts';
import { givesInstruction, readOutsideStatements } from './outside-statements.ts';
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

/** A page, a mail or a pasted text that says anything; of the output of a tool, what tells its reader what to do. */
const couldTeach = ({ taint, views }: UntrustedText): boolean => {
  const statements = readOutsideStatements(views);
  return taint === 'web' ? statements.length > 0 : statements.some(givesInstruction);
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
