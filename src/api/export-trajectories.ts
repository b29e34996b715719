import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { createRedactor } from '../redact/redact.ts';
import { readOrCreateSalt } from '../redact/salt.ts';

interface TrajectoryExportOptions {
  readonly api: DaemonApi;
  /** The second scan: true when a text still contains a secret. */
  readonly hasSecret: (text: string) => boolean;
  readonly write: (line: string) => void;
  readonly agent?: string;
  readonly project?: string;
  /** `trajectories`: sessions as they are stored. The others are rows for training programs. */
  readonly format?: ExportFormat;
}

export const EXPORT_FORMATS = ['trajectories', 'trl', 'art'] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A secret was found in data that should be redacted. The export stops. */
export class SecretFoundError extends Error {
  override readonly name = 'SecretFoundError';
}

const PAGE = 200;

/**
 * JSON lines, the newest session first: one per session, or rows of it. Returns the number of lines. Fails closed: every line is
 * scanned again before it is written.
 */
export async function exportTrajectories({
  api,
  hasSecret,
  write,
  format = 'trajectories',
  ...filter
}: TrajectoryExportOptions): Promise<number> {
  let count = 0;
  let before: number | undefined;
  for (;;) {
    const page = await api.sessions({ limit: PAGE, ...filter, ...(before === undefined ? {} : { before }) });
    for (const session of page) {
      const chat = format !== 'trajectories';
      const trajectory = await api.trajectory(asString(session.id) ?? '', { chat });
      if (trajectory === undefined || trajectory.erased === true) continue;
      for (const row of ROWS[format](trajectory)) {
        const line = JSON.stringify(row);
        if (hasSecret(line)) {
          throw new SecretFoundError(
            `session ${session.id} contains what looks like a secret; it was not written`,
          );
        }
        write(`${line}\n`);
        count++;
      }
    }
    const oldest = lastTime(page.at(-1));
    if (page.length < PAGE || oldest === undefined || oldest === before) return count;
    before = oldest;
  }
}

/** Every row of a format has the same fields, each of one type: a table is made of them. */
const ROWS: Readonly<Record<ExportFormat, (session: JsonObject) => readonly JsonObject[]>> = {
  trajectories: (session) => [session],
  trl: (session) => judgedTurns(session).map(trlRow(session)),
  art: (session) => artRows(session),
};

/** Main turns that can be read as chat and whose outcome is known. */
const judgedTurns = ({ turns }: JsonObject): readonly JsonObject[] =>
  asArray(turns)
    .map(asObject)
    .filter(({ role, chat, reward }) => role === 'main' && chat !== undefined && typeof reward === 'number');

/** A turn as TRL reads it: a conversational prompt and completion, with a label (KTO) and a reward. */
const trlRow =
  ({ id, agent }: JsonObject) =>
  (turn: JsonObject): JsonObject => {
    const { prompt, completion, tools } = asObject(turn.chat);
    return {
      prompt: prompt ?? [],
      completion: completion ?? [],
      // As text: the fields of tools differ from one to the next.
      tools: JSON.stringify(tools ?? []),
      label: turn.verdict === 'success',
      reward: turn.reward ?? null,
      ...outcomeOf(turn),
      session: id ?? '',
      agent: agent ?? '',
    };
  };

const outcomeOf = (turn: JsonObject): JsonObject => ({
  turn: turn.id ?? '',
  verdict: turn.verdict ?? 'ambiguous',
  judgedBy: turn.judgedBy ?? '',
  parts: turn.parts ?? [],
  data: turn.data ?? '',
  generation: turn.generation ?? 0,
  policy: turn.policy ?? '',
  lessons: turn.lessons ?? [],
  kept: asArray(turn.rules)
    .map(asObject)
    .flatMap(({ lesson, outcome }) => (outcome === 'kept' && lesson !== undefined ? [lesson] : [])),
});

/** A session as ART reads a trajectory: its last judged turn with all that led there. The reward is the mean of its turns. */
function artRows(session: JsonObject): readonly JsonObject[] {
  const judged = judgedTurns(session);
  const last = judged.at(-1);
  if (last === undefined) return [];
  const { prompt, completion, tools } = asObject(last.chat);
  const rewards = judged.map(({ reward }) => asNumber(reward) ?? 0);
  const { turn, verdict, judgedBy, data, generation, policy } = outcomeOf(last);
  return [
    {
      messages_and_choices: [...asArray(prompt), ...asArray(completion)],
      tools: tools ?? [],
      reward: rewards.reduce((sum, one) => sum + one, 0) / rewards.length,
      metrics: { turns: judged.length },
      // One word or number each: ART takes nothing else.
      metadata: {
        session: session.id ?? '',
        turn,
        verdict,
        judgedBy,
        data,
        generation,
        policy,
      } as JsonObject,
    },
  ];
}

function lastTime(session: JsonObject | undefined): number | undefined {
  return asNumber(Date.parse(asString(session?.lastAt) ?? ''));
}

/** The second scan of exported data: for known keys and for everything shaped like a key. */
export function createSecretScan(home: Home, env: NodeJS.ProcessEnv): (text: string) => boolean {
  const keys = [readKey(home, env)?.key ?? [], readOwnerKey(home, env)?.key ?? []].flat();
  const redactor = createRedactor({
    known: () => keys,
    salt: readOrCreateSalt(home),
  });
  return (text) => redactor.hasSecret(text);
}
