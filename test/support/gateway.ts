import { randomUUID } from 'node:crypto';
import { createKeysApi } from '../../src/api/keys-api.ts';
import { createLazyLessonsApi } from '../../src/api/offline-api.ts';
import { createApiRouter } from '../../src/api/router/api-router.ts';
import { createStoreApi } from '../../src/api/store-api.ts';
import { homeAt } from '../../src/config/home.ts';
import type { Caller } from '../../src/core/caller.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { TurnLimits } from '../../src/core/overlay.ts';
import { noRecord, type TurnRecorder } from '../../src/core/recorder.ts';
import type { RetryRule } from '../../src/core/retry.ts';
import type { Records, Store } from '../../src/core/store.ts';
import type { Access, Timeouts } from '../../src/core/upstream.ts';
import type { WireName } from '../../src/core/wire.ts';
import { createAuthorizer, type KnownCallers } from '../../src/gateway/access-control.ts';
import { type AdmissionOptions, createAdmission } from '../../src/gateway/admission.ts';
import type { CheckedReply } from '../../src/gateway/check-reply.ts';
import type { GatewayContext } from '../../src/gateway/context.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { createIdentify, createPersonHash, createPersonOf } from '../../src/gateway/identify.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { createProviderAccount, type ProviderAccount } from '../../src/gateway/provider-account.ts';
import { createSessionMatcher } from '../../src/gateway/session-matcher.ts';
import type { TurnReport } from '../../src/gateway/turn.ts';
import { createCatalogue, type Provider } from '../../src/models/catalogue.ts';
import { createExchange } from '../../src/models/exchange.ts';
import { createWelcomeModel } from '../../src/models/scripted-model.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { wires } from '../../src/wire/wires.ts';

export const KEY = 'test-key-0123456789abcdef0123456789abcdef';
export const OWNER_KEY = 'test-owner-0123456789abcdef0123456789abcdef';

/** Valid keys by their text. */
export const callersOf = (callers: Readonly<Record<string, Caller>>): KnownCallers => ({
  find: (presented) => (Object.hasOwn(callers, presented) ? callers[presented] : undefined),
  ofCredential: (credential) => ({ kind: 'credential', id: `c_${credential.length}`, mayRate: false }),
});

const TEST_KEYS = callersOf({
  [KEY]: { kind: 'caller', id: 'k_test', mayRate: false },
  [OWNER_KEY]: { kind: 'owner', id: 'owner_test', mayRate: true },
});

/** What callers reach with the owner's key. */
export const accountOver = (
  records: Records = toRecords(createMemoryStore(), systemClock.now),
  forward: readonly string[] = [],
  onUnrecorded: (error: unknown) => void = () => undefined,
): ProviderAccount => createProviderAccount({ forward }, records, systemClock, { warn: onUnrecorded });

export interface TestGatewayOptions {
  readonly providers?: readonly Provider[];
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly welcome?: ChatModel;
  readonly block?: string;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryRule>;
  readonly maxBodyBytes?: number;
  readonly maxInFlight?: number;
  readonly maxMessages?: number;
  readonly maxConnections?: number;
  readonly pace?: AdmissionOptions['pace'];
  readonly isForbiddenAddress?: (address: string) => boolean;
  readonly recorder?: TurnRecorder;
  readonly store?: Store;
  /** Instead of the usual two. */
  readonly keys?: KnownCallers;
  /** `gateway.forward`. */
  readonly forward?: readonly string[];
  /** The limits of every turn. */
  readonly limits?: TurnLimits;
  /** Instead of `block` alone. */
  readonly lessons?: GatewayContext['lessons'];
}

export interface TestGateway {
  readonly port: number;
  readonly reports: readonly TurnReport[];
  readonly faults: readonly unknown[];
  readonly checked: readonly CheckedReply[];
  close(graceMs?: number): Promise<void>;
}

