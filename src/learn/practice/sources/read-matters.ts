import type { AppraisedTurn } from '../../../evidence/evidence-reader.ts';
import { readTurn, type ToolCallReading } from '../../../evidence/turn-reading.ts';
import { readSentences } from '../../../reader/read-message.ts';
import { topicStems } from '../../../text/topic-words.ts';
import { carriesOutsideText, separateTypedText } from '../../../text/typed-text.ts';
import { type CheckRun, readCheckRun, type WorkPlace } from './check-commands.ts';

/** One request of a user with everything that was done for it, up to the next request. */
export interface RecordedMatter {
  /** The turn that the request came with. */
  readonly turn: string;
  /** In the user's own words. */
  readonly prompt: string;
  readonly turns: readonly AppraisedTurn[];
  /** What the person said against the answers, letter by letter, oldest first. */
  readonly corrections: readonly string[];
  readonly isAskedAgain: boolean;
  /** The last answer in words; empty when there is none. */
  readonly answer: string;
  /** What was said before it in the session: the users' own words and the answers to them. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
}

const LONGEST_PROMPT = 8000;
const MOST_HISTORY = 6;
const LONGEST_SAID = 1500;
/** Said about the answer before: the matter goes on. */
const GOES_ON = new Set(['asked-again', 'user-corrected', 'user-doubted', 'user-rejected', 'reverted']);

/**
 * The requests of a session, oldest first. A request that carries text of others, that a client or a schedule wrote, or that
 * says too little is left out; what was said about an answer belongs to the request before it.
 */
export function readMatters(turns: readonly AppraisedTurn[]): readonly RecordedMatter[] {
  const groups: AppraisedTurn[][] = [];
  let last: AppraisedTurn | undefined;
  for (const turn of turns) {
    if (turn.evidence.isReported) continue;
    const isSame = last !== undefined && (isSameRequest(last, turn) || goesOn(last));
    if (isSame) groups.at(-1)?.push(turn);
    else groups.push([turn]);
    last = turn;
  }
  const said: { readonly role: 'user' | 'assistant'; readonly text: string }[] = [];
  return groups.flatMap((group): readonly RecordedMatter[] => {
    const matter = matterOf(group, said.slice(-MOST_HISTORY));
    if (matter === undefined) {
      // What follows rests on words that may not be practised on.
      said.length = 0;
      return [];
    }
    said.push({ role: 'user', text: matter.prompt.slice(0, LONGEST_SAID) });
    if (matter.answer !== '') said.push({ role: 'assistant', text: matter.answer.slice(0, LONGEST_SAID) });
    return isSubstantial(matter.prompt) && !isStatement(matter.prompt) ? [matter] : [];
  });
}

/** Clients tell the time and the folder beside the words, in each request anew. */
const isSameRequest = (a: AppraisedTurn, b: AppraisedTurn): boolean =>
  a.evidence.task === b.evidence.task || typedIn(a) === typedIn(b);

const typedIn = ({ evidence: { task } }: AppraisedTurn): string => separateTypedText(task).typed || task;

const goesOn = ({ appraisal: { correction, signals } }: AppraisedTurn): boolean =>
  correction !== undefined || signals.some(({ name, score }) => GOES_ON.has(name) && score < 0.5);

function matterOf(
  turns: readonly AppraisedTurn[],
  history: RecordedMatter['history'],
): RecordedMatter | undefined {
  const [first] = turns;
  const prompt = first && ownWords(first.evidence.task);
  if (first === undefined || prompt === undefined) return undefined;
  const answers = turns.map((turn) => answerIn(turn)).filter((text) => text !== '');
  return {
    turn: first.evidence.turn,
    prompt,
    turns,
    corrections: turns.flatMap(({ appraisal }) => appraisal.correction?.quotes ?? []),
    isAskedAgain: turns.some(({ appraisal }) => appraisal.signals.some(({ name }) => name === 'asked-again')),
    answer: answers.at(-1) ?? '',
    history,
  };
}

function answerIn({ evidence: { reply } }: AppraisedTurn): string {
  if (reply.some(({ type }) => type === 'tool-call')) return '';
  return reply
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}

/** Sections that a client adds to every message, about itself and the machine. Others are pasted: the request is about them. */
const CLIENT_CONTEXT =
  /^\s*<(?:system[-_]reminder|environment[-_](?:context|details)|user_instructions|instructions|permissions|skills?_instructions|apps_instructions|plugins_instructions|available_skills|agent_skills|collaboration_mode|user_info|project_layout|git_status|env|cwd|open_and_recently_viewed_files|instar-lessons|session_context|info-msg)\b|^\s*# (?:AGENTS|CLAUDE|GEMINI)\.md\b|^\s*(?:Runtime: agent=|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>)/i;

/** What the person typed; undefined when the request carries text of others or is a summary. */
export function ownWords(message: string): string | undefined {
  const { typed, inserted, isSummary } = separateTypedText(message);
  const text = typed.trim();
  if (isSummary || text === '' || text.length > LONGEST_PROMPT) return undefined;
  if (inserted.some((part) => part.trim() !== '' && !CLIENT_CONTEXT.test(part))) return undefined;
  return carriesOutsideText(text) ? undefined : text;
}

const FEWEST_STEMS = 2;

/** "thanks", "ok, go on" are no tasks. */
const isSubstantial = (prompt: string): boolean => topicStems(prompt).size >= FEWEST_STEMS;

const FACT = 0.7;

/** "We use pnpm here", "I live in Berlin": it tells something, and asks for nothing. */
const isStatement = (prompt: string): boolean =>
  readSentences({ message: prompt, answer: '' }).every(
    ({ kinds, scores }) =>
      !kinds.has('task') &&
      (TOLD.some((kind) => kinds.has(kind)) || (scores.fact >= FACT && scores.fact > scores.task)),
  );
const TOLD = ['rule', 'preference', 'fact', 'revocation', 'thanks'] as const;

/** What the commands of a matter show, and what people said. */
export interface MatterProof {
  /** By command, its last outcome. */
  readonly checks: readonly CheckRun[];
  /** `passed`: edits were made, and then every check passed. */
  readonly commands: 'passed' | 'failed' | 'unknown';
  readonly person: 'content' | 'not content' | 'unknown';
  /** The evidence speaks against itself. */
  readonly contradiction?: string;
  readonly hasEdited: boolean;
  readonly needsWorkspace: boolean;
  /** At least one check failed before. */
  readonly hasFailed: boolean;
}

export function readProof(matter: RecordedMatter, place?: WorkPlace): MatterProof {
  const runs = new Map<string, CheckRun>();
  let hasEdited = false;
  let isProven = false;
  let hasFailed = false;
  let needsWorkspace = false;
  /** The turns of the last check that passed after an edit, and of the last word against an answer. */
  let provenAt = -1;
  let correctedAt = -1;
  const calls = matter.turns.flatMap((turn, at) => {
    if (turn.appraisal.correction !== undefined) correctedAt = at;
    return readTurn(turn.evidence).calls.map((call) => ({ call, at }));
  });
  for (const { call, at } of calls) {
    const { kind } = call.view;
    if (kind !== 'other') needsWorkspace = true;
    if (kind === 'edit' && isDone(call)) {
      hasEdited = true;
      isProven = false;
    }
    const run = readCheckRun(call, place);
    if (run === undefined) continue;
    runs.set(run.command, run);
    if (!run.isPassed) hasFailed = true;
    isProven = run.isPassed;
    if (run.isPassed && hasEdited) provenAt = at;
  }
  const checks = [...runs.values()];
  const isAllPassed = checks.length > 0 && checks.every(({ isPassed }) => isPassed);
  const commands = checks.some(({ isPassed }) => !isPassed)
    ? 'failed'
    : isAllPassed && hasEdited && isProven
      ? 'passed'
      : 'unknown';
  // What was said after the checks had passed stands against them.
  const voices = readVoices(matter, commands === 'passed' && correctedAt >= provenAt && correctedAt >= 0);
  const contradiction =
    voices.size > 1
      ? 'people said both that it is right and that it is wrong'
      : voices.has(false) && commands === 'passed'
        ? 'the checks passed, and a person said that it is wrong'
        : voices.has(true) && commands === 'failed'
          ? 'a person was content, and a check had failed'
          : undefined;
  return {
    checks,
    commands,
    hasEdited,
    needsWorkspace,
    hasFailed,
    person: voices.has(true) ? 'content' : voices.has(false) ? 'not content' : 'unknown',
    ...(contradiction === undefined ? {} : { contradiction }),
  };
}

const isDone = ({ outcome }: ToolCallReading): boolean => outcome?.kind === 'ok' || outcome?.kind === 'green';

const VOICES = new Set(['person', 'chat', 'verifier']);
const CONTENT = new Set(['user-thanked']);

/** What people, or a verifier of theirs, said about the end of the matter. */
function readVoices({ turns }: RecordedMatter, isCorrected: boolean): ReadonlySet<boolean> {
  const last = turns.at(-1);
  const voices = new Set<boolean>(isCorrected ? [false] : []);
  if (last === undefined) return voices;
  for (const { source, score } of last.evidence.given)
    if (VOICES.has(source) && Math.abs(score) >= 0.2) voices.add(score > 0);
  const { correction, signals } = last.appraisal;
  if (correction !== undefined || signals.some(({ name }) => name === 'reverted')) voices.add(false);
  if (signals.some(({ name }) => CONTENT.has(name))) voices.add(true);
  return voices;
}
