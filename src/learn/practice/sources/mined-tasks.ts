import { EXPECTED_EVENT, type StoredFact } from '../../../core/fact.ts';
import type { Json } from '../../../core/json.ts';
import type { Lesson } from '../../../core/lesson.ts';
import type {
  CheckedRule,
  PracticeSource,
  PracticeTask,
  TaskCheck,
  TasksWanted,
  WorkspaceSnapshot,
} from '../../../core/practice.ts';
import { placeOfSession } from '../../../core/principal.ts';
import type { Records, SessionView, TurnView } from '../../../core/store.ts';
import { readWorkspaceContent } from '../../../core/workspace-content.ts';
import { workUpTo } from '../../../evidence/checked-work.ts';
import type { EvidenceReader } from '../../../evidence/evidence-reader.ts';
import { isPractisedOn } from '../../../evidence/learned-from.ts';
import { domainOf } from '../../../evidence/verify-session.ts';
import { eachFactOf } from '../../../lessons/each-fact.ts';
import { isGradable, rulesFor } from '../../rule-checks.ts';
import type { WorkPlace } from './check-commands.ts';
import { type MatterProof, type RecordedMatter, readMatters, readProof } from './read-matters.ts';
import { normalPrompt, rootOf, taskId } from './split.ts';

/** The part of the record that tasks are mined from. */
export type MinedRecords = Pick<
  Records,
  'sessions' | 'session' | 'turns' | 'recalls' | 'events' | 'factsOf' | 'block'
>;

interface MinedTasksOptions {
  readonly records: MinedRecords;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  /** Those that are shown now. */
  readonly lessons: () => readonly Lesson[];
  /** Called for each request that could have become a task and did not. */
  readonly onRefused?: (refusal: MiningRefusal) => void;
}

export interface MiningRefusal {
  readonly session: string;
  readonly turn: string;
  readonly why: string;
}

/** Runs of these kinds are no work of a user. */
const OTHER_RUNS = (runKind: string | undefined): boolean => runKind !== undefined;
const MOST_SESSIONS = 500;
const PAGE = 50;
const LONGEST_REFERENCE = 6000;
const LONGEST_QUOTE = 400;
const MOST_CRITERIA = 6;

/**
 * Requests of users that were corrected, marked hard, asked again, rated, done with proof, or that the check of a rule was about, newest first. Only of callers that
 * may teach, only in the user's own words. The truth is concluded from the record, and marked so.
 */
export function createMinedTasks(options: MinedTasksOptions): PracticeSource {
  const { records, onRefused } = options;
  return {
    origin: 'mined',
    find: async (wanted, signal) => {
      const hard = await hardSessions(records);
      const found = new Map<string, PracticeTask>();
      const refused = new Set<string>();
      for await (const session of sessionsOf(records, wanted)) {
        if (signal.aborted || found.size >= wanted.count) break;
        for (const task of await mineSession(session, { ...options, hard })) {
          if (wanted.domain !== undefined && task.domain !== wanted.domain) continue;
          const name = `${task.agent}\n${task.project}\n${normalPrompt(task.prompt)}`;
          const other = found.get(name);
          // The newest of the same request counts, unless two of them say that different answers are right.
          if (refused.has(name)) continue;
          if (other === undefined) found.set(name, task);
          else if (!agrees(other, task)) {
            found.delete(name);
            refused.add(name);
            if (task.from !== undefined)
              onRefused?.({ ...task.from, why: 'two sessions show different right answers' });
          }
        }
      }
      return [...found.values()].slice(0, wanted.count);
    },
  };
}

/** Two answers in words may differ and both be right; two given answers may not. */
const agrees = (a: PracticeTask, b: PracticeTask): boolean =>
  a.isApproximate === true ||
  b.isApproximate === true ||
  JSON.stringify(a.reference) === JSON.stringify(b.reference);

