import type { Tool, ToolCallPart } from '../core/chat.ts';
import { isObject, parseJson } from '../core/json.ts';
import { COMMAND_PARAMETERS, TOOL_DESCRIPTION } from './guidance.ts';

const NAME = 'run_command';
const EXAMPLE = '{"command": "ls"}';

/** The one tool of the agent, with what its shell says of itself. */
export const createCommandTool = (about: string | undefined): Tool => ({
  name: NAME,
  description: about === undefined ? TOOL_DESCRIPTION : `${TOOL_DESCRIPTION}\n\n${about}`,
  parameters: COMMAND_PARAMETERS,
});

/** What a call asks to run, or what is wrong with it and how to mend it, said to the model. */
export type CommandCall = { readonly command: string } | { readonly fault: string };

export function readCommandCall({ name, arguments: text }: ToolCallPart): CommandCall {
  if (name !== NAME) {
    const mend =
      name === 'done'
        ? `To end the task, call ${NAME} with {"command": "done"}.`
        : `Call ${NAME} with ${EXAMPLE}.`;
    return { fault: `Unknown tool ${JSON.stringify(name.slice(0, 80))}: the only one is ${NAME}. ${mend}` };
  }
  const given = text.trim() === '' ? {} : parseJson(text);
  if (given === undefined)
    return wrong(`they are not JSON${isCutOff(text) ? ' and seem to be cut off' : ''}`);
  if (!isObject(given)) return wrong('they are not an object');
  const { command } = given;
  if (command === undefined) return wrong('"command" is missing');
  if (typeof command !== 'string') return wrong('"command" is not a string');
  return command.trim() === '' ? wrong('"command" is empty') : { command };
}

const wrong = (what: string): CommandCall => ({
  fault: `Invalid arguments for ${NAME}: ${what}. Nothing was run. Write them as ${EXAMPLE}, with line breaks as \\n and quotes as \\" inside of the string.`,
});

/** A reply that came to its length limit ends in the middle of a call. */
const isCutOff = (text: string): boolean => text.trimStart().startsWith('{') && !text.trimEnd().endsWith('}');
