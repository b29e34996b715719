import { ConfigError } from '../config/config-error.ts';
import {
  type ClientConnection,
  type ConnectTarget,
  chooseModel,
  findTarget,
  separateKey,
} from './connection.ts';

/** The model for a client that has its own list of providers and models. */
interface ListedModel {
  readonly model: string;
  /** The wire for the client: the provider's own, where that avoids a translation. */
  readonly wire: 'openai-chat' | 'anthropic';
  readonly target: ConnectTarget;
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Throws `ConfigError` when the config names no model. */
export function listModel(connection: ClientConnection): ListedModel {
  const model = chooseModel(connection);
  if (model === undefined) {
    throw new ConfigError([
      {
        path: 'models',
        what: 'has no model for this client',
        fix: 'choose one with --model, such as openai/gpt-5.2, or set "default" in the config',
      },
    ]);
  }
  const target = findTarget(connection.config, model, 'openai-chat');
  const onlyAnthropic = target.wires.includes('anthropic') && !target.wires.includes('openai-chat');
  const isCaller = target.credentials === 'caller';
  const where = target.keyEnv ?? 'the file';
  return {
    model,
    wire: onlyAnthropic ? 'anthropic' : 'openai-chat',
    target,
    headers: isCaller ? separateKey(connection) : {},
    notes: isCaller
      ? [`provider ${target.provider} has no key in Instar's config: put your own key into ${where}`]
      : [],
  };
}
