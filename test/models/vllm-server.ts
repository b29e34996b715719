import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface VllmTraits {
  /** VLLM_ALLOW_RUNTIME_LORA_UPDATING */
  readonly hasRoutes?: boolean;
  /** --enable-lora */
  readonly hasLora?: boolean;
  /** --max-lora-rank */
  readonly mostRank?: number;
  readonly key?: string;
  /** The server does not answer. */
  readonly isDown?: boolean;
  /** Before `load_inplace`, and with the error at the top of the body. */
  readonly isOld?: boolean;
  /** The engine has dropped the adapter: it cannot be removed. */
  readonly cannotRemove?: boolean;
  readonly rankOf?: (folder: string) => number;
}

interface Stream {
  readonly model: string;
  readonly response: ServerResponse;
}

const BASE = 'base-model';

/**
 * Behaves as vLLM's server does, as far as its documentation and answers go: `Success: …` in plain text with 200; an adapter
 * that is not there 404 with NotFoundError; a name that is taken 400 with InvalidUserInput; what the engine throws 500 (400
 * in old versions); a route that is off 404 with `detail`; an unknown model 404. A stream whose adapter is removed breaks
 * off, which is the worst that could happen.
 */
export async function startVllm(given: VllmTraits = {}) {
  let traits: VllmTraits = given;
  const adapters = new Map<string, { readonly folder: string; readonly isInPlace: boolean }>();
  const streams = new Set<Stream>();
  const seen: string[] = [];
  let broken = 0;
  let most = 0;

  const server = createServer(async (request, response) => {
    const { url = '', method = '' } = request;
    if (traits.isDown === true) return void request.socket.destroy();
    const body = method === 'POST' ? ((await json(request)) as Record<string, unknown>) : {};
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const refuse = (status: number, type: string, message: string): void =>
      send(
        status,
        traits.isOld === true
          ? { object: 'error', message, type, param: null, code: status }
          : { error: { message, type, param: null, code: status } },
      );
    const succeed = (text: string): void => void response.writeHead(200).end(text);
    if (traits.key !== undefined && request.headers.authorization !== `Bearer ${traits.key}`)
      return send(401, { error: 'Unauthorized' });
    if (url === '/v1/models')
      return send(200, {
        object: 'list',
        data: [
          { id: BASE, object: 'model', root: BASE, parent: null },
          ...[...adapters].map(([id, { folder }]) => ({ id, object: 'model', root: folder, parent: BASE })),
        ],
      });
    if (url === '/v1/chat/completions') return open(String(body.model), response, refuse);
    const isLoad = url === '/v1/load_lora_adapter';
    if ((!isLoad && url !== '/v1/unload_lora_adapter') || traits.hasRoutes === false)
      return send(404, { detail: 'Not Found' });
    const name = String(body.lora_name ?? '');
    seen.push(`${isLoad ? 'load' : 'unload'} ${name}${body.load_inplace === true ? ' in place' : ''}`);
    if (!isLoad) {
      if (!adapters.has(name))
        return refuse(404, 'NotFoundError', `The lora adapter '${name}' cannot be found.`);
      if (traits.cannotRemove === true)
        return refuse(500, 'InternalServerError', `Failed to remove lora adapter '${name}' from the engine.`);
      adapters.delete(name);
      for (const stream of streams)
        if (stream.model === name) {
          broken++;
          stream.response.destroy();
          streams.delete(stream);
        }
      return succeed(`Success: LoRA adapter '${name}' removed successfully.`);
    }
    const folder = String(body.lora_path ?? '');
    const isInPlace = body.load_inplace === true && traits.isOld !== true;
    if (name === '' || folder === '')
      return refuse(400, 'InvalidUserInput', "Both 'lora_name' and 'lora_path' must be provided.");
    if (adapters.has(name) && !isInPlace)
      return refuse(400, 'InvalidUserInput', `The lora adapter '${name}' has already been loaded.`);
    const engineStatus = traits.isOld === true ? 400 : 500;
    if (traits.hasLora === false)
      return refuse(
        engineStatus,
        'InternalServerError',
        'Call to add_lora method failed: LoRA is not enabled.',
      );
    if (!existsSync(path.join(folder, 'adapter_config.json')))
      return refuse(404, 'NotFoundError', `Loading lora ${name} failed: No adapter found for ${folder}`);
    const rank = traits.rankOf?.(folder) ?? 1;
    if (rank > (traits.mostRank ?? 16))
      return refuse(
        engineStatus,
        'InternalServerError',
        `LoRA rank ${rank} is greater than max_lora_rank ${traits.mostRank ?? 16}.`,
      );
    adapters.set(name, { folder, isInPlace });
    return succeed(`Success: LoRA adapter '${name}' added successfully.`);
  });

  function open(
    model: string,
    response: ServerResponse,
    refuse: (status: number, type: string, message: string) => void,
  ): void {
    const folder = model === BASE ? BASE : adapters.get(model)?.folder;
    if (folder === undefined) {
      refuse(404, 'NotFoundError', `The model \`${model}\` does not exist.`);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const stream = { model, response };
    streams.add(stream);
    most = Math.max(most, streams.size);
    response.on('close', () => streams.delete(stream));
    write(stream);
  }

  /** A text that names its adapter and the adapter's folder. */
  function write(stream: Stream): void {
    const folder = stream.model === BASE ? BASE : (adapters.get(stream.model)?.folder ?? 'none');
    const delta = { role: 'assistant', content: `${path.basename(folder)} ` };
    const card = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: stream.model };
    const choices = [{ index: 0, delta, finish_reason: null }];
    stream.response.write(`data: ${JSON.stringify({ ...card, choices })}\n\n`);
  }

  function finish(ending: readonly Stream[]): void {
    for (const stream of ending) {
      write(stream);
      const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }];
      const last = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: stream.model, choices };
      stream.response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
      streams.delete(stream);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    adapters,
    seen,
    streams,
    change: (next: VllmTraits): void => {
      traits = { ...traits, ...next };
    },
    broken: () => broken,
    mostAtOnce: () => most,
    writeAll: (): void => {
      for (const stream of streams) write(stream);
    },
    /** Ends streams that have begun, the oldest first. */
    end: (count: number): void => finish([...streams].slice(0, count)),
    endNewest: (): void => finish([...streams].slice(-1)),
  };
}