/** The real gateway on a free port, with short pauses between retries. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  // Long, so that a slow machine never decides a verdict; a test that expects a time-out sets its own.
  const timeouts = {
    connectMs: 30_000,
    headersMs: 60_000,
    firstByteMs: 60_000,
    idleMs: 60_000,
    ...options.timeouts,
  };
  const { isForbiddenAddress } = options;
  const pool = createExchange({ timeouts, ...(isForbiddenAddress ? { isForbiddenAddress } : {}) });
  const rule = { retries: 2, baseMs: 2, longestMs: 30_000, ...options.retry };
  const reports: TurnReport[] = [];
  const faults: unknown[] = [];
  const checked: CheckedReply[] = [];
  const { limits } = options;
  const admission = createAdmission({
    maxInFlight: options.maxInFlight ?? 2000,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
    monotonic: systemClock.monotonic,
    ...(options.pace ? { pace: options.pace } : {}),
  });
  const metrics = createMetrics({ inFlight: () => admission.inFlight });
  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  const newId = (prefix: string) => `${prefix}_${randomUUID()}`;
  const records = toRecords(options.store ?? createMemoryStore(), systemClock.now);
  const gateway = createGateway({
    api: createApiRouter(),
    admission,
    allowedHosts: () => [],
    onRefused: metrics.refused,
    onFault: (error) => faults.push(error),
    ...(options.maxConnections === undefined ? {} : { maxConnections: options.maxConnections }),
    context: {
      catalogue: createCatalogue({
        providers: options.providers ?? [],
        aliases: options.aliases ?? {},
        welcome: options.welcome ?? createWelcomeModel(),
        exchange: pool.exchange,
        wires,
        clock: systemClock,
        retry: { rule, random: Math.random, sleep: pause },
      }),
      exchange: pool.exchange,
      authorize: createAuthorizer({
        keys: options.keys ?? TEST_KEYS,
        onLoopback: true,
        clock: systemClock,
        account: accountOver(records, options.forward, (error) => faults.push(error)),
      }),
      clock: systemClock,
      random: Math.random,
      retry: rule,
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
      maxMessages: options.maxMessages ?? 10_000,
      newId,
      pause,
      lessons:
        options.lessons ??
        (async () => ({
          generation: 7,
          lessons: [],
          additions: [],
          ...(options.block === undefined ? {} : { block: options.block }),
        })),
      identify: createIdentify(),
      personOf: createPersonOf(createPersonHash('')),
      agents: { agentOf: (_key, named) => named, ownAgent: () => undefined, speaksFor: () => true },
      sessions: createSessionMatcher(systemClock, newId),
      sessionEnded: () => undefined,
      recorder: options.recorder ?? { room: () => undefined, start: () => noRecord },
      records,
      apisFor: () => ({
        api: {
          ...createStoreApi(records, systemClock.now),
          confirmTime: async () => ({ time: new Date(systemClock.now()).toISOString(), was: null }),
        },
        lessonsApi: createLazyLessonsApi(records),
        keysApi: createKeysApi({ home: homeAt('/nowhere'), env: {}, now: systemClock.now, records }),
      }),
      report: (report) => {
        reports.push(report);
        metrics.report(report);
      },
      ...(limits === undefined
        ? {}
        : {
            overlays: () => ({
              lessons: ['l_limit'],
              limits,
              limitedBy: ['l_limit'],
              flows: [],
              record: () => undefined,
            }),
          }),
      checked: (reply) => {
        checked.push(reply);
        metrics.checked(reply);
      },
      chatWord: metrics.chatWord,
      chatCommand: async ({ command }) => ({ text: `(${command.name})`, isDone: false }),
      status: () => ({ version: 'test' }),
      metrics: metrics.text,
    },
  });
  const port = await gateway.listen(0, '127.0.0.1');
  return {
    port,
    reports,
    faults,
    checked,
    close: async (graceMs = 0) => {
      await gateway.close(graceMs);
      await pool.close();
    },
  };
}

export function providerAt(
  url: string,
  wireNames: readonly WireName[],
  more: { readonly name?: string; readonly access?: Access; readonly models?: readonly string[] } = {},
): Provider {
  const { name = 'fake', access = { kind: 'caller' }, models } = more;
  return { name, wires: wireNames, baseUrl: `${url}/v1`, access, ...(models ? { models } : {}) };
}
