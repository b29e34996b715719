import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatEvent, ChatRequest, Tool, Usage } from '../../src/core/chat.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Wire } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Printed by the command that the client runs for the model, then repeated by the model. */
export const PROOF = 'tool-loop-proof-4711';
const COMMAND = `echo ${PROOF}`;

/** The client's tool for running a command: its name, with arguments that match its schema. */
function commandCall(
  tools: readonly Tool[],
  command: string,
): { readonly name: string; readonly arguments: string } | undefined {
  const names = [
    'Bash',
    'bash',
    'exec',
    'exec_command',
    'shell',
    'shell_command',
    'run_commands',
    'execute_command',
  ];
  const tool = names.flatMap((name) => tools.find((one) => one.name === name) ?? [])[0];
  if (tool === undefined) return undefined;
  const properties = Object.entries((tool.parameters.properties ?? {}) as Record<string, { type?: string }>);
  const required = new Set((tool.parameters.required ?? []) as readonly string[]);
  const given = properties.flatMap(([name, { type }]): [string, unknown][] => {
    if (name === 'cmd' || name === 'command')
      return [[name, type === 'array' ? ['bash', '-lc', command] : command]];
    if (name === 'commands') return [[name, [command]]];
    if (name === 'freeform_input')
      return [[name, `await tools.exec_command({ cmd: ${JSON.stringify(command)} })`]];
    if (!required.has(name)) return [];
    return [[name, type === 'boolean' ? false : type === 'number' ? 1000 : 'says hello']];
  });
  return { name: tool.name, arguments: JSON.stringify(Object.fromEntries(given)) };
}

/** Which command a model runs next for a request; undefined: it answers. */
export type ChooseCommand = (request: ChatRequest) => string | undefined;

/** One command, then an answer. */
const once =
  (command: string): ChooseCommand =>
  ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? undefined : command;

/** What the model says at the end: the proof, where it has seen it. */
function replyTo(
  request: ChatRequest,
  n: number,
  command: string | undefined,
  usage: Usage,
): readonly ChatEvent[] {
  const start: ChatEvent = { type: 'reply-start', id: `reply_${n}`, model: request.model };
  const end = (stop: 'end' | 'tool-calls'): ChatEvent => ({
    type: 'reply-end',
    stop,
    usage,
  });
  const results = JSON.stringify(request.messages.filter(({ role }) => role === 'tool'));
  const call = command === undefined ? undefined : commandCall(request.tools, command);
  if (call !== undefined) {
    return [
      start,
      { type: 'tool-start', id: `call_${n}`, name: call.name },
      { type: 'tool-delta', id: `call_${n}`, json: call.arguments },
      end('tool-calls'),
    ];
  }
  const text = results.includes(PROOF) ? `The command said ${PROOF}.` : 'A short title';
  return [start, { type: 'text-delta', text }, end('end')];
}

/** What the provider says that a request used. */
export type UsageOf = (wire: Wire, body: JsonObject) => Usage;

const always: UsageOf = () => ({ inputTokens: 900, outputTokens: 9 });

/** Serves all three wires. Runs commands through the client's own tool, by default one, then repeats its output. `takesMs`: for each reply. */
export function startToolProvider(
  choose: ChooseCommand = once(COMMAND),
  takesMs = 0,
  usageOf: UsageOf = always,
): Promise<Provider> {
  let n = 0;
  return startProvider(async ({ method, url, body }, response) => {
    const [path = ''] = url.split('?');
    if (method !== 'POST') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'fake-model', object: 'model' }] }));
      return;
    }
    if (path.endsWith('/count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1000}');
      return;
    }
    const wire: Wire | undefined = Object.values(wires).find((one) => path.endsWith(one.path));
    if (wire === undefined) return void response.writeHead(404).end('{}');
    const sent: JsonObject = JSON.parse(body.toString());
    const request = wire.decodeRequest(sent);
    const events = replyTo(request, n++, choose(request), usageOf(wire, sent));
    await sleep(takesMs);
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
    const encoder = wire.createStreamEncoder();
    response.end(
      request.stream
        ? events.map((event) => encoder.encode(event)).join('')
        : JSON.stringify(wire.encodeReply(events)),
    );
  });
}
