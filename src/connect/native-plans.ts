import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../base/package.ts';
import { asObject, type Json, parseJson } from '../core/json.ts';
import { findMember } from '../text/json-edit.ts';
import { JsonTextError, parseJsonText } from '../text/json-text.ts';
import { openclawConfigFile, piFolder } from './clients.ts';
import type { ClientEnvironment } from './connection.ts';
import type { ClientFileEdit } from './file-edit.ts';
import { tomlText } from './toml-block.ts';

/** Clients that Instar can be a part of: by their own skill files, hooks and plugins. */
export const NATIVE_CLIENTS = ['openclaw', 'claude-code', 'codex', 'opencode', 'pi'] as const;
export type NativeClient = (typeof NATIVE_CLIENTS)[number];

export interface NativeContext extends ClientEnvironment {
  /** The home of Instar. */
  readonly instarHome: string;
  /** The file with address and key that hooks and plugins read. */
  readonly connectionFile: string;
  /** The folder of the project whose skills are installed in it; absent: skills for every project, in the user's folder. */
  readonly projectDir?: string;
}

interface NativePlan {
  readonly edits: readonly ClientFileEdit[];
  /** Where its skill files go; undefined for a client that is shown lessons in another way. */
  readonly skillFolder?: string;
  readonly notes: readonly string[];
}

const part = (...path: readonly string[]): string =>
  fileURLToPath(new URL(['dist', ...path].join('/'), PACKAGE_ROOT));

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The command of a hook: a small program without dependencies, which reports and says nothing. */
const hookCommand = ({ connectionFile }: NativeContext): string =>
  [process.execPath, part('plugins', 'hooks', 'main.js'), connectionFile].map(shellWord).join(' ');

const mcpCommand = ({ instarHome }: NativeContext): readonly [string, ...string[]] => [
  process.execPath,
  part('src', 'cli', 'main.js'),
  'mcp',
  '--home',
  instarHome,
];

/** The hooks in the shape that Claude Code and Codex share. */
const hookSettings = (events: readonly string[], context: NativeContext) =>
  events.map((event) => ({
    path: ['hooks', event],
    isElement: true as const,
    value: { hooks: [{ type: 'command', command: hookCommand(context), timeout: HOOK_SECONDS }] },
  }));

const HOOK_SECONDS = 5;
/** What was learned of a correction stands there so soon without another word of the person. */
const STATUS_SECONDS = 10;

function planClaudeCode(context: NativeContext): NativePlan {
  const { env, homeDir, projectDir, read } = context;
  const folder = env.CLAUDE_CONFIG_DIR || join(homeDir, '.claude');
  const servers = env.CLAUDE_CONFIG_DIR ? join(folder, '.claude.json') : join(homeDir, '.claude.json');
  const [command, ...args] = mcpCommand(context);
  const server: Json = { type: 'stdio', command, args };
  const events = ['UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop'];
  const settingsFile = join(folder, 'settings.json');
  const line = asObject(parseJson(read(settingsFile) ?? '')).statusLine;
  const hasStatusLine = line !== undefined && !JSON.stringify(line).includes('--status-line');
  const statusLine = {
    path: ['statusLine'],
    value: {
      type: 'command',
      command: `${hookCommand(context)} --status-line`,
      refreshInterval: STATUS_SECONDS,
    },
    mark: [],
  };
  return {
    edits: [
      {
        kind: 'json',
        file: settingsFile,
        dialect: 'json',
        settings: [...hookSettings(events, context), ...(hasStatusLine ? [] : [statusLine])],
      },
      {
        kind: 'json',
        file: servers,
        dialect: 'json',
        settings: [{ path: ['mcpServers', 'instar'], value: server, mark: [] }],
      },
    ],
    skillFolder: projectDir === undefined ? join(folder, 'skills') : join(projectDir, '.claude', 'skills'),
    notes: hasStatusLine ? ['your own status line stays: what was learned is told after an answer'] : [],
  };
}

