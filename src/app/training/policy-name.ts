import type { Config } from '../../config/schema.ts';

/** The policy's name, which follows `instar/` in requests; undefined when training is off. */
export function policyName({ engine }: Config['train']): string | undefined {
  if (engine === 'off') return undefined;
  return engine === 'nano' ? engine : (engine.baseModel.split('/').at(-1) ?? engine.baseModel);
}
