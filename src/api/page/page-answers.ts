import path from 'node:path';
import type { Home } from '../../config/home.ts';
import { settingNote } from '../../config/setting-path.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../../core/json.ts';
import { isInUse } from '../../core/lesson.ts';
import type { Records } from '../../core/store.ts';
import type { PriceRules } from '../../cost/prices.ts';
import { giveFeedback } from '../../gateway/control-api.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';
import { namesOf } from '../../lessons/title.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { type AnswersTo, type Asked, isByPage, WholeReply } from '../router/answer.ts';
import { encodeErasure } from '../router/answers.ts';
import type { PAGE_ROUTES } from '../router/page-routes.ts';
import { createDecideLesson, refuseChanged } from './decide-lesson.ts';
import type { Feed } from './feed.ts';
import { createKeptAnswer } from './kept-answer.ts';
import type { PageLogin } from './login.ts';
import type { PageFiles } from './page-files.ts';
import type { PageReads } from './page-reads.ts';
import { hashOfSession } from './read-thread.ts';
import { madeOf } from './slow-answers.ts';

export interface PageParts {
  readonly home: Pick<Home, 'dir' | 'keyFile'>;
  readonly login: PageLogin;
  readonly files: PageFiles;
  readonly feed: Feed;
  readonly reads: PageReads;
  readonly records: Pick<Records, 'session' | 'append'>;
  /** Undefined while the record cannot be read. */
  readonly lessons: () => OpenLessons | undefined;
  readonly prices: () => PriceRules;
  /** The policy in training; undefined when nothing is to be trained. */
  readonly training: () => ServedPolicy | undefined;
  /** `learn.adapt`. */
  /** The programs that `instar connect` knows. */
  readonly clients: readonly string[];
  readonly now: () => number;
  readonly monotonic: () => number;
}

interface ServedPolicy {
  readonly policy: { readonly name: string };
  describe(): Promise<JsonObject>;
}

const DAY = 86_400_000;
/** A month of the record is read for it: it takes at most this share of the time of its thread. */
const HOME_MS = 500;
const HOME_SHARE = 0.5;
const HOME_DAYS = 30;
const MOST_RULES = 6;
const MOST_TO_DECIDE = 2;
/** Candidates are computed from all newest events. */
const CANDIDATES_MS = 3000;

type PageAnswers = AnswersTo<typeof PAGE_ROUTES>;

/** The answers to the routes of the page. */
export function createPageAnswers(parts: PageParts): PageAnswers {
  const home = createHomeAnswer(parts);
  return {
    ...createSignInAnswers(parts),
    ...createSessionAnswers(parts, home.forget),
    ...createLibraryAnswers(parts),
    ...createProgressAnswers(parts),
    pageHome: home.answer,
  };
}

function lessonsOf(parts: PageParts): OpenLessons {
  const open = parts.lessons();
  if (open === undefined) throw Object.assign(new Error('The library cannot be read.'), { status: 400 });
  return open;
}

const createSignInAnswers = ({
  login,
  feed,
  files,
}: PageParts): Pick<PageAnswers, 'isSignedIn' | 'login' | 'logout' | 'signOutAll' | 'pageCode' | 'feed'> => ({
  isSignedIn: async ({ raw: { request } }) => {
    return { in: login.personOf(request)?.ok === true };
  },
  login: async ({ raw: { request }, body }) => {
    const entered = login.enter(body.code, request);
    if (!entered.ok) return entered.why;
    return new WholeReply({ json: { ok: true, word: entered.word }, headers: entered.headers });
  },
  logout: async ({ raw: { request } }) =>
    new WholeReply({ json: { ok: true }, headers: login.leave(request) }),
  signOutAll: async () => {
    login.leaveAll();
    feed.endAll();
    return { ok: true };
  },
  pageCode: async (asked) => {
    if (isByPage(asked)) return ONLY_IN_A_TERMINAL;
    const { code, expiresAt } = login.newCode();
    const url = `http://${asked.raw.request.headers.host ?? ''}/#code=${code}`;
    return { url, code, expiresAt: isoTime(expiresAt), hasPage: files.isBuilt() };
  },
  feed: async ({ raw: { request } }) => {
    const last = Number(request.headers['last-event-id'] ?? Number.NaN);
    const joined = feed.join(Number.isSafeInteger(last) ? last : undefined);
    return 'stream' in joined ? new WholeReply(joined) : (joined as Failure);
  },
});

function createSessionAnswers(
  parts: PageParts,
  /** A person has said something that Home shows. */
  forgetHome: () => void,
): Pick<
  PageAnswers,
  'pageSessions' | 'pageFacets' | 'pageThread' | 'rateTurn' | 'markSession' | 'eraseShown'
