import { createHash } from 'node:crypto';
import type { Embed } from '../../core/embed.ts';
import type { FailureCase, Judgement, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText, Taint } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { freeName } from '../free-name.ts';
import { type FindSimilar, findDuplicate, fingerprint } from './find-duplicate.ts';
import { findBareBasis, findTaint, type Tainted } from './find-taint.ts';
import { foldText } from './fold-text.ts';
import { type Autonomy, howFar } from './how-far.ts';
import { lintLesson } from './lint-lesson.ts';
import { type Material, readMaterial } from './material.ts';
import { findNearMeaning, type NearMeaning } from './near-meaning.ts';
import { readProposal } from './read-proposal.ts';
import { type EvidenceRules, NEEDS_ANOTHER_SESSION, weighEvidence } from './weigh-evidence.ts';

export interface GateOptions extends EvidenceRules {
  readonly autonomy: Autonomy;
  /** Why the library would not take a text. */
  readonly checkText: (text: LessonText) => string | undefined;
  readonly hasSecret: (text: string) => boolean;
  /** The lessons that are near in meaning. May reject: then names and words alone are compared. */
  readonly findSimilar: FindSimilar;
  /** A model of meanings finds paraphrases that share no words; without one only words are compared. */
  readonly embed?: Embed['embed'];
}

/**
 * Says how far a proposal may go. `cases`: everything that its learner was shown, not only what it cites, since what it
 * read may have moved it. Never rejects, writes nothing, and answers the same to the same.
 *
 * `refused`: it cannot be published, or need not be; with `NEEDS_ANOTHER_SESSION` in `why` it may come again. Whatever
 * a person could weigh is `proposed` and not refused: an attack that nobody sees teaches nobody. `change` can be published
 * as it is: what waits for a person is never a revision of something that is shown.
 */
export type Gate = (
  proposal: Proposal,
  cases: readonly FailureCase[],
  library: Library,
) => Promise<Judgement>;

export function createGate(options: GateOptions): Gate {
  return async (proposal, cases, library) => {
    try {
      return await judge(options, proposal, cases, library);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return refused(`it could not be judged: ${message.slice(0, 200)}`);
    }
  };
}

async function judge(
  options: GateOptions,
  given: Proposal,
  cases: readonly FailureCase[],
  library: Library,
): Promise<Judgement> {
  // 1. What can be published at all.
  const proposal = readProposal(given, options.checkText);
  if (typeof proposal === 'string') return refused(proposal);
  const { change } = proposal;
  if (options.hasSecret(allWordsOf(change.text))) return refused('it holds a secret');
  const old = library.lesson(change.id);
  const conflict = whyNotChange(proposal, old);
  if (conflict !== undefined) return refused(conflict);
  const duplicate = await findDuplicate(proposal, library, options.findSimilar);
  if (duplicate !== undefined) return { ...refused(duplicate.why), isKnown: duplicate.isKnown };

  // 2. Whether enough speaks for it.
  // What happened in one session is a memory of that session; a skill must have happened twice.
  const isMemory = change.op === 'add' && change.kind === 'experience';
  const weighed = await weighEvidence(proposal, cases, old, options, isMemory);
  if ('refusal' in weighed) return refused(weighed.refusal);

  // 3. Whether a person should look first.
  const words = wordsOf(change.text);
  const material = await readMaterial(cases);
  const shown = old !== undefined && old.state !== 'proposed' ? [foldText(wordsOf(old.text))] : [];
  const known: Material = {
    ...material,
    spoken: [...material.spoken, ...shown],
    trusted: [...material.trusted, ...shown],
  };
  const lints = lintLesson(words, known.spoken);
  const basis = findBareBasis(weighed.cited);
  const alike = [...(await findTaint(words, known)), ...(basis === undefined ? [] : [basis])];
  // The dear question comes last, and only where nothing else has been found.
  const isClean = lints.length + alike.length === 0;
  const near = isClean && options.embed && (await findNearMeaning(words, known, options.embed));
  const tainted = near ? [nearTaint(near)] : alike;
  const before: readonly Taint[] = [...change.text.taint, ...(old?.text.taint ?? [])];
  const taint = (['tool', 'web'] as const).filter(
    (one) => before.includes(one) || tainted.some((finding) => finding.taint === one),
  );
  const doubts = [
    ...(weighed.isSeldom ? [NEEDS_ANOTHER_SESSION] : []),
    ...lints,
    ...tainted.map(({ why }) => why),
    ...(before.length === 0 ? [] : ['strangers’ words had gone into it before']),
    ...(old === undefined ? [] : doubtsOfRevision(change.text, old)),
  ];

  // 4. How far it may go.
  const kind = change.op === 'add' ? change.kind : (old?.kind ?? 'skill');
  const reach = howFar(options.autonomy, kind, change.text.content);
  const outcome = doubts.length > 0 ? 'proposed' : reach.outcome;
  const text: LessonText = { ...change.text, evidence: weighed.evidence, taint };
  const why = [...new Set([...doubts, ...(outcome === reach.outcome ? reach.why : [])])];
  if (change.op === 'add') return { outcome, why, change: { ...change, state: outcome, text } };
  return outcome === 'proposed' && old !== undefined && old.state !== 'proposed'
    ? { outcome, why, change: besideOld(old, text, library) }
    : { outcome, why, change: { ...change, text } };
}

