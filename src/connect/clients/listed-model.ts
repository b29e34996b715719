import { ConfigError } from '../../config/config-error.ts';
import { type Connection, separateKey } from '../connection.ts';
import { chooseModel, findTarget, type Target } from '../target.ts';

/** What a client is told that keeps a list of providers and models of its own. */
export interface ListedModel {
  readonly model: string;
  /** The wire it should speak: the provider's own where that spares a translation. */
  readonly wire: 'openai-chat' | 'anthropic';
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Throws `ConfigError` when there is no model to name. */
export function listModel(connection: Connection): ListedModel {
  const model = chooseModel(connection.config, connection.model);
  if (model === undefined) {
    throw new ConfigError([
      {
        path: 'models',
        what: 'names no model that this client could be given',
        mend: 'give one with --model, such as openai/gpt-5.2, or set "default" in the config',
      },
    ]);
  }
  const target = findTarget(connection.config, model, 'openai-chat');
  const onlyAnthropic = target.wires.includes('anthropic') && !target.wires.includes('openai-chat');
  const isCaller = target.credentials === 'caller';
  const where = target.keyEnv ?? 'its place in that file';
  return {
    model,
    wire: onlyAnthropic ? 'anthropic' : 'openai-chat',
    target,
    headers: isCaller ? separateKey(connection) : {},
    notes: isCaller
      ? [`provider ${target.provider} has no key in Instar's config: put your own key of it into ${where}`]
      : [],
  };
}
