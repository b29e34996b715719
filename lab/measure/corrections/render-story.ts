import type { Json, JsonObject } from '../../../src/core/json.ts';

/** One step of a story, told without a client: what was said, what a command printed, what was edited. */
type StoryStep =
  | { readonly user: string }
  | { readonly agent: string }
  /** `exit`: 0 unless told. `say`: what the agent writes before the call. */
  | { readonly run: string; readonly out: string; readonly exit?: number; readonly say?: string }
  | {
      readonly edit: string;
      readonly from: string;
      readonly to: string;
      readonly fails?: string;
      readonly say?: string;
    }
  | { readonly read: string; readonly out: string; readonly say?: string };

type CallStep = Exclude<StoryStep, { readonly user: string } | { readonly agent: string }>;

/** A call as a client's agent makes it, and the result as the client words it. */
interface RenderedCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly result: string;
  readonly isError: boolean;
}

/** The messages of one session in the form in which this client keeps and sends them. */
export function renderStory(client: string, steps: readonly StoryStep[]): readonly Json[] {
  const render = FORMS[client] ?? openaiForm;
  let calls = 0;
  return steps.flatMap((step): readonly Json[] => {
    if ('user' in step) return render.words('user', step.user);
    if ('agent' in step) return render.words('assistant', step.agent);
    const call = (CALLS[client] ?? callOf)(step);
    if (client === 'aider') return toldByAider(step, call);
    return render.call(`call_${client.slice(0, 2)}${calls++}`, step.say ?? '', call);
  });
}

interface MessageForm {
  words(role: 'user' | 'assistant', text: string): readonly Json[];
  call(id: string, say: string, call: RenderedCall): readonly Json[];
}

const openaiForm: MessageForm = {
  words: (role, text) => [{ role, content: text }],
  call: (id, say, { name, input, result }) => [
    {
      role: 'assistant',
      content: say === '' ? null : say,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: id, content: result },
  ],
};

const anthropicForm: MessageForm = {
  words: (role, text) => [{ role, content: [{ type: 'text', text }] }],
  call: (id, say, { name, input, result, isError }) => [
    {
      role: 'assistant',
      content: [
        ...(say === '' ? [] : [{ type: 'text', text: say }]),
        { type: 'tool_use', id: `toolu_${id}`, name, input },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `toolu_${id}`,
          content: result,
          ...(isError ? { is_error: true } : {}),
        },
      ],
    },
  ],
};

