import { readFileSync } from 'node:fs';
import type { TurnEvidence, Verdict } from '../../../src/core/evidence.ts';
import { asArray, asObject, asString, type Json, type JsonObject } from '../../../src/core/json.ts';
import { readConversationEvidence } from './conversation-evidence.ts';
import { type LabelledTurn, TURN_LABELS } from './score-turns.ts';

/**
 * Reads labelled turns, one JSON object per line: `{id, messages, label, digest?, client?, system?, tools?, note?}` with a
 * conversation in any wire's form, or `{label, evidence, client, note}` with a `TurnEvidence`.
 */
export function readTurns(file: string): readonly LabelledTurn[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index): readonly LabelledTurn[] => {
      if (line.trim() === '') return [];
      return [readRow(asObject(JSON.parse(line) as Json), `${file}:${index + 1}`)];
    });
}

function readRow(row: JsonObject, where: string): LabelledTurn {
  const label = readLabel(row.label, where);
  const client = asString(row.client) ?? asString(row.agent) ?? 'unknown';
  const digest = asString(row.digest);
  const shared = {
    label,
    client,
    note: asString(row.note) ?? '',
    ...(digest === undefined || digest === '' ? {} : { digest }),
  };
  if (row.messages === undefined) {
    const evidence = row.evidence as TurnEvidence | undefined;
    if (evidence === undefined) throw new Error(`${where}: neither messages nor evidence`);
    return { ...shared, id: evidence.turn, evidence };
  }
  const id = asString(row.id) ?? where;
  const given = {
    id,
    client,
    messages: asArray(row.messages),
    ...pick(row, 'system'),
    ...pick(row, 'tools'),
  };
  return { ...shared, id, evidence: readConversationEvidence(given) };
}

const pick = (row: JsonObject, name: 'system' | 'tools'): JsonObject =>
  row[name] === undefined || row[name] === null ? {} : { [name]: row[name] };

function readLabel(value: Json | undefined, where: string): Verdict {
  const label = TURN_LABELS.find((one) => one === value);
  if (label === undefined) throw new Error(`${where}: the label must be one of ${TURN_LABELS.join(', ')}`);
  return label;
}
