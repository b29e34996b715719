import { expect, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type NativeHome, openNativeHome } from '../plugins/native-home.ts';
import type { Provider } from '../support/provider.ts';

export const SOON = { timeout: 120_000, interval: 1_000 };
/** What the model is to be shown, by a skill that is due for the task. */
export const LESSON = 'Write every date with the offset +02:00.';

export interface ThreadTurn {
  readonly role: string;
  readonly status: string;
  readonly verdict?: string;
  readonly reasons?: readonly string[];
}

export interface Thread {
  readonly id: string;
  readonly client: string;
  readonly turns: readonly ThreadTurn[];
}

/** A running Instar before a scripted provider, with one lesson. */
export async function openRoutedHome(provider: Provider): Promise<NativeHome> {
  const fake = { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1`, keyEnv: 'FAKE_KEY' };
  const instar = await openNativeHome({
    providers: { fake },
    models: { default: 'fake/fake-model', evolver: 'off' },
  });
  await instar.teach('dates', {
    name: 'date-offsets',
    description: 'When you write dates or times into a table or a file.',
    content: LESSON,
  });
  return instar;
}

/** The conversations of people, each with its turns and their verdicts. */
export async function threadsOf(instar: NativeHome): Promise<readonly Thread[]> {
  const listed = JSON.parse((await instar.instar('sessions', 'list', '--json')).stdout) as { id: string }[];
  const read = await Promise.all(
    listed.map(({ id }) => instar.owner('GET', `/api/page/sessions/${encodeURIComponent(id)}?aux=yes`)),
  );
  return read as (JsonObject & Thread)[];
}

/** The lesson whose text holds these words, once it is learned. */
export const learnedWith = (instar: NativeHome, words: string): Promise<JsonObject> =>
  vi.waitFor(async () => {
    const listed = JSON.parse((await instar.instar('lessons', 'list', '--json')).stdout) as JsonObject[];
    const shown = await Promise.all(
      listed.map(({ id }) => instar.owner('GET', `/api/lessons/${String(id)}`)),
    );
    const found = shown.find(({ content }) => String(content).includes(words));
    expect(found, JSON.stringify(shown.map(({ content }) => content))).toBeDefined();
    return found ?? {};
  }, SOON);
