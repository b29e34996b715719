import { isRouted, readConnection } from './connection.ts';
import { createInstarClient } from './instar-client.ts';
import { createLearnedNews } from './learned.ts';
import type { NativeOutcome } from './native-outcome.ts';
import { type AgentRun, createRunReports } from './run-reports.ts';

/** Follows the runs of a client from inside of it, one at a time in each session. */
export interface RunFollower {
  /** The user has asked for something. */
  begin(request: {
    readonly session: string;
    readonly run: string;
    readonly task: string;
    readonly folder: string;
  }): void;
  tool(session: string, outcome: NativeOutcome): void;
  /** The agent has stopped. `tell`: gets a line for the person about what was learned, now or a moment later; no model reads it. */
  end(
    session: string,
    end: { readonly isAborted: boolean; readonly answer?: string; readonly stop?: string },
    tell: (line: string) => unknown,
  ): Promise<void>;
}

const FLUSH_MS = 2_000;
const MOST_SESSIONS = 200;
/** A correction is a rule a moment after its answer, and some seconds later where a model reads it. */
const LATER_MS = [2_000, 8_000, 20_000];

/** Undefined without a connection file: then there is nothing to do. */
export function createRunFollower(connectionFile: string): RunFollower | undefined {
  const connection = readConnection(connectionFile);
  if (connection === undefined) return undefined;
  const client = createInstarClient(connection);
  const reports = createRunReports(client);
  const runs = new Map<string, { readonly run: AgentRun; isOpen: boolean }>();
  const learned = createLearnedNews(client);
  let known: Promise<unknown> | undefined;
  let later: NodeJS.Timeout | undefined;
  const tellNews = async (tell: (line: string) => unknown, looks: readonly number[]): Promise<void> => {
    clearTimeout(later);
    const line = await learned.ask();
    if (line !== undefined) return void tell(line);
    const [next, ...rest] = looks;
    // It keeps no program alive.
    if (next !== undefined) later = setTimeout(() => void tellNews(tell, rest), next).unref();
  };
  return {
    begin: ({ session, run: id, task, folder }) => {
      const before = runs.get(session);
      const routed = isRouted(connectionFile, connection);
      const run = { session, run: id, agent: connection.client, folder, isRouted: routed };
      if (before !== undefined && !before.isOpen) reports.reply(before.run, task);
      runs.delete(session);
      runs.set(session, { run, isOpen: true });
      const [oldest] = runs.keys();
      if (runs.size > MOST_SESSIONS && oldest !== undefined) runs.delete(oldest);
      reports.begin(run, task);
      known ??= learned.ask();
    },
    tool: (session, outcome) => {
      const current = runs.get(session);
      if (current?.isOpen) reports.tool(current.run, outcome);
    },
    end: async (session, end, tell) => {
      const current = runs.get(session);
      if (current?.isOpen !== true) return;
      current.isOpen = false;
      reports.end(current.run, end);
      await client.flush(FLUSH_MS);
      await known;
      await tellNews(tell, LATER_MS);
    },
  };
}
