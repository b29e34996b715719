/** Appended to the system prompt of every task. */
export const AGENT_GUIDANCE = `You work in a folder, through the tool run_command. It keeps its files from one command to the next.
Look at what is there before you change it, and look again afterwards at what you changed. When a command fails, read what it says and fix the cause; the same command again fails again.
Once the work is complete, run the command \`done\`, alone or as the last line of a command. It ends the task, so nothing after it is run. If the task only asks a question, answer it in plain text instead.`;

const LINES = 'One or more lines to run. `done` as the last line ends the task.';

/** The schema of the arguments of `run_command`. */
export const COMMAND_PARAMETERS = {
  type: 'object',
  properties: { command: { type: 'string', description: LINES } },
  required: ['command'],
  additionalProperties: false,
} as const;

export const TOOL_DESCRIPTION =
  "Runs commands in the task's folder and returns the exit code and what was printed. Paths are relative to the folder.";

export const REAL_COMMANDS =
  'The lines go to `sh`. There is no network, no input to wait for, and nothing outside of the folder can be changed.';

export const PLAIN_COMMANDS = `The lines are not for a system shell but for a small command language. It has no programs, variables, wildcards, loops or here-documents. Lines, ; && || | > and >> work as they do elsewhere. Put text with spaces or signs in single quotes; everything inside of them, line breaks too, is taken as it is written.
ls [-a] [FOLDER] · cat FILE... · head [-n LINES] FILE · grep [-i -v -c -n -l -F] TEXT FILE... · sort [-r -n -u] FILE · wc [-l -w -c] FILE... · sha256sum FILE...
echo TEXT · write FILE TEXT (makes the file, or replaces all of it) · append FILE TEXT
set FILE PATH VALUE (changes one value in a JSON file: set board.json tickets[0].state open)
cp [-r] FROM TO · mv FROM TO · mkdir [-p] FOLDER · rm [-r -f] FILE... · test [!] -e FILE (also -f -d -s)`;
