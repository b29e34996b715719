import type { AssistantPart, ChatMessage } from '../../../../src/core/chat.ts';
import type { Fact } from '../../../../src/core/fact.ts';
import type { DecodedTurn, Records, Store, TurnView } from '../../../../src/core/store.ts';
import { createEvidenceReader, type EvidenceReader } from '../../../../src/evidence/evidence-reader.ts';
import { toRecords } from '../../../../src/record/records.ts';
import { createMemoryStore } from '../../../../src/record/store/memory-store.ts';
import { at, end, start } from '../../../record/store/facts.ts';

/** One thing that happened in a session. */
export type WorkStep =
  | { readonly user: string }
  | { readonly agent: string }
  | { readonly run: string; readonly out?: string; readonly exit?: number }
  | { readonly edit: string };

interface SessionOptions {
  readonly caller?: string;
  readonly runKind?: string;
  readonly generation?: number;
  readonly project?: string;
}

/** Sessions in a store, decoded as their client sent them. */
export interface RecordedWork {
  readonly store: Store;
  readonly records: Records;
  readonly evidence: EvidenceReader;
  readonly decodeTurn: (view: TurnView) => Promise<DecodedTurn | undefined>;
  /** Returns the ids of its turns. */
  record(session: string, steps: readonly WorkStep[], options?: SessionOptions): readonly string[];
  add(...facts: readonly Fact[]): void;
}

export function createRecordedWork(): RecordedWork {
  const store = createMemoryStore();
  const records = toRecords(store, () => 1_000);
  const decoded = new Map<string, Omit<DecodedTurn, 'view'>>();
  const decodeTurn: RecordedWork['decodeTurn'] = async (view) => {
    const turn = decoded.get(view.id);
    return turn && { ...turn, view };
  };
  const evidence = createEvidenceReader({ ...records, decoder: () => decodeTurn });
  let time = 10;
  return {
    store,
    records,
    evidence,
    decodeTurn,
    add: (...facts) => void store.append({ facts: at(time++, ...facts) }),
    record: (session, steps, { caller = 'key-1', runKind, generation = 1, project = 'p1' } = {}) => {
      const messages: ChatMessage[] = [];
      const turns: string[] = [];
      const answer = (reply: readonly AssistantPart[]): void => {
        const id = `${session}-t${turns.length}`;
        turns.push(id);
        const isCall = reply.some(({ type }) => type === 'tool-call');
        const request = { model: 'm', system: [], messages: [...messages], tools: [], stream: false };
        decoded.set(id, { request, reply, stop: isCall ? 'tool-calls' : 'end' });
        const place = { project: { id: project, label: project } };
        const more = {
          caller,
          generation,
          request: id,
          ...place,
          ...(runKind === undefined ? {} : { runKind }),
        };
        store.append({ facts: at(time++, start(id, session, more), end(id, { reply: id })) });
        messages.push({ role: 'assistant', content: reply });
      };
      steps.forEach((step, nth) => {
        const callId = `${session}-c${nth}`;
        const call = (name: string, given: object, result: string): void => {
          answer([{ type: 'tool-call', id: callId, name, arguments: JSON.stringify(given) }]);
          messages.push({ role: 'tool', callId, content: [{ type: 'text', text: result }] });
        };
        if ('user' in step) messages.push({ role: 'user', content: [{ type: 'text', text: step.user }] });
        else if ('agent' in step) answer([{ type: 'text', text: step.agent }]);
        else if ('edit' in step)
          call('edit_file', { path: step.edit, old: 'a', new: 'b' }, `Edited ${step.edit} (1 change)`);
        else {
          const { run, out = 'done', exit = 0 } = step;
          call('bash', { command: run }, exit === 0 ? `${out}\nexit code: 0` : `${out}\nexit code: ${exit}`);
        }
      });
      return turns;
    },
  };
}
