import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkConfig } from '../../../src/config/check-config.ts';
import { openHome } from '../../../src/config/home.ts';
import { readOrCreateKey } from '../../../src/config/key.ts';
import { readOrCreateOwnerKey } from '../../../src/config/owner-key.ts';
import { asObject, type JsonObject } from '../../../src/core/json.ts';
import { type Daemon, startDaemon } from '../../../src/daemon/daemon.ts';
import type { DaemonOptions } from '../../../src/daemon/record-and-keys.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { createLog } from '../../../src/redact/create-log.ts';
import { type Answer, ask } from '../../support/client.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';
import { type Provider, type Reply, startProvider } from '../../support/provider.ts';

/** A real daemon in this process. */
export interface InstarHere {
  readonly daemon: Daemon;
  readonly port: number;
  readonly dir: string;
  readonly key: string;
  /** A turn of the client. */
  chat(text: string, more?: ChatOptions): Promise<Answer>;
  /** A call with the owner's key. */
  owner(method: string, where: string, body?: object): Promise<JsonObject>;
  addLesson(text: ToldText, id?: string): Promise<void>;
}

interface ChatOptions {
  readonly model?: string;
  readonly session?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly messages?: readonly object[];
  readonly tools?: readonly object[];
  readonly path?: string;
}

type Extra = Partial<Pick<DaemonOptions, 'env' | 'slowWork' | 'clocks' | 'isUnhurried' | 'embed'>> & {
  /** Called before the start with the folder of the home. */
  readonly prepare?: (dir: string) => void | Promise<void>;
};

/** Opens daemons and providers, each once per name, and closes all of them. */
export interface Stage {
  open(name: string, config: object, more?: Extra): Promise<InstarHere>;
  provider(name: string, reply: Reply): Promise<Provider>;
  folder(): string;
  close(): Promise<void>;
}

export function createStage(): Stage {
  const embed = createMiniLmEmbed();
  const daemons = new Map<string, Promise<InstarHere>>();
  const providers = new Map<string, Promise<Provider>>();
  const folders: string[] = [];
  const folder = (): string => {
    const dir = mkdtempSync(path.join(tmpdir(), 'instar-setting-'));
    folders.push(dir);
    return dir;
  };
  const memo = <T>(map: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> => {
    const made = map.get(name) ?? make();
    map.set(name, made);
    return made;
  };
  return {
    folder,
    open: (name, config, more = {}) =>
      memo(daemons, name, () => openHere(config, { embed, ...more }, folder())),
    provider: (name, reply) => memo(providers, name, () => startProvider(reply)),
    close: async () => {
      await Promise.all([...daemons.values()].map(async (one) => (await one).daemon.close()));
      await embed.close();
      await Promise.all([...providers.values()].map(async (one) => (await one).close()));
      for (const dir of folders) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function openHere(config: object, { prepare, ...more }: Extra, root: string): Promise<InstarHere> {
  const home = openHome(path.join(root, 'home'));
  await prepare?.(home.dir);
  const { key } = readOrCreateKey(home, {});
  const ownerKey = readOrCreateOwnerKey(home, {}).key ?? '';
  const { gateway, ...rest } = asObject(config);
  const daemon = await startDaemon({
    home,
    config: checkConfig(
      { train: { engine: 'off' }, ...rest, gateway: { port: 0, ...asObject(gateway) } },
      { env: {} },
    ).config,
    env: {},
    log: createLog({ format: 'json', level: 'silent', stream: { write: () => true } }),
    isUnhurried: true,
    ...more,
  });
  const owner: InstarHere['owner'] = async (method, where, body) => {
    const headers = { authorization: `Bearer ${ownerKey}` };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return JSON.parse((await ask(daemon.port, { method, path: where, headers, ...text })).text);
  };
  let lessons = 0;
  return {
    daemon,
    port: daemon.port,
    dir: home.dir,
    key,
    owner,
    chat: (
      text,
      { model = 'p/m', session, headers = {}, messages, tools, path: where = '/v1/chat/completions' } = {},
    ) =>
      ask(daemon.port, {
        path: where,
        headers: {
          authorization: `Bearer ${key}`,
          ...(session === undefined ? {} : { 'x-instar-session': session }),
          ...headers,
        },
        body: JSON.stringify({ model, messages: messages ?? [{ role: 'user', content: text }], tools }),
      }),
    addLesson: async (told, id = `lesson-${++lessons}`) => {
      const change = { op: 'add', id, kind: 'skill', state: 'live', text: lessonText(told) };
      await owner('POST', '/api/lessons', { changes: [change] });
      await daemon.settle();
    },
  };
}

/** The body of a chat request that a provider saw. */
export const chatBody = (request: {
  readonly body: Buffer;
}): {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
  readonly stream?: boolean;
} => JSON.parse(request.body.toString() || '{}');

/** A provider's reply on the wire openai-chat. */
export function replyWith(response: Parameters<Reply>[1], content: string, isStream = false): void {
  const head = { id: 'x', created: 1, model: 'm' };
  const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 };
  const whole = { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
  const part = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  response.end(
    isStream
      ? `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...part, usage })}\n\ndata: [DONE]\n\n`
      : JSON.stringify({ ...head, object: 'chat.completion', ...whole, usage }),
  );
}
