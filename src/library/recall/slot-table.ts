import type { Lesson, LessonKind, Scope } from '../../core/lesson.ts';

/**
 * The fields that decide whether a lesson is eligible, as columns by slot: reading them from 100,000 objects would take
 * longer than comparing the embeddings.
 */
export interface SlotTable {
  /** The distinct scopes of all lessons. */
  readonly scopes: readonly Scope[];
  /** The highest slot ever set, plus one. */
  readonly length: number;
  set(slot: number, lesson: Lesson, stamp: number): void;
  /** For fields that change without a revision. */
  refresh(slot: number, lesson: Lesson): void;
  clear(slot: number): void;
  /** The insertion stamp; 0 for an empty slot. */
  stamps(): Uint32Array;
  /** Indices into `scopes`. */
  scopeIds(): Uint32Array;
  /** Infinity for never. */
  expiries(): Float64Array;
  /** 1 for lessons about how to work, 0 for experiences. */
  guidelines(): Uint8Array;
  /** 1 for guidelines that people gave to a certain agent or project. */
  told(): Uint8Array;
}

const GUIDELINES: ReadonlySet<LessonKind> = new Set(['skill', 'fragment', 'identity']);

export function createSlotTable(): SlotTable {
  const scopes: Scope[] = [];
  const known = new Map<string, number>();
  let stamps = new Uint32Array(256);
  let scopeIds = new Uint32Array(256);
  let expiries = new Float64Array(256);
  let guidelines = new Uint8Array(256);
  let told = new Uint8Array(256);
  let length = 0;

  const grow = (): void => {
    const size = stamps.length * 2;
    const moved = <A extends { set(from: A): void }>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    stamps = moved(stamps, new Uint32Array(size));
    scopeIds = moved(scopeIds, new Uint32Array(size));
    expiries = moved(expiries, new Float64Array(size));
    guidelines = moved(guidelines, new Uint8Array(size));
    told = moved(told, new Uint8Array(size));
  };
  const scopeId = (scope: Scope): number => {
    const key = JSON.stringify([scope.agent, scope.project, scope.runKind, scope.domain]);
    const id = known.get(key) ?? scopes.push(scope) - 1;
    known.set(key, id);
    return id;
  };
  const refresh = (slot: number, lesson: Lesson): void => {
    expiries[slot] = lesson.expiresAt ?? Number.POSITIVE_INFINITY;
  };

  return {
    scopes,
    get length() {
      return length;
    },
    set: (slot, lesson, stamp) => {
      while (slot >= stamps.length) grow();
      length = Math.max(length, slot + 1);
      stamps[slot] = stamp;
      scopeIds[slot] = scopeId(lesson.text.scope);
      guidelines[slot] = GUIDELINES.has(lesson.kind) ? 1 : 0;
      told[slot] = isTold(lesson) ? 1 : 0;
      refresh(slot, lesson);
    },
    refresh,
    clear: (slot) => {
      stamps[slot] = 0;
    },
    stamps: () => stamps,
    scopeIds: () => scopeIds,
    expiries: () => expiries,
    guidelines: () => guidelines,
    told: () => told,
  };
}

function isTold({ kind, text: { scope, note } }: Lesson): boolean {
  const isSomeones = [scope.agent, scope.project].some((name) => name !== undefined && name !== '*');
  return GUIDELINES.has(kind) && note.source === 'told' && isSomeones;
}
