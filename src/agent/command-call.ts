import type { Tool, ToolCallPart } from '../core/chat.ts';
import { isObject, parseJson } from '../core/json.ts';
import { COMMAND_PARAMETERS, TOOL_DESCRIPTION } from './guidance.ts';

const NAME = 'run_command';
const EXAMPLE = '{"command": "ls"}';

/** The agent's only tool, with the description of its shell. */
export const createCommandTool = (about: string | undefined): Tool => ({
  name: NAME,
  description: about === undefined ? TOOL_DESCRIPTION : `${TOOL_DESCRIPTION}\n\n${about}`,
  parameters: COMMAND_PARAMETERS,
});

/** The command of a call, or a message to the model about what is wrong with the call and how to fix it. */
export type CommandCall =
  | { readonly ok: true; readonly command: string }
  | { readonly ok: false; readonly why: string };

export function readCommandCall({ name, arguments: text }: ToolCallPart): CommandCall {
  if (name !== NAME) {
    const hint =
      name === 'done'
        ? `To end the task, call ${NAME} with {"command": "done"}.`
        : `Call ${NAME} with ${EXAMPLE}.`;
    return {
      ok: false,
      why: `Unknown tool ${JSON.stringify(name.slice(0, 80))}: the only one is ${NAME}. ${hint}`,
    };
  }
  const given = text.trim() === '' ? {} : parseJson(text);
  if (given === undefined)
    return wrong(`they are not JSON${isCutOff(text) ? ' and seem to be cut off' : ''}`);
  if (!isObject(given)) return wrong('they are not an object');
  const { command } = given;
  if (command === undefined) return wrong('"command" is missing');
  if (typeof command !== 'string') return wrong('"command" is not a string');
  return command.trim() === '' ? wrong('"command" is empty') : { ok: true, command };
}

const wrong = (what: string): CommandCall => ({
  ok: false,
  why: `Invalid arguments for ${NAME}: ${what}. Nothing was run. Write them as ${EXAMPLE}, with line breaks as \\n and quotes as \\" inside of the string.`,
});

/** A reply that reached its length limit ends in the middle of a call. */
const isCutOff = (text: string): boolean => text.trimStart().startsWith('{') && !text.trimEnd().endsWith('}');
