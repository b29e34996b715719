import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { createNanoTemplate } from '../../train/nano/policy/nano-template.ts';
import { readNano } from '../../train/nano/shipped-policy.ts';
import { openChatTemplate } from '../../train/policy/open-chat-template.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { PROFILES, type ProfileName } from '../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../train/tinker/tinker-engine.ts';
import { DESK_SAMPLING } from '../suites/desk/desk.ts';

/** A server of Tinker's protocol, as the command line names it. */
interface EngineChoice {
  readonly url: string;
  readonly key: string | undefined;
  /** The model's name at the server. */
  readonly model: string;
  /** The folder of its tokenizer, or `nano` for the embedded policy. */
  readonly tokenizer: string;
  /** The kind of server. */
  readonly profile: string;
}

/** The options of every command that asks a real model. */
export const ENGINE_OPTIONS = {
  url: { type: 'string', default: 'http://127.0.0.1:10700' },
  'key-env': { type: 'string' },
  model: { type: 'string', default: '' },
  tokenizer: { type: 'string', default: '' },
  profile: { type: 'string', default: 'skyrl' },
} as const;

export function readEngineChoice(values: {
  readonly url: string;
  readonly 'key-env'?: string | undefined;
  readonly model: string;
  readonly tokenizer: string;
  readonly profile: string;
}): EngineChoice {
  if (values.model === '' || values.tokenizer === '')
    throw new Error('name the model and the folder of its tokenizer: --model NAME --tokenizer FOLDER');
  const { 'key-env': variable, ...choice } = values;
  return { ...choice, key: variable === undefined ? undefined : process.env[variable] };
}

interface RealEngine {
  readonly engine: TinkerEngine;
  readonly template: PolicyTemplate;
}

/** Connects, and tests once whether the server's sampler and trainer agree. */
export async function openRealEngine(
  choice: EngineChoice,
  log: (line: string) => void,
  longestReply: number = DESK_SAMPLING.maxTokens,
): Promise<RealEngine> {
  const { url, key, model, tokenizer, profile } = choice;
  if (!Object.hasOwn(PROFILES, profile))
    throw new Error(`no kind of server is named ${profile}; use ${Object.keys(PROFILES).join(', ')}`);
  const template =
    tokenizer === 'nano'
      ? createNanoTemplate((await readNano()).tokenizer)
      : await openChatTemplate(tokenizer, { longestReply });
  const engine = await connectTinker({
    url,
    baseModel: model,
    profile: profile as ProfileName,
    losses: ['importance_sampling'],
    fetch,
    clock: systemClock,
    random: createRandom(`real-model/${Date.now()}/${process.pid}`),
    log,
    ...(key === undefined ? {} : { key }),
  });
  return { engine, template };
}