> {
  const { reads, now } = parts;
  return {
    pageSessions: ({ query }) => reads.sessions(query),
    pageFacets: async () => {
      const { agents, projects, clients } = await reads.facets();
      const used = await reads.used();
      const isTrained = (await stepsOf(parts)).length > 0;
      const listed = ({ name, sessions, lastAt }: (typeof agents)[number]) => ({
        name,
        sessions,
        lastAt: isoTime(lastAt),
      });
      return {
        agents: agents.map(listed),
        clients: clients.map(listed),
        projects: projects.map(({ name: id, label, sessions }) => ({ id, label, sessions })),
        lab: [
          ...(used.practice ? ['practice'] : []),
          ...(isTrained ? ['training'] : []),
          ...(used.adaptation ? ['adaptation'] : []),
        ],
      };
    },
    pageThread: async ({ id, query }) => {
      const thread = await reads.thread({ id, ...query, prices: parts.prices() });
      if (thread === undefined) return undefined;
      const { library } = lessonsOf(parts);
      const named = (lesson: unknown): JsonObject => ({
        id: String(lesson),
        ...namesOf(library.lesson(String(lesson))),
      });
      const turns = asArray(thread.turns)
        .map(asObject)
        .map((turn) => ({ ...turn, lessons: asArray(turn.lessons).map(named) }));
      return { ...thread, turns };
    },
    rateTurn: async ({ id, body, caller, context: { records } }) => {
      const { score, note } = body;
      const done = await giveFeedback({ records, now }, compact({ turn: id, score, note }), caller);
      forgetHome();
      return done.ok ? { ok: true } : done.why;
    },
    markSession: async ({ id, body }) => {
      const refusal = await refuseOther(parts, id, body.shown);
      if (refusal !== undefined) return refusal;
      const reason = 'a person marked it';
      const fact = { type: 'session-marked', session: id, mark: 'hard', reason } as const;
      await parts.records.append([{ at: now(), fact }]);
      return { ok: true };
    },
    eraseShown: async ({ id, body, api }) => {
      const refusal = await refuseOther(parts, id, body.shown);
      return refusal ?? encodeErasure(await api.erase(id));
    },
  };
}

/** A change of a session that is not any more what the person was shown. */
async function refuseOther(
  { records }: PageParts,
  id: string,
  shown: string,
): Promise<WholeReply | Failure | undefined> {
  const session = await records.session(id);
  if (session === undefined) return createFailure('not-found', `No session named "${id.slice(0, 128)}".`);
  const hash = hashOfSession(session);
  return hash === shown
    ? undefined
    : refuseChanged('This session has changed since it was shown to you: look at it again.', { id, hash });
}

function createLibraryAnswers(
  parts: PageParts,
): Pick<
  PageAnswers,
  | 'pageLessons'
  | 'pageLesson'
  | 'pageGenerations'
  | 'pageDiff'
  | 'pageAdaptation'
  | 'pageWhy'
  | 'decideLesson'
  | 'rollbackShown'
> {
  const { reads, monotonic } = parts;
  const lessons = (): OpenLessons => lessonsOf(parts);
  const candidates = createKeptAnswer({
    make: () => reads.adaptation(madeOf(lessons().library.lessons())),
    freshMs: CANDIDATES_MS,
    monotonic,
    isAwaited: true,
  });
  const showLesson = async (id: string, api: Asked['lessonsApi']) => {
    const shown = await api.show(id);
    if (shown === undefined) return undefined;
    const turns = asArray(asObject(shown.evidence).turns).map(String);
    const { pages } = lessons();
    return { ...shown, ...pages.more(String(shown.id)), sessions: [...(await reads.sessionsOf(turns))] };
  };
  return {
    pageLessons: ({ query }) => lessons().pages.list(query),
    pageLesson: ({ id, lessonsApi }) => showLesson(id, lessonsApi),
    pageGenerations: async ({ query }) => lessons().pages.generations(query),
    pageDiff: async ({ id, query }) => lessons().pages.diff(Number(id), Number(query.to)),
    pageAdaptation: async ({ api }) => {
      const { pages, library } = lessons();
      const overlays = (await api.overlays({})).map((overlay) => {
        const lesson = asString(overlay.lesson) ?? '';
        return { ...overlay, kind: library.lesson(lesson)?.kind ?? '', hash: pages.hashOf(lesson) };
      });
      return { ...(await candidates.newest()).value, overlays };
    },
    pageWhy: ({ id }) => lessons().pages.why(id),
    decideLesson: createDecideLesson({ lessons, show: showLesson }),
    rollbackShown: async ({ id, body, lessonsApi }) => {
      const { generation } = lessons().library;
      if (body.shown !== generation)
        return refuseChanged(
          `The library is at generation ${generation} now, not at ${body.shown}: look at it again.`,
          { generation },
        );
      return lessonsApi.rollback(Number(id));
    },
  };
}

