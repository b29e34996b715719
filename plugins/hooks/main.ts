import { readHookInput, reportHook, statusLine } from './report-hook.ts';

/**
 * `node main.js CONNECTION_FILE`, with the client's hook input on standard input; what it prints is for the person. With `--status-line` it
 * prints what a status line says.
 */
const [, , connectionFile = '', mode] = process.argv;
const input = mode === undefined ? await readHookInput(process.stdin) : undefined;
const said =
  mode === '--status-line'
    ? await statusLine(connectionFile)
    : input === undefined
      ? undefined
      : await reportHook(connectionFile, input);
if (said !== undefined) await new Promise((resolve) => process.stdout.write(`${said}\n`, resolve));
process.exit(0);
