/** The programs that Instar recognises by their requests and that `instar connect` can point at the gateway. */
export const CLIENT_NAMES = [
  'openclaw',
  'claude-code',
  'codex',
  'opencode',
  'pi',
  'cline',
  'continue',
  'aider',
  'hermes',
] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

export const isClientName = (name: string): name is ClientName =>
  CLIENT_NAMES.some((client) => client === name);
