import type { StopReason, Usage } from '../core/chat.ts';
import { type FailureKind, failureKindOf } from '../core/failure.ts';
import { asNumber, asObject, asString, isObject, type JsonObject, parseJson } from '../core/json.ts';
import { type CommandLine, describeComplaint } from './command-line.ts';

/** Claude Code as `claude -p`, with everything that is not the model turned off. */
export const claudeLine: CommandLine = {
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
      return describeComplaint(claudeLine, text ?? asString(result.subtype) ?? '', kindOf(result));
    }
    // No turn: the program answered without the model, as it does for one of its own slash commands.
    if (result.num_turns === 0) return describeComplaint(claudeLine, text, 'upstream-error');
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
