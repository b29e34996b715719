import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../core/failure.ts';
import { asArray, compact, isObject, type JsonObject } from '../../core/json.ts';
import type { EvidenceCase, Judgement, Proposal } from '../../core/learn.ts';
import {
  LESSON_KINDS,
  type Lesson,
  type LessonKind,
  type LessonText,
  type Note,
  type Taint,
} from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { whyNotOfKind } from '../../lessons/check-overlay.ts';
import { changedLessonId } from '../../lessons/codec.ts';
import { withRelation } from '../../lessons/links.ts';
import { isPersonsWord, personsWords } from '../../lessons/told.ts';
import { clip } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { isFrameLine } from '../distiller/write-lesson.ts';
import { readQuotes, uniqueLessonName } from '../draft-lesson.ts';
import { standsInEveryTask } from '../rule-reach.ts';
import { type Autonomy, autonomyRule } from './autonomy-rule.ts';
import { type EvidenceByTrust, sortEvidenceByTrust } from './evidence-by-trust.ts';
import {
  contentFingerprint,
  type FindSimilar,
  findDuplicate,
  QUOTING_LEARNERS,
  type TextChange,
} from './find-duplicate.ts';
import { findTaint, findUnsupportedBasis, type TaintFinding } from './find-taint.ts';
import { judgeRetirement, whyNotRetired, whyUntouchable } from './judge-retirement.ts';
import { createLiteralProvenance, type LiteralProvenance } from './lesson-literals.ts';
import { lintLesson } from './lint-lesson.ts';
import { createWordingFinder, findModelAdditions, isModelWritten } from './model-additions.ts';
import { decodeViews, foldText } from './normalize-text.ts';
import { readOutsideStatements } from './outside-statements.ts';
import { findUnapprovedActions } from './risky-actions.ts';
import {
  compareMeaning,
  findOutsideMeaning,
  type LineMeaning,
  type MeaningReading,
  statementsOfLesson,
  unread,
} from './similar-meaning.ts';
import { type EvidenceRules, weighEvidence } from './weigh-evidence.ts';

export interface GateOptions extends EvidenceRules {
  readonly autonomy: Autonomy;
  /** Why the library would refuse a text. */
  readonly checkText: (text: unknown) => string | undefined;
  readonly hasSecret: (text: string) => boolean;
  /** Lessons of similar meaning. May reject: then only names and words are compared. */
  readonly findSimilar: FindSimilar;
  /** An embedding model finds paraphrases that share no words; without one, only words are compared. */
  readonly embed?: EmbeddingModel['embed'];
}

/**
 * Decides the outcome of a proposal. `cases`: everything that its learner was shown, not only what it cites, since any of it
 * may have influenced the learner. Never rejects, writes nothing, and is deterministic.
 *
 * `refused`: it cannot or need not be published; with `NEEDS_ANOTHER_SESSION` in `why` it may be proposed again. Whatever a
 * person can decide is `proposed` and not refused, so that people see attacks. `change` can be published as it is: a change
 * that waits for approval is never a revision of a lesson in use.
 */
export type Gate = (
  proposal: Proposal,
  cases: readonly EvidenceCase[],
  library: Library,
) => Promise<Judgement>;

export function createGate(options: GateOptions): Gate {
  return async (proposal, cases, library) => {
    try {
      return await judge(options, proposal, cases, library);
    } catch (error) {
      const message = errorMessage(error);
      return refused(`the gate failed: ${message.slice(0, 200)}`);
    }
  };
}

