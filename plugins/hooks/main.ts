import { readHookInput, reportHook } from './report-hook.ts';

/** `node main.js CONNECTION_FILE`, with the client's hook input on standard input. */
const input = await readHookInput(process.stdin);
const [, , connectionFile = ''] = process.argv;
if (input !== undefined) await reportHook(connectionFile, input);
process.exit(0);
