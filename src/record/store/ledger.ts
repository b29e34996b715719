import type { Fact, StoredFact } from '../../core/fact.ts';
import { practiceSubject } from '../../core/practice-fact.ts';
import {
  type AppendResult,
  type Batch,
  type Erasure,
  type NewFact,
  parseTurnBodyKey,
  type TurnBodyKey,
} from '../../core/store.ts';
import { PRACTICE_TASKS } from '../../core/task-fact.ts';
import { eraseLatePrompts, eraseLearned, NOTHING_LEARNED, withoutErasedEvidence } from './erase-learned.ts';
import { factJson } from './sqlite-rows.ts';
import type { Tables } from './tables.ts';
import { foldSession, foldTurn, type TurnRow } from './views.ts';

const REBUILD_PAGE = 1000;

/** The key of the end of a turn that a dead process left open. */
export const crashKey = (turn: string): string => `${turn}:end`;

/** A validated batch, with each fact's JSON. */
export interface ReadyBatch extends Batch {
  readonly facts: readonly ReadyFact[];
}

interface ReadyFact extends NewFact {
  readonly body: string;
}

/**
 * Throws `TypeError` for what JSON cannot represent (NaN, a cycle): such a batch can never be written, and must not cost a
 * transaction.
 */
export function readBatch(batch: Batch): ReadyBatch {
  return { ...batch, facts: batch.facts.map(readFact) };
}

function readFact({ at, fact, key }: NewFact): ReadyFact {
  checkTime(at);
  const body = factJson(fact);
  // JSON writes NaN as null; finding it is expensive and only needed if there is a null at all.
  if (body.includes('null')) refuseNonNumbers(fact);
  return key === undefined ? { at, fact, body } : { at, fact, key, body };
}

function checkTime(at: number): void {
  if (!Number.isSafeInteger(at)) throw new TypeError(`not a time in whole milliseconds: ${at}`);
}

/** JSON would write null, and a score would be lost silently. */
function refuseNonNumbers(value: unknown): void {
  JSON.stringify(value, (name, member: unknown) => {
    if (typeof member === 'number' && !Number.isFinite(member)) throw new TypeError(`${name} is ${member}`);
    return member;
  });
}

/**
 * Facts first, then the bodies they refer to. Nothing of an erased session is stored: a late fact is scrubbed before it is
 * written, a late body is dropped. A new turn reopens the session.
 */
export function recordBatch(tables: Tables, batch: ReadyBatch): readonly AppendResult[] {
  const { isHurried = false } = batch;
  const before = tables.lastSeq();
  const appended = batch.facts.map((fact) =>
    batch.isLate && isErasedMeanwhile(tables, fact) ? NOT_RECORDED : recordFact(tables, fact),
  );
  const isErased = (session: string): boolean => tables.session(session)?.erased ?? false;
  const own: { readonly seq: number; readonly text: string }[] = [];
  for (const block of batch.blocks ?? []) {
    if (isErased(block.session)) continue;
    const name = parseTurnBodyKey(block.hash);
    const seq = name && seqOfBody(tables, name);
    if (name === undefined) tables.addBlock(block, isHurried);
    // Only together with its fact, and in order: a row is never inserted between two others (see `schema`).
    else if (seq !== undefined && seq > before && block.text !== undefined)
      own.push({ seq, text: block.text });
  }
  for (const { seq, text } of own.sort((a, b) => a.seq - b.seq)) tables.addBody(seq, text, isHurried);
  // A prompt that was made while a session that it quotes was erased.
  for (const { fact } of batch.facts)
    if (fact.type === 'message-quoted' && isErased(fact.session)) tables.dropUse(fact.by, fact.block);
  for (const { session, link } of batch.chains ?? []) if (!isErased(session)) tables.putChain(session, link);
  return appended;
}

const NOT_RECORDED: AppendResult = { seq: 0, isNew: false };

/**
 * Whether its session was erased after it happened, and before it arrived from a spool: it must not reopen the session. The
 * end of such a turn has no start.
 */
