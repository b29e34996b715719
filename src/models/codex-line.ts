import type { Usage } from '../core/chat.ts';
import { asNumber, asObject, asString, isObject, type JsonObject, parseJson } from '../core/json.ts';
import { type CommandLine, describeComplaint } from './command-line.ts';

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
export const codexLine: CommandLine = {
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
    if (failed) return describeComplaint(codexLine, asString(asObject(failed.error).message) ?? '');
    const done = events.find(({ type }) => type === 'turn.completed');
    const text = events.map(messageOf).findLast((message) => message !== undefined);
    if (done === undefined || text === undefined) {
      // It also reports errors from which it recovers, so an error counts only when there is no answer.
      const error = events.findLast(({ type }) => type === 'error');
      return error && describeComplaint(codexLine, asString(error.message) ?? '');
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
