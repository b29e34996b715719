import type { StopReason, Usage } from '../core/chat.ts';
import { createFailure, type Failure, type FailureKind, failureKindOf } from '../core/failure.ts';
import { asNumber, asObject, asString, isObject, type JsonObject, parseJson } from '../core/json.ts';
import { plainTextExcerpt } from '../wire/excerpt.ts';

/** How one headless program is called and how its answer is read. */
export interface CommandProgram {
  readonly name: string;
  /** What to do when it is missing, or too old for the arguments. */
  readonly install: string;
  /** What to do when it is not signed in. */
  readonly signIn: string;
  /** Variables that override the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The prompt goes to standard input; `systemFile` contains the system text. */
  args(systemFile: string): readonly string[];
  /** Undefined when the output is neither an answer nor an error of the program. */
  decode(stdout: string): CommandReply | Failure | undefined;
}

interface CommandReply {
  readonly id: string | undefined;
  readonly model: string;
  readonly text: string;
  readonly stop: StopReason;
  readonly usage?: Usage;
}

const SIGNS: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /not logged in|please run \/login|log ?in again|invalid api key|\b401\b|unauthorized|authentication/i,
    'unauthorized',
  ],
  [/usage limit|limit reached|hit your limit|rate limit|\b429\b/i, 'rate-limited'],
  [/overloaded|\b529\b|\b503\b/i, 'overloaded'],
  [/unable to connect|connection (refused|failed)|stream disconnected|network/i, 'unreachable'],
];

/** The program's error in its own words, with advice when it is not signed in. */
export function describeProgramError(line: CommandProgram, output: string, kind?: FailureKind): Failure {
  const text = plainTextExcerpt(output);
  const found = kind ?? SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'upstream-error';
  const message = `${line.name}: ${text === '' ? 'failed without an error message' : text}`;
  if (found !== 'unauthorized') return createFailure(found, message);
  return createFailure(found, `${message} (${line.signIn})`);
}

/** Claude Code as `claude -p`, with everything that is not the model turned off. */
export const claudeProgram: CommandProgram = {
  name: 'claude',
  install: 'install or update it with `npm install -g @anthropic-ai/claude-code`',
  signIn:
    'run `claude` once and sign in with /login, or set CLAUDE_CODE_OAUTH_TOKEN from `claude setup-token`',
  env: {
    // Without these a prompt that mentions `@/etc/passwd` has that file read and sent, tools or no tools.
    CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Its default of ten retries takes minutes, even with a wrong key.
    CLAUDE_CODE_MAX_RETRIES: '2',
  },
  args: (systemFile) => [
    '-p',
    '--output-format=json',
    '--tools=',
    '--strict-mcp-config',
    '--no-session-persistence',
    '--disable-slash-commands',
    // User settings may contain hooks, and Instar's own address as base URL.
    '--setting-sources=',
    '--settings={"permissions":{"deny":["Read","Read(//**)"]},"disableAllHooks":true}',
    `--system-prompt-file=${systemFile}`,
  ],
  decode: (stdout) => {
    const result = parseJson(stdout.trim());
    if (!isObject(result) || result.type !== 'result') return undefined;
    const text = asString(result.result);
    if (result.is_error === true || text === undefined) {
      return describeProgramError(claudeProgram, text ?? asString(result.subtype) ?? '', kindOf(result));
    }
    // No turn: the program answered without the model, as it does for one of its own slash commands.
    if (result.num_turns === 0) return describeProgramError(claudeProgram, text, 'upstream-error');
    return {
      id: asString(result.session_id),
      model: modelOf(result),
      text,
      stop: STOPS[asString(result.stop_reason) ?? ''] ?? 'end',
      ...claudeUsage(result),
    };
  },
};

const STOPS: Readonly<Record<string, StopReason | undefined>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  stop_sequence: 'stop-sequence',
  refusal: 'filter',
};

function kindOf(result: JsonObject): FailureKind | undefined {
  const status = asNumber(result.api_error_status);
  return status === undefined ? undefined : failureKindOf(status);
}