async function judge(
  options: GateOptions,
  given: Proposal,
  cases: readonly EvidenceCase[],
  library: Library,
): Promise<Judgement> {
  // 1. Is it a valid change?
  const read = readProposal(given, options.checkText);
  if (!read.ok) return refused(read.why);
  const { change, quotes } = read.proposal;
  if (change.op === 'retire') return judgeRetirement(change, read.proposal.turns ?? [], cases, library);
  if (options.hasSecret(allText(change.text))) return refused('it contains a secret');
  const old = library.lesson(changedLessonId(change));
  const conflict = whyNotChange(change, old) ?? whyNotMerge(change, library) ?? whyNotCore(change, old);
  if (conflict !== undefined) return refused(conflict);
  const duplicate = await findDuplicate(change, library, options.findSimilar);
  if (duplicate !== undefined) return { ...refused(duplicate.why), isKnown: duplicate.isKnown };

  // 2. Is there enough evidence? An experience may come from one session; a skill needs two.
  const isMemory = (change.op === 'add' ? change.kind : old?.kind) === 'experience';
  const weighed = await weighEvidence(
    { text: change.text, quotes, cases, old, mayBeUncorroborated: isMemory },
    options,
  );
  if (!weighed.ok) return refused(weighed.why);

  // 3. Should a person review it first?
  const { taint, isMeasured, ...review } = await reviewOrigins(
    { change, old, cases, cited: weighed.cited },
    options,
    library,
  );
  const doubts = [...weighed.doubts, ...review.doubts];

  // 4. What does the autonomy setting allow?
  const kind = change.op === 'add' ? change.kind : (old?.kind ?? 'skill');
  const ruling = isOwnApproval(change.text, kind, options.autonomy)
    ? PERSONS_APPROVAL
    : autonomyRule(options.autonomy, kind, change.text.content, change.text.note.tier);
  const allowed = isMeasured && ruling.outcome === 'live' ? 'trial' : ruling.outcome;
  const outcome = doubts.length > 0 ? 'proposed' : allowed;
  const note = weighed.isFromChat ? alwaysAsSaid(change.text, old) : change.text.note;
  const text: LessonText = { ...change.text, note, evidence: weighed.evidence, taint };
  const why = [...new Set([...doubts, ...(outcome === ruling.outcome ? ruling.why : [])])];
  if (change.op === 'add') return { outcome, why, change: { ...change, state: outcome, text } };
  return outcome === 'proposed' && old !== undefined && old.state !== 'proposed'
    ? { outcome, why, change: besideOld(old, text, library) }
    : { outcome, why, change: { ...change, text } };
}

interface Origins {
  readonly change: TextChange;
  readonly old: Lesson | undefined;
  readonly cases: readonly EvidenceCase[];
  /** What the text rests on. */
  readonly cited: TextOrigins['cited'];
}

/** Where the words of the text come from, why a person should see it, and what of it tools measured. */
async function reviewOrigins(
  { change, old, cases, cited }: Origins,
  options: GateOptions,
  library: Library,
): Promise<{
  readonly doubts: readonly string[];
  readonly taint: readonly Taint[];
  /** Autonomous, and something that a tool or a page said is in it. */
  readonly isMeasured: boolean;
}> {
  const sorted = await sortEvidenceByTrust(cases);
  const joined = change.op === 'merge' ? change.ids.flatMap((id) => library.lesson(id) ?? []) : [];
  const shown = [...(old === undefined ? [] : [old]), ...joined]
    .filter(({ state }) => state !== 'proposed')
    .map(({ text }) => foldText(promptText(text)));
  const evidence: EvidenceByTrust = {
    ...sorted,
    firstParty: [...sorted.firstParty, ...shown],
    trusted: [...sorted.trusted, ...shown],
  };
  const isTheirs = createWordingFinder(evidence.firstParty);
  const beside = withoutTasks(evidence, cases);
  const meaning = await readMeaning(change.text, beside, isTheirs, options.embed);
  const others = meaning.lines.filter((line) => !isTheirs(line));
  const theirs = new Set(meaning.lines.filter(isTheirs).flatMap(({ line }) => decodeViews(line)));
  const provenance = createLiteralProvenance(evidence.events);
  const { name, description, content } = change.text;
  const lints = lintLesson(name, `${description}\n${content}`, {
    provenance,
    firstParty: evidence.firstParty,
    isTheirs: (sentence) => theirs.has(sentence),
    isModelWritten: isModelWritten(change.text),
    outside: {
      statements: meaning.statements,
      texts: evidence.untrusted.flatMap(({ isAgent, views }) => (isAgent ? [] : views)),
    },
  });
  const added = findModelAdditions(change.text, others, beside, provenance);
  const compared = withoutAnswers(evidence, change.text);
  const origins = { cited, provenance, meaning: { ...meaning, lines: others } };
  const tainted = isOwnWording(change.text, others)
    ? []
    : await findOutsideText(change.text, { ...origins, known: compared });
  // Autonomous: what a tool measured may teach, what it advises may not.
  const isMeasured = options.autonomy === 'autonomous' && tainted.length > 0;
  const advised = isMeasured
    ? await findOutsideText(change.text, { ...origins, known: withoutOutputs(compared) })
    : tainted;
  const before: readonly Taint[] = [...change.text.taint, ...(old?.text.taint ?? [])];
  const taint = (['tool', 'web'] as const).filter(
    (one) => before.includes(one) || tainted.some((finding) => finding.taint === one),
  );
  const doubts = [
    ...lints,
    ...findUnapprovedActions(promptText(change.text), [...evidence.owners, ...shown]),
    ...added,
    ...advised.map(({ why }) => why),
    ...(before.length === 0 ? [] : ['an earlier version contains text from a tool or a page']),
    ...(old === undefined ? [] : doubtsOfRevision(change.text, old)),
  ];
  return { doubts, taint, isMeasured };
}

