/** A model of a provider, such as `openrouter/anthropic/claude-sonnet-4.5`. */
interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** The provider ends at the first slash; the model's name may contain more slashes. */
export function parseModelRef(text: string): ModelRef | undefined {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1 || text !== text.trim()) return undefined;
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** The policy's name, which follows `instar/` in requests; undefined when training is off. */
export function policyName({
  engine,
}: {
  readonly engine: 'off' | 'nano' | { readonly baseModel: string };
}): string | undefined {
  if (engine === 'off') return undefined;
  return engine === 'nano' ? engine : (engine.baseModel.split('/').at(-1) ?? engine.baseModel);
}
