import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatEvent } from '../../src/core/chat.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import type { WireName } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';

/** A message and its answer; the last one has none. */
export interface ShapedTurn {
  readonly user: string;
  /** What a tool gave that read a file before the answer. */
  readonly read?: string;
  readonly answer?: string;
}

interface AddedByClient {
  /** The text of its memory file. */
  readonly memory?: string;
  /** A skill in its list of those that it can read. */
  readonly skill?: { readonly name: string; readonly description: string };
}

type Skill = NonNullable<AddedByClient['skill']>;

/** A client that loads skills and memory files by itself: how its requests look, from a recorded one. */
export interface ClientShape {
  readonly name: 'claude-code' | 'codex' | 'openclaw' | 'hermes';
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** A conversation as the client sends it, with what the client adds where it does so. */
  body(turns: readonly ShapedTurn[], added: AddedByClient): JsonObject;
  /** What the client says in the user's name when a skill is called by its command. */
  invoke(skill: { readonly name: string; readonly file: string }): string;
}

const RECORDED = path.resolve(import.meta.dirname, '../gateway/client-requests');
const textPart = (type: string, text: string) => [{ type, text }];

function recorded(client: string, what: string) {
  const { requests } = asObject(parseJson(readFileSync(path.join(RECORDED, `${client}.json`), 'utf8')));
  const found = asObject(asArray(requests).find((one) => asObject(one).what === what));
  const headers = Object.entries(asObject(found.headers));
  return {
    path: asString(found.path) ?? '',
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    body: asObject(found.body),
  };
}

const items = (body: JsonObject, list: string): readonly JsonObject[] => asArray(body[list]).map(asObject);
const isSpoken = ({ role }: JsonObject): boolean => role === 'user' || role === 'assistant';

function claudeCode(): ClientShape {
  const { body, ...request } = recorded('claude-code', 'a main turn');
  const own = items(body, 'messages').filter((message) => !isSpoken(message));
  return {
    ...request,
    name: 'claude-code',
    wire: 'anthropic',
    body: (turns, { memory, skill }) => ({
      ...body,
      model: 'anthropic/m',
      // The recording has their names alone.
      tools: items(body, 'tools').map((tool) => ({ ...tool, input_schema: { type: 'object' } })),
      messages: turns.flatMap(({ user, read, answer }, nth) => [
        {
          role: 'user',
          content: [
            ...(nth > 0 || memory === undefined ? [] : textPart('text', claudeMemory(memory))),
            ...(nth > 0 || skill === undefined ? [] : textPart('text', claudeSkills(skill))),
            ...textPart('text', user),
          ],
        },
        ...(nth === 0 ? own : []),
        ...(read === undefined ? [] : claudeRead(nth, read)),
        ...(answer === undefined ? [] : [{ role: 'assistant', content: textPart('text', answer) }]),
      ]),
    }),
    invoke: ({ name, file }) => `Base directory for this skill: /home/dev/.claude/skills/${name}\n\n${file}`,
  };
}

const claudeRead = (nth: number, text: string) => [
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: `toolu_${nth}`, name: 'Read', input: { file_path: 'MEMORY.md' } }],
  },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `toolu_${nth}`, content: textPart('text', text) }],
  },
];

const claudeMemory = (memory: string): string =>
  `<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nCodebase and user instructions are shown below.\n\nContents of /home/dev/shop/CLAUDE.md (project instructions, checked into the codebase):\n\n${memory}\n</system-reminder>`;

const claudeSkills = ({ name, description }: Skill): string =>
  `<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- ${name}: ${description}\n</system-reminder>`;

function codex(): ClientShape {
  const { body, ...request } = recorded('codex', 'a main turn');
  const frame = items(body, 'input').slice(0, -1);
  const message = (role: string, type: string, text: string) => ({
    type: 'message',
    role,
    content: textPart(type, text),
  });
  return {
    ...request,
    name: 'codex',
    wire: 'openai-responses',
    body: (turns, { memory, skill }) => ({
      ...body,
      model: 'openai-responses/m',
      input: [
        ...frame,
        ...(skill === undefined ? [] : [message('developer', 'input_text', codexSkills(skill))]),
        ...(memory === undefined ? [] : [message('user', 'input_text', codexMemory(memory))]),
        ...turns.flatMap(({ user, read, answer }, nth) => [
          message('user', 'input_text', user),
          ...(read === undefined
            ? []
            : [
                { type: 'function_call', call_id: `call_${nth}`, name: 'exec_command', arguments: READ },
                { type: 'function_call_output', call_id: `call_${nth}`, output: read },
              ]),
          ...(answer === undefined ? [] : [message('assistant', 'output_text', answer)]),
        ]),
      ],
    }),
    invoke: ({ name, file }) =>
      `<skill>\n<name>${name}</name>\n<path>/home/dev/.codex/skills/${name}/SKILL.md</path>\n${file}\n</skill>`,
  };
}

