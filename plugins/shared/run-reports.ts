import type { InstarClient } from './instar-client.ts';
import { couldHaveFailed, type NativeOutcome, shorten } from './native-outcome.ts';

/** One run of an agent: from a request of its user to the end of the work on it. */
export interface AgentRun {
  /** The client's id of the conversation. */
  readonly session: string;
  /** The client's id of this run. */
  readonly run: string;
  readonly agent: string;
  readonly folder?: string;
  /** `cron`, `heartbeat`; absent for a request of the user. */
  readonly runKind?: string;
  /** The requests of this run go through Instar's gateway, which records them: then only outcomes are reported. */
  readonly isRouted: boolean;
}

const LONGEST_TASK = 8_000;
const LONGEST_ANSWER = 4_000;

/**
 * The id of what is said about a run: of the session that the gateway records, or of an episode, for runs that the gateway does not
 * see.
 */
export const runSubject = ({ isRouted, session, run }: AgentRun): string =>
  isRouted ? session : `run_${run}`.slice(0, 128);

/** Reports what happens in runs. `agent` is the client's word for itself; no verdict is claimed about a run that just ended. */
export interface RunReports {
  begin(run: AgentRun, task: string): void;
  tool(run: AgentRun, outcome: NativeOutcome): void;
  end(
    run: AgentRun,
    end: { readonly isAborted: boolean; readonly stop?: string; readonly answer?: string },
  ): void;
  /** What the user said next about the work of a run. */
  reply(run: AgentRun, words: string): void;
  /** A rating of a run by its user. */
  rate(run: AgentRun, score: number, note?: string): Promise<boolean>;
}

export function createRunReports(client: Pick<InstarClient, 'report' | 'deliver'>): RunReports {
  const whose = ({ agent, folder, runKind }: AgentRun) => ({
    agent,
    ...(runKind === undefined ? {} : { runKind }),
    ...(folder === undefined ? {} : { folder }),
  });
  return {
    begin: (run, task) => {
      if (run.isRouted) return;
      client.report({
        kind: 'episode_start',
        session: runSubject(run),
        task: shorten(task, LONGEST_TASK),
        // Counts only for a key that may pass on what its user says.
        byPerson: run.runKind === undefined,
        ...whose(run),
      });
    },
    tool: (run, outcome) => {
      const { tool, action, result, ok, exitCode } = outcome;
      const session = runSubject(run);
      const code = exitCode === undefined ? {} : { exitCode };
      // The gateway has the words already.
      if (run.isRouted) client.report({ kind: 'tool_outcome', session, tool, ok, ...code, ...whose(run) });
      else if (couldHaveFailed(outcome))
        client.report({ kind: 'episode_attempt', session, action, result, ok, tool, ...code });
    },
    end: (run, { isAborted, stop, answer }) => {
      const outcome = isAborted ? 'aborted' : 'ended';
      const session = runSubject(run);
      const said = stop === undefined ? {} : { stop };
      if (run.isRouted) client.report({ kind: 'run_end', session, outcome, ...said, ...whose(run) });
      else
        client.report({
          kind: 'episode_end',
          session,
          outcome,
          ...said,
          ...(answer ? { answer: shorten(answer, LONGEST_ANSWER) } : {}),
        });
    },
    reply: (run, words) => {
      if (run.isRouted) return;
      const text = shorten(words, LONGEST_TASK);
      client.report({ kind: 'episode_reply', session: runSubject(run), text, byPerson: true });
    },
    rate: async (run, score, note) => {
      const body = {
        session: runSubject(run),
        score,
        ...(note ? { note: shorten(note, LONGEST_ANSWER) } : {}),
      };
      // A rating comes after the events of the run that it is about, and is tried again as they are.
      const { status } = await client.deliver('/v1/feedback', body);
      return status === 200;
    },
  };
}