const responsesForm: MessageForm = {
  words: (role, text) => [
    { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
  ],
  call: (id, say, { name, input, result }) => [
    ...(say === '' ? [] : responsesForm.words('assistant', say)),
    { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
    { type: 'function_call_output', call_id: id, output: result },
  ],
};

const FORMS: Readonly<Record<string, MessageForm>> = { 'claude-code': anthropicForm, codex: responsesForm };

/** Aider has no tools: it writes edits in its answer, and the user adds a command's output to the chat. */
function toldByAider(step: CallStep, { result }: RenderedCall): readonly Json[] {
  if ('edit' in step)
    return openaiForm.words(
      'assistant',
      `${step.say ?? ''}\n${step.edit}\n<<<<<<< SEARCH\n${step.from}\n=======\n${step.to}\n>>>>>>> REPLACE`.trim(),
    );
  if ('read' in step)
    return openaiForm.words('user', `I added these files to the chat:\n\n${step.read}\n${result}`);
  return openaiForm.words('user', `I ran this command:\n\n${step.run}\n\nAnd got this output:\n\n${result}`);
}

type RenderCall = (step: CallStep) => RenderedCall;

/** Builds a client's calls from its tools' names and its wording of results. */
function callsOf(form: {
  readonly shell: string;
  readonly read: string;
  readonly edit: string;
  readonly command: (command: string) => JsonObject;
  readonly file: (path: string) => JsonObject;
  readonly change: (path: string, from: string, to: string) => JsonObject;
  readonly ran: (out: string, exit: number, command: string) => string;
  readonly edited: (path: string) => string;
}): RenderCall {
  return (step) => {
    if ('run' in step) {
      const exit = step.exit ?? 0;
      const result = form.ran(step.out, exit, step.run);
      return { name: form.shell, input: form.command(step.run), result, isError: exit !== 0 };
    }
    if ('read' in step)
      return { name: form.read, input: form.file(step.read), result: step.out, isError: false };
    const input = form.change(step.edit, step.from, step.to);
    return {
      name: form.edit,
      input,
      result: step.fails ?? form.edited(step.edit),
      isError: step.fails !== undefined,
    };
  };
}

const numbered = (out: string, exit: number): string =>
  exit === 0 ? out : `${out}\n\nCommand exited with code ${exit}`;

const callOf: RenderCall = callsOf({
  shell: 'bash',
  read: 'read_file',
  edit: 'edit_file',
  command: (command) => ({ command }),
  file: (path) => ({ path }),
  change: (path, from, to) => ({ path, old: from, new: to }),
  ran: (out, exit) => (exit === 0 ? out : `${out}\nexit code: ${exit}`),
  edited: (path) => `Edited ${path}`,
});

const CALLS: Readonly<Record<string, RenderCall>> = {
  'claude-code': callsOf({
    shell: 'Bash',
    read: 'Read',
    edit: 'Edit',
    command: (command) => ({ command, description: 'Run it' }),
    file: (path) => ({ file_path: path }),
    change: (path, from, to) => ({ file_path: path, old_string: from, new_string: to }),
    ran: (out, exit) => (exit === 0 ? out : `Exit code ${exit}\n${out}`),
    edited: (path) => `The file ${path} has been updated successfully.`,
  }),
  codex: callsOf({
    shell: 'exec_command',
    read: 'exec_command',
    edit: 'apply_patch',
    command: (cmd) => ({ cmd }),
    file: (path) => ({ cmd: `sed -n '1,200p' ${path}` }),
    change: (path, from, to) => ({
      input: `*** Begin Patch\n*** Update File: ${path}\n@@\n${lines('-', from)}\n${lines('+', to)}\n*** End Patch`,
    }),
    ran: (out, exit) =>
      `Wall time: 0.8213 seconds\nProcess exited with code ${exit}\nOriginal token count: ${Math.ceil(out.length / 4)}\nOutput:\n${out}`,
    edited: (path) => `Success. Updated the following files:\nM ${path}\n`,
  }),
  opencode: callsOf({
    shell: 'bash',
    read: 'read',
    edit: 'edit',
    command: (command) => ({ command, description: 'Runs the command' }),
    file: (filePath) => ({ filePath }),
    change: (filePath, oldString, newString) => ({ filePath, oldString, newString }),
    ran: (out, exit) => (exit === 0 ? out : `${out}\n\n<bash_metadata>\nexit code ${exit}\n</bash_metadata>`),
    edited: () => 'Edit applied successfully.',
  }),
  pi: callsOf({
    shell: 'bash',
    read: 'read',
    edit: 'edit',
    command: (command) => ({ command }),
    file: (path) => ({ path }),
    change: (path, oldText, newText) => ({ path, edits: [{ oldText, newText }] }),
    ran: numbered,
    edited: (path) => `Successfully replaced 1 block(s) in ${path}.`,
  }),
  openclaw: callsOf({
    shell: 'exec',
    read: 'read',
    edit: 'edit',
    command: (command) => ({ command }),
    file: (path) => ({ path }),
    change: (path, oldText, newText) => ({ path, oldText, newText }),
    ran: (out, exit) => (exit === 0 ? out : `${out}\n\n(Command exited with code ${exit})`),
    edited: (path) => `Successfully replaced text in ${path}.`,
  }),
  cline: callsOf({
    shell: 'run_commands',
    read: 'read_files',
    edit: 'editor',
    command: (command) => ({ commands: [command] }),
    file: (path) => ({ paths: [path] }),
    change: (path, from, to) => ({ path, command: 'str_replace', old_str: from, new_str: to }),
    ran: (out, exit, query) =>
      JSON.stringify([
        exit === 0
          ? { query, result: out, success: true }
          : {
              query,
              result: '',
              error: `Command failed: [Command exited with code ${exit}]\n${out}`,
              success: false,
            },
      ]),
    edited: (path) => `The file ${path} has been edited.`,
  }),
  goose: callsOf({
    shell: 'developer__shell',
    read: 'developer__text_editor',
    edit: 'developer__text_editor',
    command: (command) => ({ command }),
    file: (path) => ({ command: 'view', path }),
    change: (path, from, to) => ({ command: 'str_replace', path, old_str: from, new_str: to }),
    ran: numbered,
    edited: (path) => `Successfully edited ${path}`,
  }),
};

const lines = (mark: string, text: string): string =>
  text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n');
