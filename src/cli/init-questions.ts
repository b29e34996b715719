import type { Readable, Writable } from 'node:stream';
import { autocomplete, confirm, intro, isCancel, log, select, text } from '@clack/prompts';
import { neutraliseLine } from '../base/printable.ts';
import { findBaseUrlFault, isNearHost } from '../config/address.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import type { ProviderEntry } from '../config/schema.ts';
import { PROVIDER_NAME, VARIABLE_NAME } from '../config/sections/providers.ts';
import type { Probe } from '../doctor/probe-provider.ts';
import { plural } from '../text/phrases.ts';
import { CommandError, EXIT } from './context.ts';

import type { ProviderChoice } from './write-config.ts';

/** Questions are written to standard error: standard output carries the result. */
interface Io {
  readonly input: Readable;
  readonly output: Writable;
}

interface Questions {
  readonly io: Io;
  readonly env: NodeJS.ProcessEnv;
  /** Model servers running on this machine. */
  readonly local: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly models: readonly string[];
  }[];
  readonly probe: (choice: ProviderChoice) => Promise<Probe>;
}

interface Answers {
  readonly choice: ProviderChoice;
  /** The result of probing the provider. */
  readonly check: Probe['check'];
  readonly models: Probe['models'];
}

/** Asks for a provider and a model. It asks for the name of a key's variable, never for the key. */
export async function askForProvider(questions: Questions): Promise<Answers> {
  const { io } = questions;
  intro('Which model answers your agents?', io);
  const offers = offersOf(questions);
  const picked = answered(
    await select({
      ...io,
      message: 'Provider',
      options: [
        ...offers.map(({ label, hint }, index) => ({
          value: index,
          label,
          ...(hint !== undefined && { hint }),
        })),
        {
          value: -1,
          label: 'Another server',
          hint: 'any server with an OpenAI- or Anthropic-compatible API',
        },
      ],
    }),
  );
  const choice = offers[picked]?.choice ?? (await askForCustom(io));
  log.step('Listing its models', io);
  const { check, models } = await questions.probe(choice);
  (check.status === 'ok' ? log.success : log.warn)(neutraliseLine(check.detail), io);
  const model = await askForModel(io, models ?? []);
  if (model === '') return { choice, check, models };
  const learns = isOnlyLearner(choice.entry, questions.env) && (await offerLearning(io, model));
  return { choice: { ...choice, model, ...(learns ? { learns } : {}) }, check, models };
}

/** A model that can be asked without a key, where the environment has a key for no other. */
const isOnlyLearner = ({ baseUrl, keyEnv }: ProviderEntry, env: NodeJS.ProcessEnv): boolean =>
  keyEnv === undefined &&
  isNearHost(new URL(baseUrl).hostname) &&
  !KNOWN_PROVIDERS.some((known) => env[known.keyEnv]?.trim());

const offerLearning = async (io: Io, model: string): Promise<boolean> =>
  answered(
    await confirm({
      ...io,
      message: `Let ${neutraliseLine(model)} also write lessons and judge unclear turns? Nothing leaves your network, and it costs nothing.`,
    }),
  );

export const confirmChange = async (io: Io, file: string): Promise<boolean> =>
  answered(
    await confirm({ ...io, message: `${neutraliseLine(file)} exists. Change it? A copy (.old) is kept.` }),
  );

export const offerLive = async (io: Io): Promise<boolean> =>
  answered(
    await confirm({
      ...io,
      message:
        'Also train your weights on live traffic? It uses answers of these weights that a verifier or you rated, and a judge as far as it agrees with you. Stop it at any time: instar config set train.live false',
      initialValue: false,
    }),
  );

interface Offer {
  readonly label: string;
  readonly hint?: string;
  readonly choice: ProviderChoice;
}

/** Ready providers first: with a key in the environment, running locally, or with the caller's own key. */
function offersOf({ env, local }: Questions): readonly Offer[] {
  const isSet = (variable: string): boolean => Boolean(env[variable]?.trim());
  const known = KNOWN_PROVIDERS.map(({ name, title, wire, baseUrl, keyEnv }) => ({
    label: title,
    hint: isSet(keyEnv) ? `${keyEnv} is set` : `needs ${keyEnv}`,
    choice: { name, entry: { wire, baseUrl, keyEnv } },
    ready: isSet(keyEnv),
  }));
  return [
    ...known.filter(({ ready }) => ready),
    ...local.map(({ name, baseUrl, models }) => ({
      label: name === 'ollama' ? 'Ollama' : 'LM Studio',
      hint: `running on this machine, ${plural(models.length, 'model')}`,
      choice: { name, entry: { wire: 'openai-chat', baseUrl } as const },
    })),
    ...KNOWN_PROVIDERS.filter(({ passThrough }) => passThrough).map(({ name, title, wire, baseUrl }) => ({
      label: `${title}, use each client's own key`,
      hint: 'the agent keeps its own key; Instar stores none',
      choice: { name, entry: { wire, baseUrl } },
    })),
    ...known.filter(({ ready }) => !ready),
  ];
}

async function askForCustom(io: Io): Promise<ProviderChoice> {
  const name = answered(
    await text({
      ...io,
      message: 'Name of the provider',
      placeholder: 'my-server',
      validate: (value) =>
        PROVIDER_NAME.test(value ?? '') ? undefined : 'Lower-case letters, digits, hyphens.',
    }),
  );
  const baseUrl = answered(
    await text({
      ...io,
      message: 'Base URL',
      placeholder: 'https://host/v1',
      validate: (value) => {
        const fault = findBaseUrlFault(value ?? '');
        return fault && `The URL ${fault.what}: ${fault.fix}.`;
      },
    }),
  );
  const wire = answered(
    await select<Extract<ProviderEntry['wire'], string>>({
      ...io,
      message: 'API format',
      options: [
        { value: 'openai-chat', label: 'OpenAI chat completions', hint: 'most servers' },
        { value: 'openai', label: 'OpenAI chat completions and responses' },
        { value: 'openai-responses', label: 'OpenAI responses' },
        { value: 'anthropic', label: 'Anthropic messages' },
      ],
    }),
  );
  const keyEnv = answered(
    await text({
      ...io,
      message: 'Environment variable with its key (empty: each client uses its own)',
      defaultValue: '',
      validate: (value) =>
        !value || VARIABLE_NAME.test(value)
          ? undefined
          : 'Enter the name of a variable, such as MY_API_KEY, not the key.',
    }),
  );
  return { name, entry: { wire, baseUrl, ...(keyEnv !== '' && { keyEnv }) } };
}

async function askForModel(io: Io, models: readonly string[]): Promise<string> {
  if (models.length === 0) {
    const message = 'Default model, for requests that name no model (empty: none)';
    return answered(await text({ ...io, message, defaultValue: '' })).trim();
  }
  return answered(
    await autocomplete({
      ...io,
      message: 'Default model, for requests that name no model (type to search)',
      maxItems: 10,
      options: [
        { value: '', label: 'none: every request names its model' },
        ...models.map((model) => ({ value: model, label: neutraliseLine(model) })),
      ],
    }),
  );
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new CommandError(EXIT.interrupted, 'nothing was changed');
  return answer as Exclude<T, symbol>;
}