/** More than one model may have been called; the one with the most output tokens wrote the answer. */
function modelOf(result: JsonObject): string {
  const models = Object.entries(asObject(result.modelUsage));
  const written = (usage: unknown) => asNumber(asObject(usage).outputTokens) ?? 0;
  return models.sort(([, a], [, b]) => written(b) - written(a))[0]?.[0] ?? 'claude';
}

function claudeUsage(result: JsonObject): { readonly usage?: Usage } {
  const usage = asObject(result.usage);
  const fresh = asNumber(usage.input_tokens);
  const outputTokens = asNumber(usage.output_tokens);
  if (fresh === undefined || outputTokens === undefined) return {};
  const cacheReadTokens = asNumber(usage.cache_read_input_tokens) ?? 0;
  const cacheWriteTokens = asNumber(usage.cache_creation_input_tokens) ?? 0;
  const inputTokens = fresh + cacheReadTokens + cacheWriteTokens;
  return { usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } };
}

/** Features through which the model could act, read or wait. A version that lacks one ignores its setting. */
const OFF = [
  'shell_tool',
  'unified_exec',
  'code_mode_host',
  'multi_agent',
  'multi_agent_v2',
  'apps',
  'plugins',
  'hooks',
  'goals',
  'memories',
  'view_image',
  'image_generation',
  'browser_use',
  'computer_use',
  'tool_suggest',
  'skill_search',
  'sleep_tool',
  'unbounded_connection_retries',
];

/** The user's config file is not read, since the provider it names may be Instar. */
const SETTINGS = [
  ...OFF.map((feature) => `features.${feature}=false`),
  'agents.enabled=false',
  'web_search="disabled"',
  'approval_policy="never"',
  'project_doc_max_bytes=0',
  'skills.include_instructions=false',
  'skills.bundled.enabled=false',
  'include_permissions_instructions=false',
  'include_environment_context=false',
  'include_collaboration_mode_instructions=false',
  'include_apps_instructions=false',
];

/** Codex as `codex exec`: no shell, no agents, and a read-only sandbox. */
export const codexProgram: CommandProgram = {
  name: 'codex',
  install: 'install or update it with `npm install -g @openai/codex`',
  signIn: 'run `codex login`',
  env: {},
  args: (systemFile) => [
    'exec',
    '--json',
    '--color=never',
    '--skip-git-repo-check',
    '--sandbox=read-only',
    '--ephemeral',
    '--ignore-user-config',
    '--ignore-rules',
    // A JSON string is also a TOML string.
    ...[...SETTINGS, `model_instructions_file=${JSON.stringify(systemFile)}`].flatMap((set) => ['-c', set]),
    '-',
  ],
  decode: (stdout) => {
    const events = stdout.split('\n').flatMap((line) => {
      const event = parseJson(line);
      return isObject(event) ? [event] : [];
    });
    const failed = events.find(({ type }) => type === 'turn.failed');
    if (failed) return describeProgramError(codexProgram, asString(asObject(failed.error).message) ?? '');
    const done = events.find(({ type }) => type === 'turn.completed');
    const text = events.map(messageOf).findLast((message) => message !== undefined);
    if (done === undefined || text === undefined) {
      // It also reports errors from which it recovers, so an error counts only when there is no answer.
      const error = events.findLast(({ type }) => type === 'error');
      return error && describeProgramError(codexProgram, asString(error.message) ?? '');
    }
    const thread = events.find(({ type }) => type === 'thread.started');
    return { id: asString(thread?.thread_id), model: 'codex', text, stop: 'end', ...codexUsage(done) };
  },
};

function messageOf({ type, item }: JsonObject): string | undefined {
  const { type: kind, text } = asObject(item);
  return type === 'item.completed' && kind === 'agent_message' ? asString(text) : undefined;
}

function codexUsage(done: JsonObject): { readonly usage?: Usage } {
  const usage = asObject(done.usage);
  const inputTokens = asNumber(usage.input_tokens);
  const outputTokens = asNumber(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return {};
  const cacheReadTokens = asNumber(usage.cached_input_tokens) ?? 0;
  const cacheWriteTokens = asNumber(usage.cache_write_input_tokens) ?? 0;
  const reasoningTokens = asNumber(usage.reasoning_output_tokens) ?? 0;
  return { usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } };
}