function isErasedMeanwhile(tables: Tables, { at, fact }: NewFact): boolean {
  if (fact.type === 'turn-end') return tables.turn(fact.turn) === undefined;
  if (fact.type !== 'turn-start' || tables.turn(fact.turn) !== undefined) return false;
  if (!tables.session(fact.session)?.erased) return false;
  const erased = tables
    .factsAbout(fact.session)
    .findLast((one) => one.fact.type === 'session-erased' && one.fact.session === fact.session);
  return erased !== undefined && at < erased.at;
}

/** The number of the fact that a turn's body belongs to; undefined for an unknown or erased turn. */
function seqOfBody(tables: Tables, { turn, part }: TurnBodyKey): number | undefined {
  const row = tables.turn(turn);
  if (row === undefined || row.erased) return undefined;
  return part === 'request' ? row.start : row.end;
}

function recordFact(tables: Tables, { at, fact, key, body }: ReadyFact): AppendResult {
  const first = key === undefined ? turnFactOf(tables, fact) : tables.seqOf(key);
  if (first !== undefined) return { seq: first, isNew: false };
  // Tombstone and erasure in one step: a log never claims an erasure that did not happen.
  if (fact.type === 'session-erased') eraseContent(tables, fact.session, at, fact.reason);
  return writeFact(tables, { at, fact, body, ...(key === undefined ? {} : { key }) });
}

function writeFact(tables: Tables, { at, fact, key, body }: ReadyFact): AppendResult {
  const seq = tables.lastSeq() + 1;
  const kept = isTooLate(tables, fact)
    ? scrubFact(fact)
    : withoutErasedEvidence(fact, (turn) => tables.turn(turn)?.erased === true);
  const stored = { seq, at, fact: kept };
  tables.addFact(stored, {
    body: kept === fact ? body : factJson(kept),
    key,
    isInView: isInView(tables, fact),
  });
  foldFact(tables, stored);
  return { seq, isNew: true };
}

/** The existing start or end of this turn: it has one of each, also if a batch is retried. */
function turnFactOf(tables: Tables, fact: Fact): number | undefined {
  if (fact.type === 'turn-start') return tables.turn(fact.turn)?.start;
  if (fact.type !== 'turn-end') return undefined;
  const row = tables.turn(fact.turn);
  return isWronglyEnded(tables, row, fact) ? undefined : row?.end;
}

/**
 * Whether a turn was taken for one of a dead process, and now its end arrives: the process lived, and could not reach the
 * database.
 */
const isWronglyEnded = (
  tables: Tables,
  row: TurnRow | undefined,
  fact: Fact & { readonly type: 'turn-end' },
): boolean =>
  row?.end !== undefined && fact.status !== 'crashed' && tables.seqOf(crashKey(row.id)) === row.end;

/** Whether its turn's row refers to it: then it needs no entry in the index by subject. */
function isInView(tables: Tables, fact: Fact): boolean {
  if (fact.type === 'turn-start') return tables.turn(fact.turn) === undefined;
  if (fact.type !== 'turn-end') return false;
  const row = tables.turn(fact.turn);
  return row !== undefined && row.end === undefined;
}

/** Whether the fact's turn or session was erased before it arrived. */
function isTooLate(tables: Tables, fact: Fact): boolean {
  if ('turn' in fact && fact.turn !== undefined && tables.turn(fact.turn)?.erased) return true;
  if (fact.type === 'practice-task')
    return sessionsOf(fact).some((session) => tables.session(session)?.erased ?? false);
  if (fact.type === 'practice-unit')
    return fact.sessions?.some((session) => tables.session(session)?.erased) ?? false;
  if (fact.type === 'turn-start' || !('session' in fact) || fact.session === undefined) return false;
  return tables.session(fact.session)?.erased ?? false;
}

const sessionsOf = (fact: Fact & { readonly type: 'practice-task' }): readonly string[] =>
  'sessions' in fact ? fact.sessions : [];

