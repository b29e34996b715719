import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Home } from '../config/home.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import type { StoredFact } from '../core/fact.ts';
import { compact, type JsonObject, toJson } from '../core/json.ts';
import type { LessonPlace } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { LessonsForTask } from '../core/practice.ts';
import { principalOfSession } from '../core/principal.ts';
import type { EmbeddingModel, RecallResult } from '../core/recall.ts';
import type { Recollect } from '../core/recollection.ts';
import { type Records, StoreError } from '../core/store.ts';
import { createMiniLmEmbed } from '../embed/minilm-embed.ts';
import { firstLookFor } from '../embed/static-embed.ts';
import { digestError } from '../evidence/digest/digest-error.ts';
import type { LessonsByPlan } from '../gateway/context.ts';
import type { ShownLessons, Turn } from '../gateway/turn.ts';
import { lintSkillText } from '../learn/gate/lint-lesson.ts';
import { describeToldRules } from '../lessons/adherence/adherence.ts';
import { type CompareBlocks, createCompareBlocks } from '../lessons/compare-blocks.ts';
import { createLibraryHoldout, type Holdout } from '../lessons/effect/hold-out.ts';
import { describeUse } from '../lessons/explain/describe-use.ts';
import { createIdentityMirror } from '../lessons/identity-files/identity-mirror.ts';
import { createLessonsForTask } from '../lessons/lessons-for-task.ts';
import type { MovedLesson } from '../lessons/library.ts';
import { deferLessonsApi, type OpenLessons, openLessons } from '../lessons/open-lessons.ts';
import { createIndexFile, type IndexFile } from '../lessons/recall/index-file.ts';
import { createKeptEmbedding } from '../lessons/recall/kept-embedding.ts';
import { comparedKey, vectorKeysOf } from '../lessons/recall/lesson-texts.ts';
import { createRecall, type LessonRecall, type RecallSettings } from '../lessons/recall/recall.ts';
import { limitsFor } from '../lessons/recall/select-lessons.ts';
import { openVectorCache, type VectorCache } from '../lessons/recall/vector-cache.ts';
import { createReadLearnedIn } from '../lessons/scope.ts';
import { createReadLeftTurns, type SharedSessions } from '../lessons/shown/left-turns.ts';
import type { SessionRules } from '../lessons/shown/remind-rules.ts';
import { createShowLessons, type PromptTurn } from '../lessons/shown/show-lessons.ts';
import { withoutWhatEnded } from '../lessons/shown/show-past.ts';
import { encodeFileChange, listFileChanges } from '../lessons/skill-files/file-changes.ts';
import { type FolderFollower, joinFollowers } from '../lessons/skill-files/follow-folder.ts';
import { createNativeFollower, nativeDirs } from '../lessons/skill-files/native-skills.ts';
import type { FileFault } from '../lessons/skill-files/skill-file.ts';
import { createSkillMirror } from '../lessons/skill-files/skill-mirror.ts';
import { placeForModel, roomForModel } from '../text/model-size.ts';
import { readConversation } from '../wire/conversation.ts';

export interface ServeLessonsOptions {
  /** Instead of an own model; its owner closes it. */
  readonly embed?: EmbeddingModel | undefined;
  readonly home: Home;
  /** Read when they are needed: they may change. */
  readonly settings: Config['library'];
  /** The model that answers by default; empty without one. */
  readonly usualModel: () => string;
  readonly records: Records;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly recertify: (moved: readonly MovedLesson[]) => Promise<readonly string[]>;
  /** What the user of a session has said so far. */
  readonly statements: (session: string) => Promise<readonly string[]>;
  /** What the asker said in earlier sessions. */
  readonly recollect: Recollect;
  /** Whether answers may not be checked yet, and a wait for their checks. */
  readonly checks: Pick<SessionRules, 'isBehind' | 'catchUp'>;
  /** What others who share the record leave; undefined where nobody does. */
  readonly shared?: Omit<SharedSessions, 'forgetLots' | 'turnsOf'> | undefined;
  /** Recall waits for the sentence model without a limit, so that runs can be repeated. For benchmarks. */
  readonly isUnhurried?: boolean;
}

