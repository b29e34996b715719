import type { Readable, Writable } from 'node:stream';
import { autocomplete, confirm, intro, isCancel, log, select, text } from '@clack/prompts';
import { neutraliseLine } from '../base/printable.ts';
import { findBaseUrlFault } from '../config/address.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import type { ProviderEntry } from '../config/schema.ts';
import { PROVIDER_NAME, VARIABLE_NAME } from '../config/sections/providers.ts';
import type { Probe } from '../doctor/probe-provider.ts';
import { CommandError, EXIT } from './context.ts';
import type { ProviderChoice } from './write-config.ts';

/** Questions go to standard error: standard output is for the result. */
interface Io {
  readonly input: Readable;
  readonly output: Writable;
}

interface Questions {
  readonly io: Io;
  readonly env: NodeJS.ProcessEnv;
  /** Model servers that answer on this machine. */
  readonly local: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly models: readonly string[];
  }[];
  readonly probe: (choice: ProviderChoice) => Promise<Probe>;
}

interface Answers {
  readonly choice: ProviderChoice;
  /** What the provider said when it was tried. */
  readonly check: Probe['check'];
}

/** Asks for a provider and a model; a key is only ever named by its variable. */
export async function askForProvider(questions: Questions): Promise<Answers> {
  const { io } = questions;
  intro('Which models should Instar stand in front of?', io);
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
        { value: -1, label: 'Something else', hint: 'any server that speaks one of the wires' },
      ],
    }),
  );
  const choice = offers[picked]?.choice ?? (await askForCustom(io));
  log.step('Asking it for its models', io);
  const { check, models } = await questions.probe(choice);
  (check.status === 'ok' ? log.success : log.warn)(neutraliseLine(check.detail), io);
  const model = await askForModel(io, models ?? []);
  return { choice: model === '' ? choice : { ...choice, model }, check };
}

export const confirmChange = async (io: Io, file: string): Promise<boolean> =>
  answered(
    await confirm({ ...io, message: `${neutraliseLine(file)} exists. Change it? A copy (.old) is kept.` }),
  );

export const offerStarter = async (io: Io): Promise<boolean> =>
  answered(
    await confirm({
      ...io,
      message: 'Begin with a few general skills? They can be edited and retired like any other.',
      initialValue: false,
    }),
  );

interface Offer {
  readonly label: string;
  readonly hint?: string;
  readonly choice: ProviderChoice;
}

/** What needs nothing more comes first: keys that are set, servers that run, keys the caller has. */
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
      hint: `runs here, ${models.length} models`,
      choice: { name, entry: { wire: 'openai-chat', baseUrl } as const },
    })),
    ...KNOWN_PROVIDERS.filter(({ passThrough }) => passThrough).map(({ name, title, wire, baseUrl }) => ({
      label: `${title}, pass through my own key`,
      hint: 'the agent keeps its credentials; Instar stores none',
      choice: { name, entry: { wire, baseUrl } },
    })),
    ...known.filter(({ ready }) => !ready),
  ];
}

async function askForCustom(io: Io): Promise<ProviderChoice> {
  const name = answered(
    await text({
      ...io,
      message: 'A name for it',
      placeholder: 'my-server',
      validate: (value) =>
        PROVIDER_NAME.test(value ?? '') ? undefined : 'Lower-case letters, digits, hyphens.',
    }),
  );
  const baseUrl = answered(
    await text({
      ...io,
      message: 'Where its API starts',
      placeholder: 'https://host/v1',
      validate: (value) => {
        const fault = findBaseUrlFault(value ?? '');
        return fault && `It ${fault.what}: ${fault.mend}.`;
      },
    }),
  );
  const wire = answered(
    await select<Extract<ProviderEntry['wire'], string>>({
      ...io,
      message: 'What it speaks',
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
      message: "Variable that holds its key (empty: callers' own keys pass through)",
      defaultValue: '',
      validate: (value) =>
        !value || VARIABLE_NAME.test(value)
          ? undefined
          : 'The name of a variable, such as MY_API_KEY, not the key.',
    }),
  );
  return { name, entry: { wire, baseUrl, ...(keyEnv !== '' && { keyEnv }) } };
}

async function askForModel(io: Io, models: readonly string[]): Promise<string> {
  if (models.length === 0) {
    const message = 'Model that answers when a caller names none (empty: none)';
    return answered(await text({ ...io, message, defaultValue: '' })).trim();
  }
  return answered(
    await autocomplete({
      ...io,
      message: 'Model that answers when a caller names none (type to search)',
      maxItems: 10,
      options: [
        { value: '', label: 'none: callers name their own' },
        ...models.map((model) => ({ value: model, label: neutraliseLine(model) })),
      ],
    }),
  );
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new CommandError(EXIT.failed, 'nothing was changed');
  return answer as Exclude<T, symbol>;
}