const PERSONS_APPROVAL = { outcome: 'live', why: [] } as const;
const ADVICE: ReadonlySet<LessonKind> = new Set(['skill', 'experience']);

/**
 * Whether a person's own words are its approval: then it is in force at once, and nothing is left to measure. Where every change needs
 * approval, that holds for words that are quoted, and not for what a model made of them.
 */
const isOwnApproval = (text: LessonText, kind: LessonKind, autonomy: Autonomy): boolean =>
  ADVICE.has(kind) &&
  isPersonsWord({ text }) &&
  (autonomy !== 'manual' || QUOTING_LEARNERS.has(text.evidence.learner));

/** A lesson from the chat is for every task where the person's own words say so, or a person marked it: a model may not. */
function alwaysAsSaid(text: LessonText, old: Lesson | undefined): Note {
  const { isAlways, ...note } = text.note;
  const isMarked = old?.text.note.isAlways === true;
  const isSaid = isAlways === true && personsWords({ text }).some(standsInEveryTask);
  return isMarked || isSaid ? { ...note, isAlways: true } : note;
}

function whyNotChange(change: TextChange, old: Lesson | undefined): string | undefined {
  if (change.op === 'add') return old && `lesson ${change.id} exists already`;
  if (old === undefined) return `lesson ${changedLessonId(change)} does not exist`;
  if (old.frozen) return `${old.id} is frozen: only a person may change it`;
  if (old.state === 'retired' || old.state === 'rejected')
    return `${old.id} is ${old.state}: only a person may restore it`;
  if (old.revision !== change.from) return `${old.id} has been revised since`;
  const isSame = contentFingerprint(old.text) === contentFingerprint(change.text);
  return isSame && old.text.description === change.text.description && isSameContext(old.text, change.text)
    ? `${old.id} already says exactly this`
    : undefined;
}

const contextOf = ({ note: { links, tags, keywords, confidence } }: LessonText): string =>
  JSON.stringify([links, tags, keywords, confidence]);
/** A note's links, tags, keywords and confidence may change while its words stay. */
const isSameContext = (a: LessonText, b: LessonText): boolean => contextOf(a) === contextOf(b);

function whyNotCore(change: TextChange, old: Lesson | undefined): string | undefined {
  const kind = change.op === 'add' ? change.kind : old?.kind;
  if (kind !== 'identity') return undefined;
  const { tier } = change.text.note;
  if (tier === 'core' || old?.text.note.tier === 'core')
    return 'the core of an identity is not learned: only a person may change it';
  return old !== undefined && old.text.note.tier !== tier
    ? 'only a person may change the tier of an identity'
    : undefined;
}

/** Lessons that people wrote are merged by people. What a person told is merged where their words stay. */
function whyNotMerge(change: TextChange, library: Library): string | undefined {
  if (change.op !== 'merge') return undefined;
  for (const id of change.ids) {
    const lesson = library.lesson(id);
    if (lesson === undefined) return `lesson ${id} does not exist`;
    const why = keepsWords(change.text, lesson.text) ? whyUntouchable(lesson) : whyNotRetired(lesson);
    if (why !== undefined && id !== change.into) return why;
  }
  return undefined;
}

/** Whether a lesson that quotes has the words of another one's rule, letter by letter. */
export function keepsWords({ content, evidence }: LessonText, other: LessonText): boolean {
  const rule = other.description.replace(/^"|"$/g, '').replace(/ …$/, '');
  const quoted = oneLine(content.replace(/^> /gm, ''));
  return evidence.learner === 'distiller' && other.evidence.learner === 'distiller' && quoted.includes(rule);
}

/** A learner may improve a text; a change of its name or scope needs approval. */
function doubtsOfRevision(text: LessonText, old: Lesson): readonly string[] {
  return [
    ...(old.state === 'proposed' ? ['the lesson it revises waits for approval'] : []),
    ...(text.name === old.text.name ? [] : ['it renames a lesson']),
    ...(isDeepStrictEqual(scopeOf(text), scopeOf(old.text)) || isFoundInBoth(text, old.text)
      ? []
      : ['it changes the scope of a lesson']),
  ];
}