/** The daemon's library. While the record cannot be read, no lessons are shown and opening is tried again. */
export interface ServedLessons {
  readonly lessons: (turn: Turn, by?: LessonsByPlan) => Promise<ShownLessons>;
  readonly api: LessonsApi;
  /** Undefined while the record cannot be read. */
  open(): OpenLessons | undefined;
  library(): Library | undefined;
  /** The sentence model. */
  readonly embed: EmbeddingModel;
  /** For whole lessons: their vectors are kept between two starts. */
  readonly embedKept: EmbeddingModel['embed'];
  readonly lessonsFor: LessonsForTask;
  /** For what acts outside of prompts. */
  readonly lotOf: Holdout['lotOf'];
  readonly compareBlocks: CompareBlocks;
  status(): JsonObject;
  /** For metrics: which engine compared tasks with lessons. */
  counts(): Readonly<Record<string, number>>;
  /** Resolves when all lessons are embedded. */
  settle(): Promise<void>;
  /** The rules whose check applies to what the agent of a session did last. */
  noteWork(session: string, rules: readonly string[]): void;
  /** Reads what another gateway has published or measured. */
  follow(stored?: StoredFact): Promise<void>;
  /** Follows an erasure, of one session or of several: resolves when no file here has an erased text any more. */
  followErasure(session?: string): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly open: OpenLessons;
  readonly index: LessonRecall;
  readonly lessons: ServedLessons['lessons'];
  readonly noteWork: ServedLessons['noteWork'];
  readonly mirror: FolderFollower;
  readonly compare: CompareBlocks;
  readonly holdout: Holdout;
  readonly followErasure: ServedLessons['followErasure'];
}

const AGAIN_MS = 10_000;
/** As many as have their prompts in memory. */
const MOST_SESSIONS = 5000;
/** New conversations are rare; during a flood of them the sentence model must not occupy a core. */
const DEMAND = { atOnce: 2, perSecond: 2 };

const nothingRecalled: RecallResult = {
  lessons: [],
  index: [],
  heldOut: [],
  domain: { name: 'general', reason: 'default' },
  considered: [],
  engine: 'none',
};

export async function serveLessons(options: ServeLessonsOptions): Promise<ServedLessons> {
  const { home, clock, log } = options;
  const embed = options.embed ?? createMiniLmEmbed();
  const first = firstLookFor(embed);
  const vectors = await openVectorCache(home.vectorFile, embed.id, embed.dimensions).catch(
    (error: unknown) => {
      log.warn({ err: error }, 'the vector cache cannot be opened: lessons are embedded again at each start');
      return undefined;
    },
  );
  const indexFile = createIndexFile(home.indexFile);
  const engines: Engines = { embed, first, vectors, indexFile };
  let opened: Opened | undefined;
  let problem: string | undefined;
  let again: NodeJS.Timeout | undefined;

  const tryToOpen = async (): Promise<void> => {
    try {
      opened = await openServed(options, engines);
      problem = undefined;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      log.error({ err: error }, 'the library cannot be read: no lessons are shown until it can');
      again = setTimeout(() => void tryToOpen(), AGAIN_MS);
      again.unref();
    }
  };
  await tryToOpen();

  const api = async (): Promise<LessonsApi> => {
    if (opened === undefined) throw new StoreError('io', problem ?? 'the library is not open yet');
    return opened.open.api;
  };
  return {
    lessons: async (turn, by) => opened?.lessons(turn, by) ?? { generation: 0, lessons: [], additions: [] },
    api: deferLessonsApi(api),
    open: () => opened?.open,
    library: () => opened?.open.library,
    embed,
    embedKept: createKeptEmbedding(embed, vectors),
    lessonsFor: createLessonsForTask({
      library: () => opened?.open.library,
      recall: async (query, now) => opened?.index.recall(query, now) ?? nothingRecalled,
      now: clock.now,
      place: usualPlace(options),
    }),
    lotOf: (query, lesson) => opened?.holdout.lotOf(query, lesson) ?? 'shown',
    compareBlocks: async (...asked) => opened?.compare(...asked) ?? [],
    status: () => (opened === undefined ? { problem: problem ?? '' } : describe(opened, clock.now())),
    counts: () => {
      const { bySentences = 0, firstLooks = 0 } = opened?.index.stats().recalls ?? {};
      return { recalls_by_sentences: bySentences, recalls_first_looks: firstLooks };
    },
    settle: async () => opened?.index.settled(),
    noteWork: (session, rules) => opened?.noteWork(session, rules),
    follow: async (stored) => {
      if (stored === undefined || stored.fact.type === 'library-changed') return opened?.open.catchUp();
      if (stored.fact.type === 'rules-observed') return opened?.open.adherence().add(stored);
      opened?.open.effects.add(stored);
      opened?.open.trials.add(stored);
    },
    followErasure: async (session) => opened?.followErasure(session),
    close: async () => {
      clearTimeout(again);
      await opened?.mirror.close();
      if (options.embed === undefined) await embed.close();
      await first.close();
      await vectors?.close();
      await indexFile.close();
    },
  };
}

