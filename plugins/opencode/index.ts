import { isRecord, textOf } from '../shared/connection.ts';
import { describeAction, exitCodeOf, readResultText } from '../shared/native-outcome.ts';
import { createRunFollower, type RunFollower } from '../shared/run-follower.ts';

type Fields = Readonly<Record<string, unknown>>;

interface OpenCodeHooks {
  'chat.message'?: (input: unknown, output: unknown) => Promise<void>;
  event?: (input: { readonly event: unknown }) => Promise<void>;
}

/** What the plugin uses of OpenCode's client. */
interface OpenCodeClient {
  readonly tui?: {
    readonly showToast?: (toast: {
      readonly body: { readonly title: string; readonly message: string; readonly variant: 'info' };
    }) => Promise<unknown>;
  };
}

const fields = (value: unknown): Fields => (isRecord(value) ? value : {});

/** The plugin for OpenCode: reports the outcomes of its runs, and tells the person what was learned. */
export const createInstarPlugin =
  (connectionFile: string) =>
  async ({
    directory,
    client,
  }: {
    readonly directory?: string;
    readonly client?: OpenCodeClient;
  }): Promise<OpenCodeHooks> => {
    const follower = createRunFollower(connectionFile);
    // Without a terminal nobody is there to be told.
    const tell = async (message: string): Promise<void> =>
      void (await client?.tui
        ?.showToast?.({ body: { title: 'Instar', message, variant: 'info' } })
        .catch(() => undefined));
    return follower === undefined ? {} : hooksFor(follower, directory ?? process.cwd(), tell);
  };

function hooksFor(
  follower: RunFollower,
  folder: string,
  tell: (line: string) => Promise<void>,
): OpenCodeHooks {
  /** Calls that were reported: a part is updated many times. */
  const seen = new Set<string>();
  const answers = new Map<string, string>();
  return {
    'chat.message': async (input, output) => {
      const { sessionID } = fields(input);
      const { message, parts } = fields(output);
      const session = textOf(sessionID) ?? textOf(fields(message).sessionID);
      const run = textOf(fields(message).id);
      if (session === undefined || run === undefined) return;
      seen.clear();
      follower.begin({ session, run, folder, task: readTexts(parts) });
    },
    event: async ({ event }) => {
      const { type, properties } = fields(event);
      const { part, sessionID } = fields(properties);
      const { type: kind, state, tool, callID, text, sessionID: owner } = fields(part);
      const session = textOf(sessionID) ?? textOf(owner) ?? '';
      if (type === 'message.part.updated' && kind === 'text') answers.set(session, textOf(text) ?? '');
      if (type === 'message.part.updated' && kind === 'tool') {
        const { status, input, output, error, metadata } = fields(state);
        const call = textOf(callID) ?? '';
        if ((status !== 'completed' && status !== 'error') || seen.has(call)) return;
        seen.add(call);
        const words = status === 'error' ? (textOf(error) ?? '') : readResultText(output);
        const exitCode = exitCodeOf({ metadata }, words);
        const name = textOf(tool) ?? 'tool';
        follower.tool(session, {
          tool: name,
          action: describeAction(name, input),
          result: words,
          ok: status === 'completed' && (exitCode ?? 0) === 0,
          ...(exitCode === undefined ? {} : { exitCode }),
        });
      }
      if (type === 'session.idle' || type === 'session.error') {
        const answer = answers.get(session) ?? '';
        answers.delete(session);
        const isAborted = type === 'session.error';
        await follower.end(session, { isAborted, answer, stop: String(type) }, tell);
      }
    },
  };
}

const readTexts = (parts: unknown): string =>
  (Array.isArray(parts) ? parts : [])
    .map(fields)
    .flatMap(({ type, text, synthetic }) =>
      type === 'text' && synthetic !== true ? (textOf(text) ?? []) : [],
    )
    .join('\n');