/** The same words that practice drew from another domain. */
const isFoundInBoth = (text: LessonText, old: LessonText): boolean =>
  [text, old].every(({ evidence }) => evidence.learner === 'practice') &&
  contentFingerprint(text) === contentFingerprint(old) &&
  isDeepStrictEqual(scopeOf(text), scopeOf({ ...old, scope: compact({ ...old.scope, domain: undefined }) }));

const scopeOf = ({ scope: { agent, project, runKind, domain, member } }: LessonText): readonly unknown[] => [
  agent ?? null,
  project ?? null,
  runKind ?? null,
  domain ?? null,
  member ?? null,
];

/**
 * A revision would replace the old text in prompts at once. To wait for approval it becomes a lesson of its own that links
 * to the old one.
 */
function besideOld(
  old: Lesson,
  text: LessonText,
  library: Library,
): Extract<Judgement['change'], { op: 'add' }> {
  const id = `rev_${createHash('sha256')
    .update(`${old.id}\n${old.revision}\n${contentFingerprint(text)}`)
    .digest('hex')
    .slice(0, 20)}`;
  const taken = new Set(library.lessons().map((lesson) => lesson.text.name));
  const name = uniqueLessonName(`${text.name.slice(0, 50)}-revised`, taken);
  return {
    op: 'add',
    id,
    kind: old.kind,
    state: 'proposed',
    text: { ...text, name, note: withRelation(text.note, { type: 'revises', to: old.id }) },
  };
}

/**
 * Whether nothing but the words of people, of verifiers and of this program itself is left of a lesson. Then outside text
 * elsewhere in the session is no reason to hold it. `others`: the lines that no person said.
 */
const isOwnWording = ({ evidence: { learner } }: LessonText, others: readonly LineMeaning[]): boolean =>
  others.length === 0 || (QUOTING_LEARNERS.has(learner) && others.every(({ line }) => isFrameLine(line)));

/** What an agent reported as its task is what the work was about, and no advice on it. */
function withoutTasks(evidence: EvidenceByTrust, cases: readonly EvidenceCase[]): EvidenceByTrust {
  const tasks = new Set(cases.map(({ task }) => task.trim()));
  return { ...evidence, untrusted: evidence.untrusted.filter(({ text }) => !tasks.has(text.trim())) };
}

/** A lesson that quotes names the agent's sentence it was about as the agent's: only what that repeats of others matters. */
const withoutAnswers = (known: EvidenceByTrust, { evidence: { learner } }: LessonText): EvidenceByTrust =>
  QUOTING_LEARNERS.has(learner)
    ? { ...known, untrusted: known.untrusted.filter(({ isAgent }) => !isAgent) }
    : known;

/** Without the outputs of tools that only report: exit codes, listings, differences, names of tests, errors. Prose stays. */
const withoutOutputs = (evidence: EvidenceByTrust): EvidenceByTrust => ({
  ...evidence,
  untrusted: evidence.untrusted.filter(
    ({ taint, isAgent, views }) => taint === 'web' || isAgent || readOutsideStatements(views).length > 0,
  ),
});

interface TextOrigins {
  readonly cited: readonly EvidenceCase[];
  readonly known: EvidenceByTrust;
  readonly provenance: LiteralProvenance;
  /** With the lines that no person said. */
  readonly meaning: MeaningReading;
}

/** Which parts of a lesson may come from outside text. */
async function findOutsideText(
  text: LessonText,
  { cited, known, provenance, meaning: { lines, statements, isUnknown } }: TextOrigins,
): Promise<readonly TaintFinding[]> {
  const basis = findUnsupportedBasis(cited, known.untrusted);
  const findings = [
    ...(await findTaint(promptText(text), known, provenance)),
    ...(basis === undefined ? [] : [basis]),
    ...known.missing.map((why): TaintFinding => ({ taint: 'tool', why })),
  ];
  if (findings.length > 0) return findings;
  const near = findOutsideMeaning(lines, statements.length);
  if (near !== undefined) {
    const from = near.taint === 'web' ? 'a page' : 'a tool output';
    return [{ taint: near.taint, why: `it has the meaning of ${from}: ${clip(near.outsideSentence, 80)}` }];
  }
  const [unread = ''] = statements;
  const why = `text from a tool or a page in the same session could not be compared with it: ${clip(unread, 80)}`;
  return isUnknown ? [{ taint: 'tool', why }] : [];
}

/**
 * Without an embedding model only words are compared. Lines whose words show that a person said them are not compared: a lesson
 * that only quotes is judged without waiting for the model.
 */