function planCodex(context: NativeContext): NativePlan {
  const { env, homeDir, projectDir } = context;
  const folder = env.CODEX_HOME || join(homeDir, '.codex');
  const [command, ...args] = mcpCommand(context);
  const block = {
    top: {},
    table: 'mcp_servers.instar',
    settings: { command: tomlText(command), args: `[${args.map(tomlText).join(', ')}]` },
  };
  return {
    edits: [
      {
        kind: 'json',
        file: join(folder, 'hooks.json'),
        dialect: 'json',
        settings: hookSettings(['UserPromptSubmit', 'PostToolUse', 'Stop'], context),
      },
      { kind: 'toml', file: join(folder, 'config.toml'), block },
    ],
    skillFolder: projectDir === undefined ? join(folder, 'skills') : join(projectDir, '.agents', 'skills'),
    notes: ['Codex runs a new hook only after you have trusted it: start codex and type /hooks'],
  };
}

function planOpencode(context: NativeContext): NativePlan {
  const { env, homeDir, projectDir, read, connectionFile } = context;
  const folder = join(env.XDG_CONFIG_HOME || join(homeDir, '.config'), 'opencode');
  const known = ['opencode.jsonc', 'opencode.json', 'config.json'].find(
    (name) => read(join(folder, name)) !== undefined,
  );
  const settings = [
    { path: ['mcp', 'instar'], value: { type: 'local', command: [...mcpCommand(context)] }, mark: [] },
  ];
  return {
    edits: [
      { kind: 'json', file: join(folder, known ?? 'opencode.json'), dialect: 'jsonc', settings },
      {
        kind: 'whole',
        file: join(folder, 'plugins', 'instar.js'),
        text: entryFile('opencode', 'createInstarPlugin', 'export const InstarPlugin =', connectionFile),
      },
    ],
    skillFolder: projectDir === undefined ? join(folder, 'skills') : join(projectDir, '.opencode', 'skills'),
    notes: [],
  };
}

/** A file in a client's folder of plugins that loads the one of this package. */
const entryFile = (client: string, create: string, declare: string, connectionFile: string): string =>
  [
    `// Written by: instar connect ${client} --native --write`,
    `import { ${create} } from ${JSON.stringify(part('plugins', client, 'index.js'))};`,
    `${declare} ${create}(${JSON.stringify(connectionFile)});`,
    '',
  ].join('\n');

/** Pi has no MCP. Its extension finds the connection beside Instar's other files. */
function planPi(context: NativeContext): NativePlan {
  const { projectDir } = context;
  const folder = piFolder(context);
  const extension = join(folder, 'extensions', 'instar.ts');
  return {
    edits: [
      {
        kind: 'whole',
        file: extension,
        text: entryFile('pi', 'createInstarExtension', 'export default', context.connectionFile),
      },
    ],
    skillFolder: projectDir === undefined ? join(folder, 'skills') : join(projectDir, '.pi', 'skills'),
    notes: [],
  };
}

/** OpenClaw is shown lessons by the plugin; skills become proposals of its Skill Workshop. */
function planOpenclaw(context: NativeContext): NativePlan {
  const file = openclawConfigFile(context);
  const entry = {
    enabled: true,
    hooks: { allowConversationAccess: true },
    config: { connection: context.connectionFile },
  };
  const settings = [
    { path: ['plugins', 'load', 'paths'], isElement: true as const, value: part('plugins', 'openclaw') },
    { path: ['plugins', 'entries', 'instar'], value: entry, mark: [] },
    ...(hasList(context.read(file), ['plugins', 'allow'])
      ? [{ path: ['plugins', 'allow'], isElement: true as const, value: 'instar' }]
      : []),
  ];
  return {
    edits: [{ kind: 'json', file, dialect: 'json5', settings }],
    notes: ['propose lessons to its Skill Workshop with: instar lessons propose NAME --to openclaw'],
  };
}

function hasList(text: string | undefined, path: readonly string[]): boolean {
  try {
    return findMember(parseJsonText(text?.trim() ? text : '{}', 'json5'), path).node?.kind === 'array';
  } catch (error) {
    if (error instanceof JsonTextError) return false;
    throw error;
  }
}

const PLANS: Readonly<Record<NativeClient, (context: NativeContext) => NativePlan>> = {
  openclaw: planOpenclaw,
  'claude-code': planClaudeCode,
  codex: planCodex,
  opencode: planOpencode,
  pi: planPi,
};

/** What makes Instar a part of a client, beside its settings for models, which stay as they are; writes nothing. */
export const planNative = (client: NativeClient, context: NativeContext): NativePlan =>
  PLANS[client](context);

/** The name under which the edits are recorded: a client may be connected in both ways. */
export const nativeName = (client: string): string => `${client}-native`;
