import { readHookInput, reportHook } from './report-hook.ts';

/** `node main.js CONNECTION_FILE`, with the client's hook input on standard input; what it prints is for the person. */
const input = await readHookInput(process.stdin);
const [, , connectionFile = ''] = process.argv;
const said = input === undefined ? undefined : await reportHook(connectionFile, input);
if (said !== undefined) await new Promise((resolve) => process.stdout.write(`${said}\n`, resolve));
process.exit(0);