async function* sessionsOf(
  records: Pick<Records, 'sessions'>,
  { agent, project }: TasksWanted,
): AsyncGenerator<SessionView> {
  let before: number | undefined;
  for (let read = 0; read < MOST_SESSIONS; ) {
    const page = await records.sessions({
      limit: PAGE,
      withoutPractice: true,
      ...(before === undefined ? {} : { before }),
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
    });
    yield* page.filter(({ erased }) => !erased);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE || last.lastAt === before) return;
    before = last.lastAt;
    read += page.length;
  }
}

async function hardSessions(records: Pick<Records, 'factsOf'>): Promise<ReadonlySet<string>> {
  const hard = new Set<string>();
  await eachFactOf('session-marked', records, ({ fact }) => {
    if (fact.type === 'session-marked') hard.add(fact.session);
  });
  return hard;
}

interface SessionMining extends MinedTasksOptions {
  readonly hard: ReadonlySet<string>;
}

async function mineSession(
  session: SessionView,
  { records, evidence, lessons, hard, onRefused }: SessionMining,
): Promise<readonly PracticeTask[]> {
  const views = await records.turns(session.id);
  const isMined = (view: TurnView): boolean =>
    view.role === 'main' && isPractisedOn(view) && !OTHER_RUNS(view.runKind);
  const usable = new Set(views.filter(isMined).map(({ id }) => id));
  if (usable.size === 0 || views.some(({ runKind }) => OTHER_RUNS(runKind))) return [];
  const turns = (await evidence.turns(session.id)).filter(({ evidence: { turn } }) => usable.has(turn));
  const matters = readMatters(turns);
  if (matters.length === 0) return [];
  const domain = await domainOf(session.id, records);
  const events = await records.events(session.id);
  const order = views.map(({ id }) => id);
  const { id, agent } = session;
  const place = { ...placeOfSession(id, { agent, project: session.project?.id }), domain };
  const rules = rulesFor(lessons(), place);
  const tasks: PracticeTask[] = [];
  for (const matter of matters) {
    const snapshot = snapshotBefore(matter.turn, order, events);
    const proof = readProof(matter, placeOf(snapshot));
    const refuse = (why: string): void => onRefused?.({ session: session.id, turn: matter.turn, why });
    if (!isWorthPractising(matter, proof, { isHard: hard.has(session.id), rules })) continue;
    if (proof.contradiction !== undefined) {
      refuse(proof.contradiction);
      continue;
    }
    if (matter.turns.every(({ appraisal }) => appraisal.verdict === 'infrastructure')) {
      refuse('an outage ended it');
      continue;
    }
    const workspace = proof.needsWorkspace ? await workspaceOf(snapshot, records) : undefined;
    tasks.push(
      toTask({
        session,
        matter,
        proof,
        domain,
        workspace,
        expected: expectedOf(matter, events),
      }),
    );
  }
  return tasks;
}

/** It was corrected, asked again, hard, proven or rated, or the check of a rule is about it. */
function isWorthPractising(
  { corrections, isAskedAgain, turns }: RecordedMatter,
  proof: MatterProof,
  { isHard, rules }: { readonly isHard: boolean; readonly rules: readonly CheckedRule[] },
): boolean {
  if (corrections.length > 0 || isAskedAgain || proof.commands === 'passed') return true;
  if (isHard && turns.some(({ appraisal }) => appraisal.verdict === 'failure')) return true;
  return turns.some(
    (turn) =>
      turn.evidence.given.some(({ source }) => source === 'person') || isGradable(rules, workUpTo(turn)),
  );
}

type Snapshot = Extract<StoredFact['fact'], { readonly type: 'workspace-snapshotted' }>;

/** The state of the project when the request came in: the newest one up to its turn, since only changes are written. */
function snapshotBefore(
  turn: string,
  order: readonly string[],
  events: readonly StoredFact[],
): Snapshot | undefined {
  const place = order.indexOf(turn);
  let found: { readonly at: number; readonly fact: Snapshot } | undefined;
  for (const { fact } of events) {
    if (fact.type !== 'workspace-snapshotted') continue;
    const at = order.indexOf(fact.turn);
    if (at >= 0 && at <= place && (found === undefined || at >= found.at)) found = { at, fact };
  }
  return found?.fact;
}

