import type { ChatRequest, ToolCallPart } from '../../src/core/chat.ts';
import { createFailure } from '../../src/core/failure.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../../src/core/gateway-client.ts';

/** One reply of a script: what is not given is empty. */
export type ScriptedReply = Partial<GatewayReply>;

/** Says one reply after the other and remembers what it was asked; after the last it fails. */
export function createScriptedSpeak(replies: readonly ScriptedReply[]) {
  const requests: ChatRequest[] = [];
  const speakers: CallerIdentity[] = [];
  const speak: GatewayClient = async (request, speaker) => {
    const reply = replies[requests.length] ?? { failure: createFailure('internal', 'the script is over') };
    requests.push(request);
    speakers.push(speaker);
    return { text: '', calls: [], lessons: [], ...reply };
  };
  return { speak, requests, speakers };
}

let made = 0;
/** A call of `run_command` with an id of its own. */
export const run = (command: string): ToolCallPart => call('run_command', JSON.stringify({ command }));

export const call = (name: string, args: string, id = `call_${++made}`): ToolCallPart => ({
  type: 'tool-call',
  id,
  name,
  arguments: args,
});