async function readMeaning(
  text: LessonText,
  evidence: EvidenceByTrust,
  isTheirs: (line: LineMeaning) => boolean,
  embed: GateOptions['embed'] = async (texts) => texts.map(() => new Float32Array(1)),
): Promise<MeaningReading> {
  const lines = statementsOfLesson(foldText(`${text.description}\n${text.content}`)).map(unread);
  const theirs = lines.filter(isTheirs);
  const others = lines.filter((line) => !theirs.includes(line));
  const isOwn = isOwnWording(text, others);
  const compared = isOwn ? [] : others.map(({ line }) => line);
  const meaning = await compareMeaning(compared, evidence, embed);
  return { ...meaning, lines: [...theirs, ...(isOwn ? others : meaning.lines)] };
}

/** Everything that a prompt, an index or a list may show. */
const allText = (text: LessonText): string =>
  [
    promptText(text),
    text.note.context ?? '',
    ...text.note.keywords,
    ...text.note.tags,
    ...(text.note.triggers ?? []),
    ...Object.values(text.scope),
  ].join('\n');

/** The text that prompts contain. */
const promptText = ({ name, description, content }: LessonText): string =>
  `${name.replaceAll('-', ' ')}\n${description}\n${content}`;

const refused = (why: string): Judgement => ({ outcome: 'refused', why: [why] });

const MOST_QUOTES_READ = 256;
const LONGEST_REASON = 400;

/**
 * Decodes a proposal into plain data that shares nothing with the learner's objects; or says why it is invalid. `checkText`
 * also checks the shape of the text.
 */
function readProposal(
  value: unknown,
  checkText: (text: unknown) => string | undefined,
): { readonly ok: true; readonly proposal: Proposal } | Invalid {
  const copy: unknown = structuredClone(value);
  if (!isObject(copy) || !isObject(copy.change)) return invalid('it is not a proposal');
  const { op, kind, from, text, expiresAt } = copy.change;
  const id = op === 'merge' ? copy.change.into : copy.change.id;
  if (op === 'retire') return readRetirement(copy.change, copy.turns);
  if (typeof id !== 'string' || id === '') return invalid('it names no lesson');
  const isText = (value: unknown): value is LessonText => checkText(value) === undefined;
  const words: unknown = text;
  if (!isText(words)) return invalid(checkText(words) ?? 'its text is invalid');
  const quotes = readQuotes(copy.quotes, MOST_QUOTES_READ);
  if (op === 'add') {
    const lessonKind = LESSON_KINDS.find((one) => one === kind);
    if (lessonKind === undefined) return invalid('its kind is unknown');
    const unused = whyNotOfKind(lessonKind, words);
    if (unused !== undefined) return invalid(unused);
    const isTime = typeof expiresAt === 'number' && Number.isSafeInteger(expiresAt) && expiresAt > 0;
    if (expiresAt !== undefined && !isTime) return invalid('its expiry is not a valid time');
    const life = isTime ? { expiresAt } : {};
    const change = { op, id, kind: lessonKind, state: 'proposed', text: words, ...life } as const;
    return { ok: true, proposal: { change, quotes } };
  }
  if (op === 'merge') {
    const ids = asArray(copy.change.ids).filter((one) => typeof one === 'string');
    if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1)
      return invalid('it names no revision to merge into');
    if (ids.length < 2 || !ids.includes(id))
      return invalid('a merge names two lessons, and one of them to keep');
    return { ok: true, proposal: { change: { op, ids, into: id, from, text: words }, quotes } };
  }
  if (op !== 'revise') return invalid('a learner may only add, revise, merge or retire');
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1)
    return invalid('it names no revision to revise');
  return { ok: true, proposal: { change: { op, id, from, text: words }, quotes } };
}

function readRetirement(
  { id, reason, supersededBy }: JsonObject,
  turns: unknown,
): { readonly ok: true; readonly proposal: Proposal } | Invalid {
  if (typeof id !== 'string' || id === '') return invalid('it names no lesson');
  if (typeof reason !== 'string' || reason.trim() === '')
    return invalid('it gives no reason to retire a lesson');
  const by = typeof supersededBy === 'string' ? { supersededBy } : {};
  const cited = asArray(turns).filter((turn) => typeof turn === 'string');
  const change = { op: 'retire', id, reason: clip(reason, LONGEST_REASON), ...by } as const;
  return { ok: true, proposal: { change, quotes: [], turns: cited } };
}

interface Invalid {
  readonly ok: false;
  readonly why: string;
}

const invalid = (why: string): Invalid => ({ ok: false, why });
