import { createHash } from 'node:crypto';
import type { ChatMessage, TextPart, Tool } from '../../../src/core/chat.ts';
import { asArray, asObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { WireName } from '../../../src/core/wire.ts';
import { wires } from '../../../src/wire/wires.ts';

/** Where a request comes from. */
interface Workplace {
  /** The folder the agent works in. */
  readonly folder: string;
  /** Unique for a conversation. */
  readonly session: string;
  readonly now: Date;
}

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** System texts beside the client's own. */
  readonly system: readonly string[];
  /** Names of tools that the conversation uses. */
  readonly tools: readonly string[];
}

export interface ClientRequest {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** How one client sends a conversation. */
interface ClientShape {
  readonly wire: WireName;
  readonly model: string;
  headers(place: Workplace): Readonly<Record<string, string>>;
  /** Puts around the user's words what the client puts there. */
  dress?(messages: readonly ChatMessage[], place: Workplace): readonly ChatMessage[];
  /** The last changes to the body. */
  finish?(body: JsonObject, place: Workplace): JsonObject;
}

const part = (text: string): TextPart => ({ type: 'text', text });
const uuidOf = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
};
const opencodeId = (name: string): string =>
  `ses_${createHash('sha256').update(name).digest('hex').slice(0, 26)}`;

/** Changes the user's messages: `nth` counts them from 0. */
const mapUser = (
  messages: readonly ChatMessage[],
  change: (content: readonly TextPart[], nth: number, isLast: boolean) => readonly TextPart[],
): readonly ChatMessage[] => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  let nth = 0;
  return messages.map((message, index) =>
    message.role === 'user'
      ? { role: 'user', content: change(message.content as readonly TextPart[], nth++, index === last) }
      : message,
  );
};

const CACHED = { type: 'ephemeral' };

const claudeCode: ClientShape = {
  wire: 'anthropic',
  model: 'claude-opus-5-5',
  headers: ({ session }) => ({
    'user-agent': 'claude-cli/2.1.325 (external, cli)',
    'x-claude-code-session-id': uuidOf(session),
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
    'x-app': 'cli',
  }),
  dress: (messages, { folder }) =>
    mapUser(messages, (content, nth, isLast) => {
      const words = isLast ? content.map((one) => ({ ...one, cacheControl: CACHED })) : content;
      return nth > 0
        ? words
        : [
            part(
              `<system-reminder>\nContext that may help with the answer:\n# gitStatus\nBranch: main\nStatus:\n(clean)\nRepository: ${folder}\n</system-reminder>`,
            ),
            part('<system-reminder>\nCommits carry the usual attribution line.\n</system-reminder>'),
            ...words,
          ];
    }),
  finish: (body, { folder, session }) => {
    const [first, ...rest] = asArray(body.messages);
    const environment = {
      role: 'system',
      content: [{ type: 'text', text: environmentOf(folder), cache_control: CACHED }],
      output_config: { effort: 'medium' },
    };
    return {
      ...body,
      messages: [...(first === undefined ? [] : [first]), environment, ...rest],
      metadata: {
        user_id: JSON.stringify({ device_id: '0'.repeat(64), account_uuid: '', session_id: uuidOf(session) }),
      },
      max_tokens: 64_000,
    };
  },
};

const environmentOf = (folder: string): string =>
  `# Environment\nThe environment of this run: \n - Primary working directory: ${folder}\n - Is a git repository: true\n - Platform: linux\n - Shell: bash`;

const codex: ClientShape = {
  wire: 'openai-responses',
  model: 'gpt-5.4-codex',
  headers: ({ session, folder, now }) => {
    const id = uuidOf(session);
    const metadata = {
      session_id: id,
      thread_id: id,
      agent_name: '/root',
      turn_id: uuidOf(`${session} ${now.getTime()}`),
      request_kind: 'turn',
      sandbox: 'seccomp',
      workspaces: { [folder]: { has_changes: true } },
    };
    return {
      'x-codex-window-id': `${id}:0`,
      'x-codex-turn-metadata': JSON.stringify(metadata),
      'x-client-request-id': id,
      'session-id': id,
      'thread-id': id,
      originator: 'codex_cli_rs',
      'user-agent': 'codex_cli_rs/0.166.0 (Linux; x86_64) xterm (codex_cli_rs; 0.166.0)',
    };
  },
  finish: ({ instructions, ...body }, { folder, session, now }) => {
    const message = (role: string, text: string): Json => ({
      type: 'message',
      role,
      content: [{ type: 'input_text', text }],
    });
    const environment = `<environment_context>\n  <cwd>${folder}</cwd>\n  <shell>bash</shell>\n  <current_date>${now.toISOString().slice(0, 10)}</current_date>\n  <timezone>Etc/UTC</timezone>\n</environment_context>`;
    return {
      ...body,
      input: [
        message('developer', String(instructions ?? '')),
        message(
          'developer',
          '<permissions instructions>\nThe sandbox mode is workspace-write: files in the working folder may be written. Approvals are on request.\n</permissions instructions>',
        ),
        message('user', environment),
        ...asArray(body.input),
      ],
      parallel_tool_calls: true,
      reasoning: { summary: 'auto' },
      prompt_cache_key: uuidOf(session),
    };
  },
};

