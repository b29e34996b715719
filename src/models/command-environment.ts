type Environment = Readonly<Record<string, string | undefined>>;

const NEEDED = new Set(['PATH', 'HOME', 'USER', 'LANG', 'TERM']);
const FAMILIES = ['ANTHROPIC_', 'CLAUDE_', 'OPENAI_', 'CODEX_'] as const;
const ADDRESS = /_(BASE_URL|API_BASE)$/;

/**
 * What a headless program gets to see of our environment: the bare needs and its own sign-in. A family of variables
 * that names an address is left out as a whole: the address may be our own, which would be a loop, and a key that
 * stands beside it was meant for that address and for no other. `given` is taken as it is.
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