/** Folds one more fact into the views. Dangling references change nothing. */
function foldFact(tables: Tables, stored: StoredFact): void {
  const { seq, fact } = stored;
  switch (fact.type) {
    case 'turn-start':
    case 'turn-end': {
      const before = tables.turn(fact.turn);
      const isReplaced = before && fact.type === 'turn-end' && isWronglyEnded(tables, before, fact);
      const after = isReplaced ? { ...before, end: seq } : foldTurn(before, stored);
      if (after === undefined || after === before) return;
      tables.putTurn(after);
      if (before === undefined) foldSessionOf(tables, after.session, stored);
      return;
    }
    case 'reward-given':
      tables.addReward(seq, fact.turn, fact.session);
      return;
    case 'session-end':
      foldSessionOf(tables, fact.session, stored);
      return;
    case 'session-erased':
      foldSessionOf(tables, fact.session, stored);
      for (const row of tables.turnsOf(fact.session)) {
        const after = foldTurn(row, stored);
        if (after !== undefined && !row.erased) tables.putTurn(after);
      }
  }
}

function foldSessionOf(tables: Tables, session: string, stored: StoredFact): void {
  const row = foldSession(tables.session(session), stored);
  if (row !== undefined) tables.putSession(row);
}

/** Erases what was learned from a session, while its words can still be compared, and then its content. */
function eraseContent(tables: Tables, session: string, at: number, reason: string): Erasure['lessons'] {
  const append = (fact: Fact, key: string): void => void writeFact(tables, readFact({ at, fact, key }));
  const lessons = eraseLearned(tables, session, reason === EXPIRED, append);
  forget(tables, session);
  return lessons;
}

/** Deletes a session's content: its bodies, its chain, the text quoted in its facts. */
function forget(tables: Tables, session: string): void {
  const rows = tables.turnsOf(session);
  const turns = new Set(rows.map(({ id }) => id));
  for (const stored of [...tables.factsAbout(session), ...tables.factsAbout(PRACTICE_TASKS)]) {
    if (!concerns(stored.fact, session, (turn) => turns.has(turn))) continue;
    const { fact } = stored;
    if (fact.type === 'message-quoted') tables.dropUse(fact.by, fact.block);
    const scrubbed = scrubFact(fact);
    if (scrubbed !== fact) tables.overwriteFact({ ...stored, fact: scrubbed });
  }
  forgetPractice(tables, session);
  tables.dropBodies(rows.flatMap(({ start, end }) => (end === undefined ? [start] : [start, end])));
  tables.dropBlocks(session);
  tables.dropChain(session);
}

/** The attempts at tasks of this session, and what was written about them. */
function forgetPractice(tables: Tables, session: string): void {
  const runs = new Set(
    tables.factsAbout(session).flatMap(({ fact }) => (fact.type === 'practice-used' ? [fact.run] : [])),
  );
  for (const run of runs)
    for (const stored of tables.factsAbout(practiceSubject(run))) {
      const { fact } = stored;
      if (fact.type === 'practice-unit' && fact.sessions?.includes(session) && fact.value !== null)
        tables.overwriteFact({ ...stored, fact: scrubFact(fact) });
    }
}

/** The reason of an erasure by age. */
const EXPIRED = 'expired';

/** An erased session gets no second tombstone. */
export function recordErasure(tables: Tables, session: string, at: number, reason: string): Erasure {
  checkTime(at);
  const row = tables.session(session);
  if (row?.erased) {
    eraseLatePrompts(tables, session);
    return { turns: 0, lessons: NOTHING_LEARNED, copies: 0 };
  }
  const turns = tables.turnsOf(session).filter(({ erased }) => !erased).length;
  const lessons = eraseContent(tables, session, at, reason);
  if (row === undefined) return { turns: 0, lessons, copies: 0 };
  writeFact(tables, readFact({ at, fact: { type: 'session-erased', session, turns, reason } }));
  return { turns, lessons, copies: 0 };
}

/** Which sessions are too old; see `Store.expire`. */
interface Expiry {
  readonly before: number;
  readonly at: number;
  readonly upTo?: number | undefined;
}

/** Returns the number of sessions erased. */
export function expireSessions(tables: Tables, expiry: Expiry, limit: number): number {
  const ids = tables.sessionsBefore(expiry.before, limit);
  return ids.filter((id) => expireSession(tables, id, expiry)).length;
}

