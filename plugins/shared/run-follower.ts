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
  /** The agent has stopped. Answers with a line for the person about what was learned, which no model reads. */
  end(
    session: string,
    end: { readonly isAborted: boolean; readonly answer?: string; readonly stop?: string },
  ): Promise<string | undefined>;
}

const FLUSH_MS = 2_000;
const MOST_SESSIONS = 200;

/** Undefined without a connection file: then there is nothing to do. */
export function createRunFollower(connectionFile: string): RunFollower | undefined {
  const connection = readConnection(connectionFile);
  if (connection === undefined) return undefined;
  const client = createInstarClient(connection);
  const reports = createRunReports(client);
  const runs = new Map<string, { readonly run: AgentRun; isOpen: boolean }>();
  const learned = createLearnedNews(client);
  let known: Promise<unknown> | undefined;
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
    end: async (session, end) => {
      const current = runs.get(session);
      if (current?.isOpen !== true) return undefined;
      current.isOpen = false;
      reports.end(current.run, end);
      await client.flush(FLUSH_MS);
      await known;
      return learned.ask();
    },
  };
}
