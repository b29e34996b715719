/**
 * The most parameters, in billions, of a small model: it follows lessons in the user's message and hardly in the system prompt, and
 * lessons that it writes do harm (docs/real-model.md).
 */
const SMALL_BILLIONS = 4;

/** Whether the name of a model says that it is a small one: `qwen2.5-coder:1.5b`, `smollm2:360m`. Names without a size say nothing. */
export function isSmallModel(model: string): boolean {
  const sizes = [...model.matchAll(/(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)(b|m)(?![a-z0-9])/gi)].map(
    ([, size, unit]) => Number(size) * (unit?.toLowerCase() === 'm' ? 0.001 : 1),
  );
  return sizes.length > 0 && Math.max(...sizes) <= SMALL_BILLIONS;
}
