import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asArray, asObject, asString } from '../../../src/core/json.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import { decodeLessons } from '../../../src/lessons/codec.ts';
import { startInstar } from '../gateway/start-instar.ts';
import { NO_ENGINE } from '../measured.ts';
import type { ClientRequest } from './client-shapes.ts';
import { LEARNING_MODEL } from './recorded-provider.ts';

/** The identity that the gateway gave to a request. */
interface ServedTurn {
  readonly turn: string;
  readonly session: string;
  /** The ids of `x-instar-lessons`. */
  readonly lessons: readonly string[];
}

/** A turn as `GET /api/sessions/ID` judges it. */
export interface JudgedTurn {
  readonly id: string;
  readonly verdict?: string;
  readonly judgedBy?: string;
  readonly reasons: readonly string[];
}

/** How the lessons of a turn were chosen. */
export interface TurnDecision {
  /** By lesson: its verdict and the reason. */
  readonly reasons: ReadonlyMap<string, string>;
  /** What compared the task with the lessons. */
  readonly engine: string;
}

/** A new home with the daemon of `instar up` on it. Everything goes through its public surfaces. */
export interface CorrectionsHome {
  /** One request with the caller key, as a connected client sends it. */
  send(request: ClientRequest, headers: Readonly<Record<string, string>>): Promise<ServedTurn>;
  lessons(): Promise<readonly Lesson[]>;
  /** The owner's feedback on a turn that went wrong. */
  blame(turn: string, note: string): Promise<void>;
  /** None for a session that is not recorded yet. */
  judged(session: string): Promise<readonly JudgedTurn[]>;
  /** Why this turn was shown a lesson or was not; undefined while its turn or its decision is not recorded. */
  why(turn: string): Promise<TurnDecision | undefined>;
  /** Resolves when learning has nothing to do any more, as its own counters say. */
  untilLearned(): Promise<void>;
  close(): Promise<void>;
}

/** Not a limit on a verdict: what is not over by then ends the bench. */
const LONGEST_WORK_MS = 900_000;

/** `usesModel`: the learning model writes the lessons; otherwise no model is used for learning. */
export async function openCorrectionsHome(
  providerPort: number,
  usesModel: boolean,
): Promise<CorrectionsHome> {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-corrections-'));
  const dir = path.join(root, 'home');
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(path.join(dir, 'model-key'), 'bench-model-key', { mode: 0o600 });
  const provider = {
    wire: ['openai-chat', 'openai-responses', 'anthropic'],
    baseUrl: `http://127.0.0.1:${providerPort}/v1`,
    keyFile: 'model-key',
  };
  const config = {
    providers: { bench: provider },
    models: {
      default: 'bench/fake-model',
      evolver: usesModel ? `bench/${LEARNING_MODEL}` : 'off',
      judge: 'off',
    },
    // Every session is shown its lessons: a control group would hide one row in ten by chance.
    learn: { budget: { usdPerDay: 100_000, tokensPerDay: 1_000_000_000 } },
  };
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const instar = await startInstar({
    main: path.resolve('dist/src/cli/main.js'),
    upstreamPort: providerPort,
    home: dir,
  });
  const key = readFileSync(path.join(dir, 'key'), 'utf8').trim();

  return {
    send: async ({ path: where, headers, body, wire }, more) => {
      const own =
        wire === 'anthropic'
          ? { 'x-api-key': key, authorization: `Bearer ${key}` }
          : { authorization: `Bearer ${key}` };
      const reply = await fetch(`http://127.0.0.1:${instar.port}${where}`, {
        method: 'POST',
        headers: { ...headers, ...own, ...more },
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`POST ${where} answered ${reply.status}: ${text.slice(0, 400)}`);
      return {
        turn: reply.headers.get('x-instar-turn') ?? '',
        session: reply.headers.get('x-instar-session') ?? '',
        lessons: (reply.headers.get('x-instar-lessons') ?? '').split(/[\s,]+/).filter(Boolean),
      };
    },
    blame: async (turn, note) => {
      const ownerKey = readFileSync(path.join(dir, 'owner-key'), 'utf8').trim();
      const reply = await fetch(`http://127.0.0.1:${instar.port}/v1/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ownerKey}` },
        body: JSON.stringify({ turn, score: -1, note }),
      });
      if (!reply.ok) throw new Error(`feedback: ${reply.status} ${await reply.text()}`);
    },
    lessons: async () => decodeLessons(await instar.ask('/api/library')),
    judged: async (session) => {
      const found = await instar.ask(`/api/sessions/${encodeURIComponent(session)}`).catch((error: Error) => {
        // Recorded a moment after its reply.
        if (error.message.includes(' 404 ')) return {};
        throw error;
      });
      const { turns } = asObject(found);
      return asArray(turns).map((value) => {
        const { id, verdict, judgedBy, reasons } = asObject(value);
        const [said, by] = [asString(verdict), asString(judgedBy)];
        return {
          id: asString(id) ?? '',
          ...(said === undefined ? {} : { verdict: said }),
          ...(by === undefined ? {} : { judgedBy: by }),
          reasons: asArray(reasons).flatMap((reason) => asString(reason) ?? []),
        };
      });
    },
    why: async (turn) => {
      const found = await instar.ask(`/api/turns/${encodeURIComponent(turn)}/why`).catch((error: Error) => {
        if (error.message.includes(' 404 ')) return {};
        throw error;
      });
      const { lessons, choices } = asObject(found);
      const choice = asArray(choices)
        .map(asObject)
        .find((one) => one.turn === turn);
      if (choice === undefined) return undefined;
      const reasons = asArray(lessons)
        .map(asObject)
        .map(({ id, verdict, because }): readonly [string, string] => [
          asString(id) ?? '',
          `${asString(verdict) ?? ''}: ${asString(because) ?? ''}`,
        ]);
      return { reasons: new Map(reasons), engine: asString(choice.engine) ?? NO_ENGINE };
    },
    untilLearned: async () => {
      if (!(await instar.untilIdle(LONGEST_WORK_MS)))
        throw new Error(
          `learning was not over after ${LONGEST_WORK_MS / 60_000} minutes: the machine is too busy`,
        );
    },
    close: async () => {
      await instar.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
