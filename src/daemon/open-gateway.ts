import type { withTrainingSupply } from '../../train/training-supply.ts';
import type { ServedAlerts } from '../alerts/serve-alerts.ts';
import { createAdaptApi } from '../api/adapt-api.ts';
import { createConsolidateApi } from '../api/consolidate-api.ts';
import { limitRows } from '../api/key-limits.ts';
import { createKeysApi } from '../api/keys-api.ts';
import { createApisFor } from '../api/member-apis.ts';
import { servePage } from '../api/page/serve-page.ts';
import { createProjectPlaces } from '../api/project-places.ts';
import { withShortIds } from '../api/short-ids.ts';
import { createTrainingApi, scoreCanarySessions } from '../api/training-api.ts';
import { learningOf, withWaiting } from '../api/what-waits.ts';
import { VERSION } from '../base/package.ts';
import { sleep } from '../base/sleep.ts';
import { CLIENT_NAMES } from '../core/client-name.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { OverlayQuery } from '../core/overlay.ts';
import type { Records } from '../core/store.ts';
import type { KeyBudgets } from '../cost/key-budgets.ts';
import { createPrices } from '../cost/prices.ts';
import { createAuthorizer, isLoopbackName } from '../gateway/access-control.ts';
import { createAdmission, GATEWAY_LIMITS, watchAdmission } from '../gateway/admission.ts';
import { reportChecks } from '../gateway/check-reply.ts';
import type { GatewayContext } from '../gateway/context.ts';
import { logTurn } from '../gateway/finish-turn.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import { countPersons, createIdentify, createPersonHash, createPersonOf } from '../gateway/identify.ts';
import { createMetrics } from '../gateway/metrics.ts';
import { createProviderAccount } from '../gateway/provider-account.ts';
import { withShortenedPrompts } from '../gateway/shorten-prompts.ts';
import { NOTHING_SHOWN, overlayQueryOf } from '../gateway/turn.ts';
import { createPracticeApi } from '../learn/practice/practice-job.ts';
import { createAudit } from '../record/audit-trail.ts';
import { recordSessionEnd } from '../record/open-recording.ts';
import { withAppendListener } from '../record/records.ts';
import { type WatchedParts, watchAlerts } from './watch-alerts.ts';

interface OpenGateway {
  readonly server: Gateway;
  readonly alerts: ServedAlerts;
  readonly page: ReturnType<typeof servePage>;
  readonly metrics: ReturnType<typeof createMetrics>;
}

/** The server with its API, its page and its metrics. It does not listen yet. */
export function openGateway(parts: WatchedParts): OpenGateway {
  const { base, record, learned, slow } = parts;
  const { options, config, place, clock } = base;
  const { home, env, log } = options;
  const { library, learning, prices } = learned;
  const { recording } = record;
  const persons = countPersons(createPersonHash(record.salt));
  const admission = createAdmission({ ...GATEWAY_LIMITS, monotonic: clock.monotonic });
  const metrics = createMetrics({
    inFlight: () => admission.inFlight,
    learned: () => ({ ...learning.counts(), ...library.counts() }),
    recording: recording.state,
    served: learning.served,
    keys: () =>
      limitRows({ home, env, members: record.team.limited }, (key) => base.late.keyBudgets?.used(key)),
  });
  /** What is said of a turn is learned from at once. */
  const records = withAppendListener(recording.records, (facts) => {
    learning.wake();
    void scoreCanarySessions(facts, recording.records, slow.training, log);
  });
  const status = createStatus(parts, () => ({
    requests: { ...metrics.totals, inFlight: admission.inFlight },
    endUsers: persons.count(),
    alerts: alerts.waits(),
  }));
  const alerts = watchAlerts(parts, status);
  const page = servePage({
    home,
    env,
    place,
    owner: record.callers.owner,
    records,
    lessons: library.open,
    prices,
    status,
    clock,
    log,
    training: () => slow.training,
    clients: CLIENT_NAMES,
  });
  const server = createGateway({
    api: page.router,
    admission: watchAdmission(admission, slow.schedule.noticeTraffic),
    allowedHosts: () => config.gateway.allowedHosts,
    isBehindProxy: config.gateway.trustedProxy,
    onRefused: metrics.refused,
    onFault: (error) => log.error({ err: error }, 'a request failed inside Instar'),
    context: createContext(parts, { persons, metrics, records, status, alerts }),
  });
  return { server, page, metrics, alerts };
}

type Apis = Parameters<typeof createApisFor>[0]['apis'];

/** What the API of the gateway offers. */
function createApis({ base, record, learned, slow }: WatchedParts, status: () => JsonObject): Apis {
  const { options, config, live, clock } = base;
  const { home, env, log } = options;
  const { storeApi, recording, team, keyAgents } = record;
  const { library, overlays, learning } = learned;
  const { training, schedule } = slow;
  const { records, redactor } = recording;
  const supply = {
    config,
    configFile: home.configFile,
    records,
    lessons: () => library.library()?.shown(clock.now()) ?? [],
    now: clock.now,
    schedule: () => schedule.describe(),
    shortage: training?.practice.shortage,
  };
  const api = {
    ...storeApi,
    schedule: async () => redactor.redactObject(await schedule.describe()),
    confirmTime: async () => {
      const confirmed = await clock.confirm();
      void recording.retention.run();
      return confirmed;
    },
    learning: async () => learningOf(status()),
    switchLearning: async (on: boolean) => {
      const done = await storeApi.switchLearning(on);
      await learning.look();
      return done;
    },
    practice: createPracticeApi(learning.practice, log),
    overlays: async (query: OverlayQuery) => overlays.describe(query),
    ...createAdaptApi(records, library.api),
    ...createConsolidateApi(learning.practice),
    ...createTrainingApi(training, createSupplied(storeApi.training, supply), log),
  };
  const keysApi = createKeysApi({
    home,
    env,
    now: clock.now,
    records,
    settings: live,
    members: team.api,
    lessons: library.open,
    onChanged: keyAgents.reload,
    used: (key) => base.late.keyBudgets?.used(key),
    limitedMembers: team.limited,
  });
  return withShortIds({ api, lessonsApi: library.api, keysApi }, records);
}