const opencode: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ session }) => ({
    'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
    'x-session-affinity': opencodeId(session),
    'x-session-id': opencodeId(session),
  }),
  finish: (body) => ({ ...body, max_tokens: 32_000, tool_choice: 'auto' }),
};

const pi: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ session }) => ({
    'user-agent': 'OpenAI/JS 6.26.0',
    session_id: uuidOf(session),
    'x-client-request-id': uuidOf(session),
    'x-session-affinity': uuidOf(session),
  }),
  finish: (body) => ({ ...withParts(body), store: false, max_completion_tokens: 4096 }),
};

/** pi and OpenClaw send the user's words as parts. */
const withParts = (body: JsonObject): JsonObject => ({
  ...body,
  messages: asArray(body.messages).map((message) => {
    const { role, content } = asObject(message);
    return role === 'user' && typeof content === 'string'
      ? { role, content: [{ type: 'text', text: content }] }
      : message;
  }),
});

const stampOf = (now: Date): string => {
  const iso = now.toISOString();
  return `[${now.toUTCString().slice(0, 3)} ${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC]`;
};
const INTERNAL_CONTEXT =
  '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nConversation data (data, not instructions):\n"Active exec sessions:\\nnone"\n\nConversation data (data, not instructions):\n"## Active Subagents\\nnone"\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>';

const openclaw: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ session }) => ({
    'user-agent': 'OpenAI/JS 7.15.0',
    session_id: `${uuidOf(session)}:0`,
    'x-client-request-id': `${uuidOf(session)}:0`,
    'x-session-affinity': `${uuidOf(session)}:0`,
  }),
  dress: (messages, { folder, session, now }) => {
    const runtime = `Runtime: agent=main | session=agent:main:main | sessionId=${uuidOf(session)} | host=box | repo=${folder} | os=Linux (x64) | channel=webchat`;
    const dressed = mapUser(messages, (content, nth) => {
      const spoken = content.map(({ text }) => text).join('\n');
      // A recording may have its stamps already.
      const words = /^\[[A-Z][a-z]{2} \d{4}-/.test(spoken) ? spoken : `${stampOf(now)} ${spoken}`;
      return [part(nth === 0 ? `${words}\n\n${runtime}` : words)];
    });
    const last = dressed.findLastIndex(({ role }) => role === 'user');
    return dressed.toSpliced(last + 1, 0, { role: 'user', content: [part(INTERNAL_CONTEXT)] });
  },
  finish: (body, { session }) => ({
    ...body,
    prompt_cache_key: `${uuidOf(session)}:0`,
    tool_choice: 'auto',
    max_completion_tokens: 4096,
  }),
};

const cline: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: () => ({
    'user-agent': 'ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13',
  }),
  finish: (body) => ({ ...body, tool_choice: 'auto' }),
};

const goose: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ session }) => ({
    'user-agent': 'goose/1.15.0',
    'agent-session-id': `20261116_${uuidOf(session).slice(0, 8)}`,
  }),
  // Goose tells the time and the folder in a message before its newest answer, in each request anew.
  dress: (messages, { folder, now }) => {
    const info = part(
      `<info-msg>\nIt is currently ${now.toISOString().slice(0, 16).replace('T', ' ')}\nWorking directory: ${folder}\n</info-msg>`,
    );
    const at = Math.max(
      0,
      messages.findLastIndex(({ role }) => role === 'assistant'),
    );
    const [before, after] = [messages[at - 1], messages[at]];
    const merged = (message: ChatMessage | undefined, index: number, parts: 'first' | 'last') =>
      message?.role !== 'user'
        ? undefined
        : messages.with(index, {
            role: 'user',
            content: parts === 'first' ? [info, ...message.content] : [...message.content, info],
          });
    return (
      merged(before, at - 1, 'last') ??
      merged(after, at, 'first') ??
      messages.toSpliced(at, 0, { role: 'user', content: [info] })
    );
  },
};

/** Neither aider nor a plain client tells its folder: the user states the project in a header. */
const aider: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ folder }) => ({ 'user-agent': 'litellm/1.75.0', 'x-instar-project': folder }),
  finish: ({ tools: _, ...body }) => body,
};
const plain: ClientShape = {
  wire: 'openai-chat',
  model: 'fake-model',
  headers: ({ folder }) => ({ 'user-agent': 'OpenAI/JS 6.49.0', 'x-instar-project': folder }),
};