const codexMemory = (memory: string): string =>
  `# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\n${memory}\n</INSTRUCTIONS>`;

const codexSkills = ({ name, description }: Skill): string =>
  `<skills_instructions>\n## Skills\n### Available skills\n- ${name}: ${description} (file: /home/dev/.codex/skills/${name}/SKILL.md)\n</skills_instructions>`;

const READ = '{"cmd":"cat MEMORY.md"}';
const chatRead = (nth: number, text: string) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${nth}`, type: 'function', function: { name: 'terminal', arguments: READ } }],
  },
  { role: 'tool', tool_call_id: `call_${nth}`, content: text },
];

function chatClient(
  request: ReturnType<typeof recorded>,
  withMemory: (system: string, memory: string) => string,
  listed: (skill: Skill) => string,
) {
  const { body, path: at, headers } = request;
  const system = asString(items(body, 'messages')[0]?.content) ?? '';
  return {
    path: at,
    headers,
    wire: 'openai-chat' as const,
    body: (turns: readonly ShapedTurn[], { memory, skill }: AddedByClient): JsonObject => ({
      ...body,
      model: 'openai-chat/m',
      messages: [
        {
          role: 'system',
          content: `${memory === undefined ? system : withMemory(system, memory)}${skill === undefined ? '' : `\n\n${listed(skill)}`}`,
        },
        ...turns.flatMap(({ user, read, answer }, nth) => [
          { role: 'user', content: user },
          ...(read === undefined ? [] : chatRead(nth, read)),
          ...(answer === undefined ? [] : [{ role: 'assistant', content: answer }]),
        ]),
      ],
    }),
  };
}

const openclaw = (): ClientShape => ({
  ...chatClient(
    recorded('openclaw', 'a main turn, connected'),
    (system, memory) =>
      `${system}\n# Project Context\nThe following project context files have been loaded:\n## /home/dev/.openclaw/workspace/MEMORY.md\n${memory}\n## /home/dev/.openclaw/workspace/SOUL.md\n${memory}`,
    ({ name, description }) =>
      `<available_skills>\n  <skill>\n    <name>${name}</name>\n    <description>${description}</description>\n    <location>~/.openclaw/skills/${name}/SKILL.md</location>\n  </skill>\n</available_skills>`,
  ),
  name: 'openclaw',
  invoke: ({ file }) => `<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n${file}\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>`,
});

const BAR = '═'.repeat(46);
const hermes = (): ClientShape => ({
  ...chatClient(
    recorded('hermes', 'a main turn, chat, connected'),
    (system, memory) =>
      `${memory}\n\n${system}\n\n${BAR}\nMEMORY (your personal notes) [12% — 260/2,200 chars]\n${BAR}\n${memory.replaceAll('\n', '\n§\n')}\n\n${BAR}\nUSER PROFILE (who the user is) [8% — 110/1,375 chars]\n${BAR}\n${memory.replaceAll('\n', '\n§\n')}`,
    ({ name, description }) =>
      `## Skills (mandatory)\n<available_skills>\n  general:\n    - ${name}: ${description.slice(0, 57)}...\n</available_skills>`,
  ),
  name: 'hermes',
  invoke: ({ name, file }) =>
    `[IMPORTANT: The user has invoked the "${name}" skill, indicating they want you to follow its instructions. The full skill content is loaded below.]\n\n${file}`,
});

export const CLIENT_SHAPES: readonly ClientShape[] = [claudeCode(), codex(), openclaw(), hermes()];

/** An answer of a provider, in the form that the request asks for. */
export function shapedReply(wire: WireName, body: string, text: string) {
  const { model, stream } = asObject(parseJson(body));
  const events: readonly ChatEvent[] = [
    { type: 'reply-start', id: 'reply', model: asString(model) ?? '' },
    { type: 'text-delta', text },
    { type: 'reply-end', stop: 'end', usage: { inputTokens: 900, outputTokens: 9 } },
  ];
  const encoder = wires[wire].createStreamEncoder();
  return stream === true
    ? { type: 'text/event-stream', text: events.map((event) => encoder.encode(event)).join('') }
    : { type: 'application/json', text: JSON.stringify(wires[wire].encodeReply(events)) };
}