/** Where no request says which model answers: that of the model that answers by default. */
const usualPlace =
  ({ settings, usualModel }: ServeLessonsOptions) =>
  (): LessonPlace =>
    placeForModel(settings.place, usualModel());

interface Engines {
  readonly embed: EmbeddingModel;
  readonly first: EmbeddingModel;
  readonly vectors: VectorCache | undefined;
  readonly indexFile: IndexFile;
}

/** Reads the library and starts what follows it. Rejects when the record cannot be read. */
async function openServed(options: ServeLessonsOptions, engines: Engines): Promise<Opened> {
  const { settings, records, clock, newId, log } = options;
  const { embed, vectors, indexFile } = engines;
  let index: LessonRecall | undefined;
  const place = usualPlace(options);
  const open = await openLessons({
    recall: async (query, now) => index?.recall(query, now) ?? nothingRecalled,
    recertify: options.recertify,
    recollect: options.recollect,
    embed,
    records,
    clock,
    newId,
    place,
    sharesAgents: () => settings.shareAgents,
    sandboxFix: async () => (await import('../agent/sandbox/find-confiner.ts')).sandboxFix(),
    onFault: (error) => log.error({ err: error }, 'a listener for library changes failed'),
  });
  const { library } = open;
  const holdout = createLibraryHoldout(library, open.effects);
  const demand = options.isUnhurried === true ? {} : { demand: DEMAND };
  const served = recallOf(options, engines, open, { holdout, indexFile, ...demand });
  index = served;
  const recall = recallOf(options, engines, open, {});
  const compare = createCompareBlocks({ library, recall, engine: embed.id, now: clock.now, place });
  const update = (): void => void served.update(library.shown(clock.now()));
  update();
  library.onChange(update);
  const mirror = mirrorLessons(options, library);
  const work = createLruMap<string, readonly string[]>(MOST_SESSIONS);
  const showLessons = showServed(options, library, served, {
    holdout,
    rules: {
      ...options.checks,
      brokenIn: (session) => open.adherence().brokenIn(session),
      applying: (session) => work.get(session) ?? [],
    },
  });
  return {
    open,
    index: served,
    noteWork: (session, rules) => work.set(session, rules),
    mirror,
    compare,
    holdout,
    lessons: async (turn, by = {}) =>
      turn.body === undefined
        ? { generation: library.generation, lessons: [], additions: [] }
        : showLessons.show(toPromptTurn(turn, turn.body, by, settings.shareAgents)),
    followErasure: async (session) => {
      await open.reload();
      showLessons.forget(session);
      const shown = library.shown(clock.now());
      await indexFile.keepOnly(new Set(shown.map(comparedKey)));
      await vectors?.keepOnly(vectorKeysOf(shown));
      await mirror.settle();
    },
  };
}