/** Erases a session if it is too old now. */
export function expireSession(
  tables: Tables,
  session: string,
  { before, at, upTo = Number.POSITIVE_INFINITY }: Expiry,
): boolean {
  const row = tables.session(session);
  if (row === undefined || row.erased || row.lastAt >= before) return false;
  if (tables.turnsOf(session).some(({ start, end = start }) => end > upTo)) return false;
  recordErasure(tables, session, at, EXPIRED);
  return true;
}

export function rebuildViews(tables: Tables): void {
  tables.clearViews();
  let after = 0;
  for (;;) {
    const page = tables.facts(after, REBUILD_PAGE);
    foldFacts(tables, page);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** Folds facts of the log into the views, which end before them. */
export function foldFacts(tables: Tables, facts: readonly StoredFact[]): void {
  for (const stored of facts) foldFact(tables, stored);
}

/**
 * A fact without its quoted text: a reward's note, an event's data, a failure's message, a project's label, and the keys of
 * bodies (the text behind the hash of a short text can be guessed). Ids, times, counts and scores stay. The same object when
 * it quotes nothing. Its JSON never becomes longer: erasing overwrites the old one.
 */
export function scrubFact(fact: Fact): Fact {
  switch (fact.type) {
    case 'turn-start': {
      const { request, project, gateway, ...rest } = fact;
      if (request === undefined && !project?.label && gateway?.prompt === undefined) return fact;
      const by = gateway === undefined ? {} : { gateway: { id: gateway.id } };
      return { ...rest, ...by, ...(project && { project: { id: project.id, label: '' } }) };
    }
    case 'turn-end': {
      const { failure, request, reply, ...rest } = fact;
      return failure === undefined && request === undefined && reply === undefined ? fact : rest;
    }
    case 'reward-given': {
      const { note, ...rest } = fact;
      return note === undefined ? fact : rest;
    }
    case 'lessons-recalled': {
      const { block, after, first, ...rest } = fact;
      return block === undefined && after === undefined && first === undefined ? fact : rest;
    }
    case 'overlays-applied': {
      const { task, ...rest } = fact;
      return task === undefined ? fact : rest;
    }
    case 'session-scored': {
      const { route, ...rest } = fact;
      return route === undefined ? fact : rest;
    }
    case 'rules-observed':
      return fact.results.length === 0 ? fact : { ...fact, results: [] };
    case 'message-read':
      return fact.spans.length === 0 ? fact : { ...fact, spans: [] };
    case 'message-quoted':
      return fact.block === '' ? fact : { ...fact, block: '' };
    case 'message-indexed': {
      const { vectors, around, ...rest } = fact;
      const isScrubbed = fact.words === '' && vectors === undefined && around === undefined;
      return isScrubbed ? fact : { ...rest, words: '' };
    }
    case 'turn-appraised': {
      const { isRemarked, ...rest } = fact;
      return fact.signals.length === 0 && fact.digests.length === 0 && isRemarked === undefined
        ? fact
        : { ...rest, signals: [], digests: [] };
    }
    case 'turn-sampled': {
      const { tokens, ...rest } = fact;
      return tokens === undefined ? fact : rest;
    }
    case 'session-marked':
      return fact.reason === '' ? fact : { ...fact, reason: '' };
    case 'practice-task': {
      if (fact.op !== 'found' && fact.op !== 'added') return fact;
      const { task, content, ...rest } = fact;
      return task === undefined && content === undefined ? fact : rest;
    }
    case 'workspace-snapshotted': {
      const { repository, commit, within, content, skipped, ...rest } = fact;
      return repository === undefined && skipped === undefined ? fact : rest;
    }
    case 'practice-unit':
      return fact.value === null ? fact : { ...fact, value: null };
    case 'event-reported':
      return Object.keys(fact.data).length === 0 ? fact : { ...fact, data: {} };
    default:
      return fact;
  }
}

/** Whether a fact belongs to this session, directly or through one of its turns. */
function concerns(fact: Fact, session: string, isItsTurn: (turn: string) => boolean): boolean {
  switch (fact.type) {
    case 'turn-end':
      return isItsTurn(fact.turn);
    case 'reward-given':
      return fact.session === session || (fact.turn !== undefined && isItsTurn(fact.turn));
    case 'practice-task':
      return sessionsOf(fact).includes(session);
    default:
      return 'session' in fact && fact.session === session;
  }
}