function whyNotChange({ change }: Proposal, old: Lesson | undefined): string | undefined {
  if (change.op === 'add') return old && `${change.id} is there already`;
  if (old === undefined) return `there is no lesson ${change.id} to revise`;
  if (old.frozen) return `${old.id} is frozen: only a person may change it`;
  if (old.state === 'retired' || old.state === 'rejected')
    return `${old.id} is ${old.state}: only a person may take it up again`;
  if (old.revision !== change.from) return `${old.id} has been revised since`;
  const isSame = fingerprint(old.text) === fingerprint(change.text);
  return isSame && old.text.description === change.text.description
    ? `${old.id} says just that already`
    : undefined;
}

/** A learner may say something better; where it holds and what it is called is not its to change unseen. */
function doubtsOfRevision(text: LessonText, old: Lesson): readonly string[] {
  return [
    ...(old.state === 'proposed' ? ['what it revises waits for a person'] : []),
    ...(text.name === old.text.name ? [] : ['it changes the name of a lesson']),
    ...(JSON.stringify(scopeOf(text)) === JSON.stringify(scopeOf(old.text))
      ? []
      : ['it changes where a lesson holds']),
  ];
}

const scopeOf = ({ scope: { agent, project, runKind, domain } }: LessonText): readonly unknown[] => [
  agent ?? null,
  project ?? null,
  runKind ?? null,
  domain ?? null,
];

/**
 * A revision would be shown at once where the old text is. So that it can wait, it becomes a lesson of its own beside
 * the old one, which it names among its links.
 */
function besideOld(
  old: Lesson,
  text: LessonText,
  library: Library,
): Extract<Judgement['change'], { op: 'add' }> {
  const id = `rev_${createHash('sha256')
    .update(`${old.id}\n${old.revision}\n${fingerprint(text)}`)
    .digest('hex')
    .slice(0, 20)}`;
  const taken = new Set(library.lessons().map((lesson) => lesson.text.name));
  const name = freeName(`${text.name.slice(0, 50)}-revised`, taken);
  const links = [...new Set([old.id, ...text.note.links])].slice(0, 32);
  return {
    op: 'add',
    id,
    kind: old.kind,
    state: 'proposed',
    text: { ...text, name, note: { ...text.note, links } },
  };
}

const nearTaint = ({ taint, sentence }: NearMeaning): Tainted => ({
  taint,
  why:
    sentence === undefined
      ? 'what others said beside it could not be compared with it'
      : `it means what ${taint === 'web' ? 'a page' : 'a tool'} said: ${sentence.slice(0, 80)}`,
});

const allWordsOf = (text: LessonText): string =>
  [
    wordsOf(text),
    text.note.context ?? '',
    ...text.note.keywords,
    ...text.note.tags,
    ...Object.values(text.scope),
  ].join('\n');

/** What stands in prompts. */
const wordsOf = ({ name, description, content }: LessonText): string =>
  `${name.replaceAll('-', ' ')}\n${description}\n${content}`;

const refused = (why: string): Judgement => ({ outcome: 'refused', why: [why] });