function createProgressAnswers(parts: PageParts): Pick<PageAnswers, 'pageTraining' | 'pageSetup'> {
  const { reads } = parts;
  return {
    pageTraining: async ({ api, context }) => {
      const { buffer } = asObject(context.status().learning);
      const { state, reasons, windows } = await api.schedule();
      const { supply } = await api.training();
      const policy = policyName(parts);
      return {
        engine: policy ?? 'off',
        policy: '',
        generation: lessonsOf(parts).library.generation,
        ...(await parts.training()?.describe()),
        buffer: { query: 0, support: 0, ...asObject(buffer) },
        steps: [...(await stepsOf(parts))],
        moves: await movesOf(parts, policy),
        windows: asArray(windows),
        schedule: compact({ state, reasons }),
        ...compact({ supply }),
      };
    },
    pageSetup: async ({ keysApi, raw: { request } }) => {
      const { clients } = await reads.facets();
      const { file, settings, problem } = await keysApi.settings();
      return compact({
        file,
        problem,
        settings: asArray(settings)
          .map(asObject)
          .map((setting) => ({ ...setting, ...settingNote(String(setting.path).split('.')) })),
        url: `http://${request.headers.host ?? ''}`,
        home: parts.home.dir,
        keyFile: parts.home.keyFile,
        clients: parts.clients.map((name) => {
          const recorded = clients.find((client) => client.name === name);
          return compact({
            name,
            title: TITLES[name] ?? name,
            connect: `instar connect ${name} --write`,
            undo: `instar connect ${name} --undo`,
            seen: recorded && { sessions: recorded.sessions, lastAt: isoTime(recorded.lastAt) },
          });
        }),
      });
    },
  };
}

const policyName = ({ training }: PageParts): string | undefined => training()?.policy.name;

async function movesOf({ reads }: PageParts, policy: string | undefined): Promise<JsonObject[]> {
  if (policy === undefined) return [];
  const moves = await reads.moves(`policy/${policy}`);
  return moves.map(({ at, fact: { version, from, to, by, why } }) =>
    compact({ at: isoTime(at), version, from, to, by, why }),
  );
}

/** How the work went, what is in force and how it is kept, and what waits for the owner: everything that Home shows. */
function createHomeAnswer(parts: PageParts): {
  readonly answer: PageAnswers['pageHome'];
  forget(): void;
} {
  const { reads, now, monotonic } = parts;
  let offset = 0;
  const work = createKeptAnswer<JsonObject>({
    make: () => reads.home({ now: now(), offset }),
    freshMs: HOME_MS,
    mostShare: HOME_SHARE,
    monotonic,
    isAwaited: true,
  });
  const answer: PageAnswers['pageHome'] = async ({ query, context }) => {
    if (query.offset !== undefined && query.offset !== offset) {
      offset = query.offset;
      work.forget();
    }
    const { library, pages } = lessonsOf(parts);
    const since = now() - HOME_DAYS * DAY;
    const [live, trial, proposed] = await Promise.all(
      (['live', 'trial', 'proposed'] as const).map((state) => pages.list({ state, limit: MOST_RULES })),
    );
    const listed = (page: JsonObject | undefined) => asArray(page?.lessons).map(asObject);
    const inForce = library.lessons().filter(isInUse);
    const waits = asArray(context.status().waiting).map(asObject);
    const undecided = waits.filter(({ code, lesson }) => code === 'not-tested' && lesson !== undefined);
    const decide = [
      ...listed(proposed).map(({ id, title }) => ({ id, title })),
      ...undecided.map(({ lesson }) => ({ id: lesson, ...namesOf(library.lesson(String(lesson))) })),
    ];
    return {
      ...(await work.newest()).value,
      flags: inForce
        .filter(({ createdAt }) => createdAt >= since)
        .map((lesson) => ({ id: lesson.id, ...namesOf(lesson), at: isoTime(lesson.createdAt) })),
      rules: [...listed(live), ...listed(trial)]
        .sort((a, b) => String(b.changedAt).localeCompare(String(a.changedAt)))
        .slice(0, MOST_RULES)
        .map((shown) => {
          const lesson = library.lesson(String(shown.id));
          const said = lesson?.text.evidence.turns.length ?? 0;
          return { ...shown, said, isTold: lesson !== undefined && isPersonsWord(lesson) };
        }),
      ruleCount: inForce.length,
      decide: decide.slice(0, MOST_TO_DECIDE),
      decideCount: (asNumber(proposed?.total) ?? 0) + undecided.length,
    };
  };
  return { answer, forget: work.forget };
}

const TITLES: Readonly<Record<string, string>> = {
  openclaw: 'OpenClaw',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'OpenCode',
  pi: 'pi',
  cline: 'Cline',
  continue: 'Continue',
  hermes: 'Hermes Agent',
};

const isoTime = (at: number): string => new Date(at).toISOString();

const ONLY_IN_A_TERMINAL = createFailure(
  'forbidden',
  'The page cannot make codes for other browsers. Run in a terminal: instar page',
  { code: 'terminal' },
);

/** None without a policy in training. */
async function stepsOf(parts: PageParts): Promise<readonly JsonObject[]> {
  const policy = policyName(parts);
  if (policy === undefined) return [];
  const { readTrainingSteps } = await import('../../../train/read-steps.ts');
  return readTrainingSteps(path.join(parts.home.dir, 'train', policy));
}