const placeOf = (snapshot: Snapshot | undefined): WorkPlace | undefined =>
  snapshot?.repository === undefined
    ? undefined
    : { repository: snapshot.repository, within: snapshot.within ?? '' };

async function workspaceOf(
  snapshot: Snapshot | undefined,
  records: Pick<Records, 'block'>,
): Promise<WorkspaceSnapshot | undefined> {
  if (snapshot?.repository === undefined || snapshot.commit === undefined) return undefined;
  const { repository, commit, content } = snapshot;
  const text = content === undefined ? undefined : await records.block(content);
  if (content !== undefined && text === undefined) return undefined;
  return { kind: 'git', repository, commit, ...(text === undefined ? {} : readWorkspaceContent(text)) };
}

/** The right answer that an application reported for a turn of the matter. */
function expectedOf({ turns }: RecordedMatter, events: readonly StoredFact[]): Json | undefined {
  const own = new Set(turns.map(({ evidence }) => evidence.turn));
  let expected: Json | undefined;
  for (const { fact } of events)
    if (fact.type === 'event-reported' && fact.kind === EXPECTED_EVENT)
      if (typeof fact.data.turn === 'string' && own.has(fact.data.turn)) expected = fact.data.expected;
  return expected;
}

interface TaskParts {
  readonly session: SessionView;
  readonly matter: RecordedMatter;
  readonly proof: MatterProof;
  readonly domain: string;
  readonly workspace: WorkspaceSnapshot | undefined;
  readonly expected: Json | undefined;
}

function toTask({ session, matter, proof, domain, workspace, expected }: TaskParts): PracticeTask {
  const { prompt, turn, history } = matter;
  const root = rootOf(domain, prompt);
  const check = expected === undefined ? checkOf(matter, proof) : answerCheck(expected);
  const isRecordOnly = proof.needsWorkspace && workspace === undefined;
  const isAccepted = proof.person === 'content' || proof.commands === 'passed';
  const reference =
    expected ?? (isAccepted && matter.answer !== '' ? matter.answer.slice(0, LONGEST_REFERENCE) : undefined);
  return {
    id: taskId('mined', root, session.id, turn),
    root,
    origin: 'mined',
    prompt,
    domain,
    agent: session.agent,
    ...(session.project === undefined ? {} : { project: session.project.id }),
    ...(history.length === 0 ? {} : { history }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(check === undefined ? {} : { check }),
    ...(reference === undefined ? {} : { reference }),
    ...(expected === undefined ? { isApproximate: true as const } : {}),
    from: { session: session.id, turn },
    expected: expectedSuccess(matter, proof),
    ...(isRecordOnly ? { isRecordOnly: true as const } : {}),
  };
}

function answerCheck(expected: Json): TaskCheck | undefined {
  if (typeof expected === 'number') return { kind: 'number', expected };
  return typeof expected === 'string' ? { kind: 'exact', expected } : undefined;
}

/** What verified it at the time; else what the person said. */
function checkOf({ corrections }: RecordedMatter, { commands, checks }: MatterProof): TaskCheck | undefined {
  if (commands === 'passed') {
    const command = checks.map((run) => run.command).join(' && ');
    return { kind: 'command', command, timeoutMs: CHECK_TIMEOUT_MS };
  }
  const quotes = [...new Set(corrections)].slice(0, MOST_CRITERIA);
  if (quotes.length === 0) return undefined;
  return {
    kind: 'rubric',
    criteria: quotes.map((quote) => ({
      text: `The user said of an earlier answer: "${quote.slice(0, LONGEST_QUOTE)}". This answer gives no reason to say so again.`,
    })),
  };
}

const CHECK_TIMEOUT_MS = 120_000;

/** A first estimate of the share of attempts that succeed, from how it went. */
function expectedSuccess(matter: RecordedMatter, { commands, hasFailed }: MatterProof): number {
  if (matter.corrections.length > 1) return 0.2;
  if (matter.corrections.length === 1 || matter.isAskedAgain) return 0.35;
  if (commands === 'passed') return hasFailed ? 0.6 : 0.75;
  return 0.5;
}
