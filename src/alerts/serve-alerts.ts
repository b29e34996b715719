import type { Log } from '../base/log.ts';
import { Counter, Gauge, Registry } from '../base/prometheus.ts';
import type { AlertSettings } from '../core/alert.ts';
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { AsyncReads } from '../core/store.ts';
import { plural } from '../text/phrases.ts';
import { type AlertQueue, isDeliveryDue, openAlertQueue } from './alert-queue.ts';
import {
  type AlertCause,
  findBudgetAlerts,
  findRuleAlerts,
  findWaitingAlerts,
  joinDecisions,
  learningBudgets,
  type WatchedBudget,
  waitingOf,
} from './find-alerts.ts';
import { createAlertSender } from './send-alert.ts';

interface AlertsOptions {
  /** Where what waits is kept. */
  readonly file: string;
  /** Read at each look; undefined: nothing is sent. */
  readonly settings: () => AlertSettings | undefined;
  readonly learnBudget: () => Parameters<typeof learningBudgets>[1];
  readonly env: NodeJS.ProcessEnv;
  readonly status: () => JsonObject;
  /** Budgets of the day beside that of learning. */
  readonly budgets: () => readonly WatchedBudget[];
  readonly dayOf: (at: number) => string;
  readonly records: Pick<AsyncReads, 'factsOf' | 'newestOf'>;
  readonly titleOf: (lesson: string) => string | undefined;
  readonly redact: (text: string) => string;
  readonly isQuiet: (hours: string | undefined, now: number) => Promise<boolean>;
  /** Of several gateways of a record one tells what concerns all. */
  readonly isLeader: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs?: number;
}

export interface ServedAlerts {
  /** For status: what keeps alerts from being taken; undefined while nothing does. */
  waits(): readonly JsonObject[];
  /** For `GET /metrics`. */
  text(): Promise<string>;
  close(): Promise<void>;
}

const EVERY_MS = 5_000;
const PAGE = 500;
/** Facts that are older when they are seen were recorded while nobody looked. */
const RECENT_MS = 3_600_000;
/** The first failures of a receiver are no news. */
const TRIES_BEFORE_WORD = 3;

/** Looks at the daemon every five seconds, and tells the receiver what is new. Does nothing while no receiver is set. */
export function serveAlerts(options: AlertsOptions): ServedAlerts {
  const { settings, clock, log, everyMs = EVERY_MS } = options;
  const sender = createAlertSender();
  const metrics = createAlertMetrics(() => (settings() === undefined ? 0 : (queue?.count() ?? 0)));
  let queue: AlertQueue | undefined;
  let problem: string | undefined;
  let told: string | undefined;
  let running: Promise<void> | undefined;

  const look = async (now: AlertSettings): Promise<void> => {
    queue ??= openAlertQueue(options.file);
    queue.hello(now.url, clock.now());
    const found = await findAll(options, now, queue);
    const events = new Set<string>(now.events);
    queue.add(
      found
        .filter(({ event }) => events.has(event))
        .map((one) => ({ ...one, text: options.redact(one.text) })),
      clock.now(),
    );
    const isQuiet = await options.isQuiet(now.quiet, clock.now());
    const delivery = isQuiet ? undefined : queue.pack(clock.now());
    await keep(queue);
    if (delivery === undefined || !isDeliveryDue(delivery, clock.now())) return;
    const secret = now.secretEnv === undefined ? undefined : options.env[now.secretEnv];
    if (now.secretEnv !== undefined && !secret) {
      problem = `the variable ${now.secretEnv} that log.alerts.secretEnv names is empty`;
      return;
    }
    const sent = await sender.send({ url: now.url, secret }, delivery, clock.now());
    if (sent.ok) queue.sent();
    else queue.failed(clock.now(), sent.retryAfterMs);
    metrics.count(sent.ok ? 'sent' : 'failed');
    const isTrouble = !sent.ok && delivery.tries + 1 >= TRIES_BEFORE_WORD;
    problem = sent.ok ? undefined : isTrouble ? `the receiver of log.alerts answers: ${sent.why}` : problem;
    await keep(queue);
  };
  const keep = (one: AlertQueue): Promise<void> =>
    one.save().catch((error: unknown) => log.debug({ err: error }, 'alerts are kept in memory alone'));
  /** One line when it begins to fail, and one when it works again. */
  const tell = (): void => {
    if (problem === told) return;
    if (problem === undefined) log.info('alerts are taken again');
    else log.warn({ problem }, 'alerts are not taken by their receiver and are tried again');
    told = problem;
  };
  const timer = setInterval(() => {
    const now = settings();
    if (now === undefined || running !== undefined) return;
    running = look(now)
      .catch((error: unknown) => log.warn({ err: error }, 'alerts cannot be looked for'))
      .then(tell)
      .finally(() => {
        running = undefined;
      });
  }, everyMs);
  timer.unref();
  return {
    waits: () => {
      if (settings() === undefined || problem === undefined) return [];
      const count = queue?.count() ?? 0;
      return [
        {
          code: 'alerts-not-taken',
          count,
          what: plural(count, 'alert'),
          why: `${count === 1 ? 'waits' : 'wait'}: ${problem}`,
          fix: 'instar config get log.alerts',
        },
      ];
    },
    text: async () => (settings() === undefined ? '' : metrics.text()),
    close: async () => {
      clearInterval(timer);
      await sender.close();
      await running;
    },
  };
}

async function findAll(
  options: AlertsOptions,
  { content }: AlertSettings,
  queue: AlertQueue,
): Promise<readonly AlertCause[]> {
  const { clock, dayOf } = options;
  const status = options.status();
  const rules = await readRules(options, queue, content).catch((error: unknown) => {
    options.log.debug({ err: error }, 'the record cannot be read for alerts');
    return [];
  });
  const waiting = findWaitingAlerts(waitingOf(status), content);
  const own = waiting.filter(({ event }) => event === 'degraded');
  const budgets = [...learningBudgets(status, options.learnBudget()), ...options.budgets()];
  if (!options.isLeader()) return own;
  const decisions = waiting.filter(({ event }) => event === 'decision');
  const fresh = decisions.filter(({ cause }) => queue.isNew(cause));
  return [
    ...own,
    ...findBudgetAlerts(budgets, dayOf(clock.now())),
    ...rules,
    // Those that were told stay told while they wait.
    ...decisions.filter(({ cause }) => !queue.isNew(cause)),
    ...joinDecisions(fresh),
  ];
}

async function readRules(
  { records, clock, dayOf, titleOf }: AlertsOptions,
  queue: AlertQueue,
  content: boolean,
): Promise<readonly AlertCause[]> {
  if (queue.seq === undefined) {
    queue.readTo((await records.newestOf('rules-observed', 1)).at(-1)?.seq ?? 0);
    return [];
  }
  const facts = await records.factsOf('rules-observed', queue.seq, PAGE);
  queue.readTo(facts.at(-1)?.seq ?? queue.seq);
  const recent = facts.filter(({ at }) => clock.now() - at < RECENT_MS);
  return findRuleAlerts(recent, dayOf, (lesson) => (content ? titleOf(lesson) : undefined));
}

function createAlertMetrics(waiting: () => number) {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'instar_alert_requests_total',
    help: 'Messages to the receiver of alerts, by end',
    labelNames: ['end'],
    registers,
  });
  new Gauge({
    name: 'instar_alerts_waiting',
    help: 'Alerts that their receiver has not taken yet',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  return {
    count: (end: 'sent' | 'failed'): void => requests.inc({ end }),
    text: () => registry.metrics(),
  };
}
