import type { RunTool, ToolEnd } from './run-tool.ts';

/** What one look at a machine's input gave. */
export type IdleReading =
  | { readonly kind: 'idle'; readonly ms: number }
  /** The person said so: a locked screen. */
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** One way to ask how long there has been no input. Never rejects. */
export interface IdleReader {
  readonly name: string;
  readonly sees: string;
  read(now: number, signal: AbortSignal): Promise<IdleReading>;
}

/** What every reader needs to ask a program. */
export interface ToolBox {
  readonly run: RunTool;
  readonly env: Readonly<Record<string, string>>;
}

export const unknown = (why: string): IdleReading => ({ kind: 'unknown', why });

const MOST_DIGITS = 20;

/** A time without input from the digits a tool printed; anything odd is unknown. */
export function idleFromDigits(digits: string | undefined, perMs: number, tool: string): IdleReading {
  const value = digits !== undefined && digits.length <= MOST_DIGITS ? Number(digits) : Number.NaN;
  if (digits === undefined || !/^[0-9]+$/.test(digits) || !Number.isFinite(value)) {
    return unknown(`${tool} said nothing that can be read`);
  }
  return { kind: 'idle', ms: Math.floor(value / perMs) };
}

/** The words for a tool that gave no answer; undefined when it did. */
function whyNoAnswer(end: ToolEnd, tool: string): string | undefined {
  switch (end.kind) {
    case 'exit':
      return end.code === 0 ? undefined : `${tool} failed`;
    case 'missing':
      return `${tool} is not installed`;
    case 'timeout':
      return `${tool} did not answer in time`;
    case 'too-large':
      return `${tool} printed too much`;
    case 'aborted':
      return `${tool} was stopped`;
    case 'failed':
      return `${tool} could not be started`;
  }
}

/** The tool's output, or why there is none. */
export async function ask(
  box: ToolBox,
  call: { readonly file: string; readonly args: readonly string[]; readonly timeoutMs?: number },
  signal: AbortSignal,
): Promise<{ readonly said: string } | { readonly why: string }> {
  const tool = call.file.slice(call.file.lastIndexOf('/') + 1);
  const end = await box
    .run({ ...call, timeoutMs: call.timeoutMs ?? 2000, env: box.env, signal })
    .catch((): ToolEnd => ({ kind: 'failed' }));
  const why = whyNoAnswer(end, tool);
  return end.kind === 'exit' && why === undefined ? { said: end.stdout } : { why: why ?? `${tool} failed` };
}