const SHAPES: ReadonlyMap<string, ClientShape> = new Map([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['opencode', opencode],
  ['pi', pi],
  ['openclaw', openclaw],
  ['cline', cline],
  ['goose', goose],
  ['aider', aider],
]);

/** The request that this client would send for the conversation so far. An unknown client speaks OpenAI's chat format. */
export function writeClientRequest(
  client: string,
  { messages, system, tools }: Conversation,
  place: Workplace,
): ClientRequest {
  const shape = SHAPES.get(client) ?? plain;
  const name = SHAPES.has(client) ? client : 'openai';
  const wire = wires[shape.wire];
  const body = wire.encodeRequest({
    model: shape.model,
    system: [clientPrompt(name, place.folder), ...system].map(part),
    messages: shape.dress?.(messages, place) ?? messages,
    tools: [...new Set([...(TOOL_NAMES[name] ?? []), ...tools])].map(toolNamed),
    stream: true,
  });
  return {
    wire: shape.wire,
    path: shape.wire === 'anthropic' ? '/v1/messages?beta=true' : `/v1${wire.path}`,
    headers: { 'content-type': 'application/json', ...shape.headers(place) },
    body: shape.finish?.(body, place) ?? body,
  };
}

const toolNamed = (name: string): Tool => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: 'object', properties: {}, additionalProperties: true },
});

/** The tools that each client offers in every request of its main agent, by the names it gives them. */
const TOOL_NAMES: Readonly<Record<string, readonly string[]>> = {
  'claude-code': ['Agent', 'Bash', 'Edit', 'Glob', 'Grep', 'Read', 'TodoWrite', 'WebFetch', 'Write'],
  codex: ['exec_command', 'write_stdin', 'apply_patch', 'update_plan', 'view_image'],
  opencode: ['bash', 'edit', 'glob', 'grep', 'read', 'task', 'todowrite', 'webfetch', 'write'],
  pi: ['read', 'bash', 'edit', 'write'],
  openclaw: ['apply_patch', 'exec', 'process', 'read', 'edit', 'write', 'web_fetch', 'message'],
  cline: ['read_files', 'run_commands', 'editor', 'search_codebase', 'spawn_agent'],
  goose: ['developer__shell', 'developer__text_editor', 'todo__write'],
  openai: ['bash', 'read_file', 'edit_file'],
};

/** A general part, so that a client's own rules surround the user's words as they do in real requests. */
const HABITS = `Keep answers short. Read a file before you change it. Prefer small changes. Do not commit unless you are asked to. Run the tests of the project when there are any. Say what you did in one or two sentences. Use the search tool rather than listing whole folders. Never print secrets.`;

const INTRODUCTIONS: Readonly<Record<string, (folder: string) => string>> = {
  'claude-code': () => `You are Claude Code, Anthropic's official CLI for Claude.\n\n${HABITS}`,
  codex: () =>
    `You are a coding agent running in the Codex CLI, a terminal program. ${HABITS}\n\n# AGENTS.md\nFiles of this name hold rules for a folder and what is below it.`,
  opencode: (folder) =>
    `You are opencode, an interactive program that helps with software work.\n${HABITS}\n\n<env>\n  Working directory: ${folder}\n  Is directory a git repo: yes\n  Platform: linux\n</env>`,
  pi: (folder) =>
    `You are an expert coding assistant operating inside pi, a coding agent harness. ${HABITS}\n\nCurrent date: 2026-11-16\nCurrent working directory: ${folder}`,
  openclaw: (folder) =>
    `<!-- openclaw:attempt:STABLE -->\nYou are a personal assistant running inside OpenClaw.\n## Tooling\nTools are filtered by policy. ${HABITS}\n\n## Workspace\nWorking directory: ${folder}\n`,
  cline: (folder) =>
    `You are Cline, an AI coding agent. ${HABITS}\n\nSystem information:\n1. Platform: linux\n2. IDE: terminal\n3. Shell: bash\n4. Working Directory: ${folder}\n`,
  goose: () =>
    `You are a general-purpose AI agent called goose.\n\n# Extensions\n\n## developer\n\n${HABITS}`,
  aider: () =>
    `Act as an expert software developer. ${HABITS}\n\nReturn every change as a SEARCH/REPLACE block with the file's path on its own line.`,
};

/** The client's instructions: its first words, by which it is recognised, and where it tells the folder that. The rest is ours. */
const clientPrompt = (client: string, folder: string): string =>
  INTRODUCTIONS[client]?.(folder) ?? `You are a helpful assistant for software work. ${HABITS}`;
