/** The tools that each client offers in every request of its main agent, by the names it gives them. */
export const TOOL_NAMES: Readonly<Record<string, readonly string[]>> = {
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
export const clientPrompt = (client: string, folder: string): string =>
  INTRODUCTIONS[client]?.(folder) ?? `You are a helpful assistant for software work. ${HABITS}`;
