import { isRecord, readConnection, textOf } from '../shared/connection.ts';
import { createInstarClient, type InstarClient } from '../shared/instar-client.ts';
import { createLearnedNews } from '../shared/learned.ts';
import { describeAction, exitCodeOf, readResultText } from '../shared/native-outcome.ts';
import { type AgentRun, createRunReports } from '../shared/run-reports.ts';
import { askGate } from './ask-gate.ts';
import type { AgentContext, AgentEndEvent, ChatCommandContext, OpenClawApi, ToolCallEvent } from './host.ts';
import { createIdentityFollower } from './identity-files.ts';
import { createPromptLessons } from './prompt-lessons.ts';
import { readRating, readThumb } from './rating.ts';

const MOST_RUNS = 200;
const FLUSH_MS = 2_000;
const PROMPT_MS = 6_000;
const RATING_MS = 5_000;
const LEARNED_MS = 4_000;
const LOOK_MS = 300;

/** The plugin: lessons into prompts, outcomes and reactions out. Without a connection file it does nothing. */
const plugin = {
  id: 'instar',
  name: 'Instar',
  description: 'Shows what was learned to the agent, and reports how its runs went.',
  register(api: OpenClawApi): void {
    const settings = isRecord(api.pluginConfig) ? api.pluginConfig : {};
    const connection = readConnection(textOf(settings.connection) ?? '');
    if (connection === undefined) return;
    const client = createInstarClient(connection);
    connectHooks(api, client, (provider) => isBehind(api.config, provider, connection.url));
  },
};
export default plugin;

/** Whether the requests of a provider go through Instar's gateway: then it shows the lessons, and the plugin must not. */
function isBehind(config: unknown, provider: string | undefined, url: string): boolean {
  const models = isRecord(config) ? config.models : undefined;
  const providers = isRecord(models) ? models.providers : undefined;
  const entry = isRecord(providers) && provider !== undefined ? providers[provider] : undefined;
  const baseUrl = isRecord(entry) ? textOf(entry.baseUrl) : undefined;
  return baseUrl !== undefined && URL.canParse(baseUrl) && new URL(baseUrl).origin === url;
}

function connectHooks(
  api: OpenClawApi,
  client: InstarClient,
  isRouted: (provider: string | undefined) => boolean,
): void {
  const reports = createRunReports(client);
  const promptLessons = createPromptLessons(client);
  const followIdentity = createIdentityFollower(client);
  const learned = createLearnedNews(client);
  /** The newest runs, by their id, and the last run of each conversation. */
  const runs = new Map<string, AgentRun>();
  const lastRuns = new Map<string, AgentRun>();

  api.on(
    'before_prompt_build',
    async (event, context) => {
      const run = runOf(context, isRouted(context.modelProviderId));
      if (run === undefined) return undefined;
      const task = event.currentUserMessage ?? event.prompt;
      // A prompt that is built again belongs to the same run.
      if (!runs.has(run.run)) {
        const before = lastRuns.get(conversationOf(context));
        if (before !== undefined && run.runKind === undefined) react(before, task);
        remember(runs, run.run, run);
        remember(lastRuns, conversationOf(context), run);
        followIdentity(run);
        reports.begin(run, task);
      }
      if (run.isRouted) return undefined;
      const { block, added } = await promptLessons(run, task);
      return {
        ...(block === '' ? {} : { appendSystemContext: block }),
        ...(added === '' ? {} : { appendContext: added }),
      };
    },
    { timeoutMs: PROMPT_MS },
  );
  api.on('after_tool_call', (event, context) => {
    const run = runs.get(context.runId ?? '');
    if (run !== undefined) reports.tool(run, outcomeOf(event));
  });
  api.on('agent_end', async (event, context) => {
    const run = runs.get(context.runId ?? '');
    if (run === undefined) return;
    reports.end(run, endOf(event));
    await client.flush(FLUSH_MS);
  });
  api.on('skill_proposal_evaluate', (event) => askGate(client, event), {
    registrationId: 'instar-gate',
    timeoutMs: 30_000,
  });
  api.on('gateway_stop', () => client.flush(FLUSH_MS));
  api.registerCommand?.({
    name: 'instar',
    description: 'Rate the last answer: /instar good, or /instar bad and what was wrong',
    acceptsArgs: true,
    handler: async (context) => ({ text: await rate(context) }),
  });

  const react = (run: AgentRun, message: string): void => {
    const reaction = readThumb(message);
    if (reaction === undefined) reports.reply(run, message);
    else void reports.rate(run, reaction.score, reaction.note);
  };
  const rate = async (context: ChatCommandContext): Promise<string> => {
    const reaction = readRating(context.args ?? '');
    if (reaction === undefined) return 'Say /instar good, or /instar bad and what was wrong.';
    const run = lastRuns.get(conversationOf(context)) ?? [...lastRuns.values()].at(-1);
    if (run === undefined) return 'There is no answer to rate yet.';
    await learned.ask();
    const saved = reports.rate(run, reaction.score, reaction.note);
    await client.flush(RATING_MS);
    const isSaved = await Promise.race([
      saved,
      new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
    ]);
    if (isSaved === undefined) return 'Instar does not answer yet; it is told again for two minutes.';
    if (!isSaved) return 'Instar could not note it: see instar status.';
    return (reaction.score < 0 ? await waitForNews(learned) : undefined) ?? 'Instar has noted it.';
  };
}

/** A person's own words become a lesson within seconds; the command is where this person reads. */
async function waitForNews(learned: ReturnType<typeof createLearnedNews>): Promise<string | undefined> {
  for (const until = performance.now() + LEARNED_MS; performance.now() < until; ) {
    const line = await learned.ask();
    if (line !== undefined) return line;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return undefined;
}

const conversationOf = ({
  sessionKey,
  sessionId,
}: {
  readonly sessionKey?: string;
  readonly sessionId?: string;
}): string => sessionKey ?? sessionId ?? '';

function runOf(context: AgentContext, isRouted: boolean): AgentRun | undefined {
  const { runId, sessionId, agentId = 'main', workspaceDir, trigger = 'user' } = context;
  if (runId === undefined || sessionId === undefined) return undefined;
  return {
    session: sessionId,
    run: runId,
    agent: agentId,
    isRouted,
    ...(workspaceDir === undefined ? {} : { folder: workspaceDir }),
    ...(trigger === 'user' ? {} : { runKind: trigger }),
  };
}

function outcomeOf({ toolName, params, result, error }: ToolCallEvent) {
  const words = error ?? readResultText(result);
  const exitCode = exitCodeOf(result, words);
  const details = isRecord(result) && isRecord(result.details) ? result.details : {};
  const hasFailed =
    error !== undefined ||
    (exitCode ?? 0) !== 0 ||
    (isRecord(result) && result.isError === true) ||
    details.status === 'failed' ||
    details.status === 'error';
  return {
    tool: toolName,
    action: describeAction(toolName, params),
    result: words,
    ok: !hasFailed,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function endOf({ messages, success }: AgentEndEvent) {
  const last = messages.findLast((one) => isRecord(one) && one.role === 'assistant');
  const message = isRecord(last) ? last : {};
  const stop = textOf(message.stopReason);
  const parts = Array.isArray(message.content) ? message.content : [];
  const answer = parts
    .flatMap((part) => (isRecord(part) && part.type === 'text' ? (textOf(part.text) ?? []) : []))
    .join('\n');
  return { isAborted: !success, answer, ...(stop === undefined ? {} : { stop }) };
}

/** The oldest is forgotten when there are too many. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_RUNS && oldest !== undefined) map.delete(oldest);
}