const recallOf = (
  { settings, records }: ServeLessonsOptions,
  { embed, first, vectors }: Engines,
  { effects }: OpenLessons,
  own: Partial<RecallSettings>,
): LessonRecall =>
  createRecall({
    embed,
    first,
    limits: limitsFor(settings),
    usefulness: effects.usefulness,
    learnedIn: createReadLearnedIn(records),
    get patterns() {
      return settings.domains.map((pattern) => compact(pattern));
    },
    ...(vectors === undefined ? {} : { vectorCache: vectors }),
    ...own,
  });

/** The lessons as files: of this home, and of the clients that read skills. */
function mirrorLessons({ home, clock, newId, log }: ServeLessonsOptions, library: Library): FolderFollower {
  const onFault = ({ file, why }: FileFault): void => log.warn({ file }, `file of a lesson: ${why}`);
  const files = { library, clock, newId, log, lint: lintSkillText, onFault };
  return joinFollowers(
    createSkillMirror({ ...files, dir: home.skillsDir }),
    createIdentityMirror({ ...files, dir: home.identityDir }),
    createNativeFollower({ ...nativeDirs(home), library, onFault }),
  );
}

const showServed = (
  { settings, records, clock, statements, recollect, shared, isUnhurried = false, log }: ServeLessonsOptions,
  library: Library,
  index: LessonRecall,
  { holdout, rules }: { readonly holdout: Holdout; readonly rules: SessionRules },
): ReturnType<typeof createShowLessons> =>
  createShowLessons({
    library,
    recall: (query, now) => index.recall({ ...query, isUnhurried }, now),
    records,
    clock,
    domains: settings.domains.map((pattern) => compact(pattern)),
    place: (model) => placeForModel(settings.place, model),
    room: (model) => roomForModel(settings.tokenBudget, model),
    statements,
    recollect: withoutWhatEnded(recollect, library),
    rules,
    ...(shared && {
      shared: { ...shared, turnsOf: createReadLeftTurns(records), forgetLots: holdout.forget },
    }),
    errors: {
      digestsOf: digestError,
      lotOf: holdout.lotOf,
      onFault: (error) => log.warn({ err: error }, 'a message could not be searched for known errors'),
    },
    onFault: (error, session) =>
      log.warn({ err: error, session }, 'the recall decision of a session could not be recorded'),
  });

function toPromptTurn(
  turn: Turn,
  body: Uint8Array,
  { most, model, remembered }: LessonsByPlan,
  sharesAgents: boolean | undefined,
): PromptTurn {
  const { id, kind, wire, session, outline, identity } = turn;
  const { agent, client, project, runKind, domain } = identity;
  return {
    id,
    session: session.session,
    role: identity.role,
    isCount: kind === 'count',
    isRecorded: identity.record,
    model: outline?.model ?? '',
    answeredBy: model ?? outline?.model ?? '',
    size: body.length,
    ...(remembered === undefined ? {} : { remembered }),
    query: compact({
      agent: agent ?? client ?? 'unknown',
      project: project?.id,
      projectLabel: project?.label,
      runKind,
      domain,
      most,
      member: principalOfSession(session.session),
      sharesAgents,
    }),
    readConversation: () => readConversation(wire.name, body),
  };
}

function describe({ open, index, mirror }: Opened, now: number): JsonObject {
  const { library } = open;
  const states: Record<string, number> = {};
  for (const { state } of library.lessons()) states[state] = (states[state] ?? 0) + 1;
  return {
    generation: library.generation,
    lessons: states,
    shown: library.shown(now).length,
    index: toJson(index.stats()),
    unreadable: open.skipped(),
    ...describeUse(library, open.trials, open.effects),
    ...compact({ adherence: describeToldRules(library.lessons(), open.adherence()) }),
    fileChanges: listFileChanges(library, now).map(encodeFileChange),
    isWritingFiles: mirror.isBusy(),
    skillFaults: mirror.faults().map(({ file, why }) => `${file} ${why}`),
  };
}