/** `instar status`: each part describes itself. */
function createStatus(
  { base, record, learned, slow }: WatchedParts,
  traffic: () => {
    readonly requests: JsonObject;
    readonly endUsers: number;
    readonly alerts: readonly JsonObject[];
  },
): () => JsonObject {
  const { clock, started, names, live } = base;
  const { recording, shared } = record;
  const { library, overlays, learning } = learned;
  return () => {
    const { requests, endUsers, alerts } = traffic();
    return recording.redactor.redactObject(
      withWaiting({
        version: VERSION,
        pid: process.pid,
        startedAt: new Date(started.at).toISOString(),
        now: new Date(clock.now()).toISOString(),
        uptimeMs: Math.round(clock.monotonic() - started.monotonic),
        providers: names.describe(),
        requests,
        recording: compact({ ...recording.state() }),
        copies: recording.describeCopies(),
        time: clock.describe(),
        library: library.status(),
        endUsers,
        ...compact({ sharedRecord: shared?.describe(), router: overlays.router.describe() }),
        learning: learning.status(),
        schedule: { waits: [...slow.schedule.waits(), ...alerts] },
        settings: live.describe(),
        memoryBytes: process.memoryUsage.rss(),
      }),
    );
  };
}

interface RequestParts {
  readonly persons: ReturnType<typeof countPersons>;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** What is appended here is learned from at once. */
  readonly records: Records;
  readonly status: () => JsonObject;
  readonly alerts: ServedAlerts;
}

/** What a request needs of the daemon. */
function createContext(
  parts: WatchedParts,
  { persons, metrics, records, status, alerts }: RequestParts,
): GatewayContext {
  const { base, record, learned, slow } = parts;
  const { options, config, clock, names, exchange, newId } = base;
  const { log } = options;
  const { recording, keyAgents, attemptKeys } = record;
  const { library, overlays } = learned;
  const places = createProjectPlaces({
    file: options.home.projectsFile,
    salt: record.salt,
    redact: recording.redactor.redactName,
    hasLessons: (project) =>
      library
        .library()
        ?.shown(clock.now())
        .some(({ text }) => text.scope.project === project) === true,
  });
  const apisFor = createApisFor({
    apis: createApis(parts, status),
    records,
    lessons: library.open,
    audit: createAudit(recording.records, clock.now),
    now: clock.now,
    agents: keyAgents,
  });
  return {
    ...GATEWAY_LIMITS,
    catalogue: names.catalogue,
    exchange,
    authorize: createAuthorizer({
      keys: attemptKeys,
      onLoopback: isLoopbackName(config.gateway.host),
      clock,
      account: createProviderAccount(config.gateway, recording.records, clock, log),
    }),
    clock,
    random: Math.random,
    newId,
    pause: sleep,
    lessons: withShortenedPrompts(
      async (turn, most) => (overlays.isOff() ? NOTHING_SHOWN : library.lessons(turn, most)),
      slow.shortening,
    ),
    overlays: (turn) => overlays.apply({ ...overlayQueryOf(turn), key: turn.caller?.id }),
    flows: overlays.flows,
    limits: async (key, request) => (await keyBudgets(parts)).admit(key, request),
    router: {
      isAsked: (turn, targets) => config.router !== undefined && overlays.router.isAsked(turn, targets),
      route: overlays.router.route,
    },
    identify: createIdentify({ redact: recording.redactor.redactName, hashPerson: persons.hash }),
    personOf: createPersonOf(persons.hash),
    projectOf: places.projectOf,
    projectReported: places.reported,
    agents: keyAgents,
    sessions: record.sessions,
    sessionEnded: (session) => recordSessionEnd(session, records, clock, log),
    recorder: recording.recorder,
    records,
    apisFor,
    chatCommand: async (request) =>
      (await import('../api/chat-commands.ts')).createChatCommands({
        lessonsOf: (caller) => apisFor(caller).lessonsApi,
        turn: async (id) => records.turn(id),
        recollect: learned.learning.recollect,
      })(request),
    report: (report) => {
      metrics.report(report);
      logTurn(log, report);
    },
    status,
    chatWord: metrics.chatWord,
    checked: reportChecks(metrics, log),
    metrics: () => recording.metricsWith([metrics.text, slow.schedule.text, alerts.text]),
  };
}

/** What keys with limits have used. Loaded with the first request of such a key. */
async function keyBudgets({ base, record, learned }: WatchedParts): Promise<KeyBudgets> {
  const { late, clock } = base;
  const { createKeyBudgets } = await import('../cost/key-budgets.ts');
  late.keyBudgets ??= createKeyBudgets({
    openBudget: record.jobs.openBudget,
    prices: (name) => createPrices(learned.prices())(name),
    clock,
    records: record.recording.records,
  });
  return late.keyBudgets;
}

/** The training status with what there is to train on, counted when it is asked for. */
function createSupplied(
  recorded: DaemonApi['training'],
  supply: Parameters<typeof withTrainingSupply>[1],
): DaemonApi['training'] {
  let described: DaemonApi['training'] | undefined;
  return async () => {
    described ??= (await import('../../train/training-supply.ts')).withTrainingSupply(recorded, supply);
    return described();
  };
}
