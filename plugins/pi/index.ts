import { isRecord, textOf } from '../shared/connection.ts';
import { describeAction, exitCodeOf, readResultText } from '../shared/native-outcome.ts';
import { createRunFollower } from '../shared/run-follower.ts';

interface PiContext {
  readonly cwd: string;
  readonly sessionManager: { getSessionId(): string };
  readonly hasUI?: boolean;
  readonly ui?: { notify?(message: string, kind: 'info'): void };
}

interface PiEvents {
  readonly before_agent_start: { readonly prompt: string };
  readonly tool_result: {
    readonly toolName: string;
    readonly input: unknown;
    readonly content: unknown;
    readonly details?: unknown;
    readonly isError: boolean;
  };
  readonly agent_end: { readonly messages: readonly unknown[] };
}

/** What the extension uses of pi. */
interface PiApi {
  on<Name extends keyof PiEvents>(
    name: Name,
    act: (event: PiEvents[Name], context: PiContext) => Promise<void> | undefined,
  ): void;
}

/** The extension for pi: reports the outcomes of its runs, and tells the person what was learned. */
export const createInstarExtension =
  (connectionFile: string) =>
  (pi: PiApi): void => {
    const follower = createRunFollower(connectionFile);
    if (follower === undefined) return;
    let count = 0;
    pi.on('before_agent_start', ({ prompt }, { cwd, sessionManager }) => {
      const session = sessionManager.getSessionId();
      follower.begin({ session, run: `${session}-${Date.now()}-${count++}`, task: prompt, folder: cwd });
      return undefined;
    });
    pi.on('tool_result', ({ toolName, input, content, details, isError }, { sessionManager }) => {
      const result = readResultText(content);
      const exitCode =
        exitCodeOf({ details }, isError ? result : '') ?? (toolName === 'bash' && !isError ? 0 : undefined);
      follower.tool(sessionManager.getSessionId(), {
        tool: toolName,
        action: describeAction(toolName, input),
        result,
        ok: !isError && (exitCode ?? 0) === 0,
        ...(exitCode === undefined ? {} : { exitCode }),
      });
      return undefined;
    });
    pi.on('agent_end', async ({ messages }, { sessionManager, hasUI, ui }) => {
      const last = messages.findLast((one) => isRecord(one) && one.role === 'assistant');
      const message = isRecord(last) ? last : {};
      const stop = textOf(message.stopReason);
      const end = {
        isAborted: stop === 'error' || stop === 'aborted',
        answer: readResultText(message.content),
        ...(stop === undefined ? {} : { stop }),
      };
      await follower.end(sessionManager.getSessionId(), end, (line) => {
        if (hasUI === true) ui?.notify?.(line, 'info');
      });
    });
  };
