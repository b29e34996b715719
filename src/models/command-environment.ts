type Environment = Readonly<Record<string, string | undefined>>;

const NEEDED = new Set(['PATH', 'HOME', 'USER', 'LANG', 'TERM']);
const FAMILIES = ['ANTHROPIC_', 'CLAUDE_', 'OPENAI_', 'CODEX_'] as const;
const ADDRESS = /_(BASE_URL|API_BASE)$/;

/**
 * The environment of a headless program: the basic variables and its own sign-in. A family of variables that contains
 * a base URL is left out as a whole: the URL may be Instar's own, which would be a loop, and a key beside it belongs
 * to that URL only. `given` is passed unchanged.
 */
export function createCommandEnvironment(ambient: Environment, given: Environment): Record<string, string> {
  const foreign = FAMILIES.filter((family) =>
    Object.keys(ambient).some((name) => name.startsWith(family) && ADDRESS.test(name) && ambient[name]),
  );
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(ambient)) {
    const family = FAMILIES.find((prefix) => name.startsWith(prefix));
    const wanted = family === undefined ? NEEDED.has(name) : !foreign.includes(family) && !ADDRESS.test(name);
    if (wanted && value !== undefined) out[name] = value;
  }
  for (const [name, value] of Object.entries(given)) if (value !== undefined) out[name] = value;
  return out;
}
