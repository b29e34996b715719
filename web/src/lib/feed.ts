import { useEffect, useState } from 'preact/hooks';
import type { Waiting } from './api-shapes.ts';
import { pageWord } from './call.ts';

/** What happened, as `/api/feed` tells it. */
export type FeedEvent =
  | { readonly type: 'hello'; readonly generation: number; readonly waiting?: unknown }
  | { readonly type: 'reset' }
  | {
      readonly type: 'turn';
      readonly at: string;
      readonly turn: string;
      readonly session: string;
      readonly agent: string;
      readonly status: string;
      readonly ms?: number;
      readonly tokens?: number;
    }
  | {
      readonly type: 'reward';
      readonly at: string;
      readonly turn?: string;
      readonly session?: string;
      readonly source: string;
      readonly score: number;
    }
  | {
      readonly type: 'appraised';
      readonly at: string;
      readonly turn: string;
      readonly session: string;
      readonly verdict: string;
      readonly reward?: number;
    }
  | {
      readonly type: 'rules';
      readonly at: string;
      readonly session: string;
      readonly turn: string;
      readonly kept: number;
      readonly broken: number;
      readonly toldAgain: number;
    }
  | { readonly type: 'scored'; readonly at: string; readonly session: string; readonly score: number }
  | {
      readonly type: 'library';
      readonly at: string;
      readonly generation: number;
      readonly by: string;
      readonly reason: string;
      /** What was done to each of `lessons`, in their order. */
      readonly ops: readonly string[];
      readonly lessons: readonly string[];
      /** Nobody asked for it: it was learned. */
      readonly isLearner?: true;
    }
  | {
      readonly type: 'learning';
      readonly at: string;
      readonly on?: boolean;
      readonly learner?: string;
      readonly outcome?: string;
      readonly lessons?: readonly { readonly id: string; readonly outcome: string }[];
    }
  | {
      readonly type: 'practice' | 'training';
      readonly at: string;
      readonly run: string;
      readonly step: string | number;
    }
  | { readonly type: 'job'; readonly at: string; readonly job: string; readonly end?: string }
  | {
      readonly type: 'policy';
      readonly at: string;
      readonly version: number;
      readonly to: string;
      readonly why: string;
    }
  | {
      readonly type: 'event';
      readonly at: string;
      readonly kind: string;
      readonly agent?: string;
      readonly session?: string;
      readonly score?: number;
    }
  | { readonly type: 'erased'; readonly at: string; readonly session: string }
  | { readonly type: 'waiting'; readonly count: number; readonly items: readonly Waiting[] };

const TYPES: readonly FeedEvent['type'][] = [
  'hello',
  'reset',
  'turn',
  'reward',
  'appraised',
  'rules',
  'scored',
  'library',
  'learning',
  'practice',
  'training',
  'job',
  'policy',
  'event',
  'erased',
  'waiting',
];

export type FeedState = 'connecting' | 'live' | 'lost';

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
const stateListeners = new Set<(state: FeedState) => void>();
let state: FeedState = 'connecting';
let source: EventSource | undefined;
const RETRY_MS = 5000;

function setState(next: FeedState): void {
  if (next === state) return;
  state = next;
  for (const tell of stateListeners) tell(next);
}

function receive(event: FeedEvent): void {
  for (const tell of listeners) tell(event);
}

/** Follows the feed until the page is left. Every event counts once: the browser resumes behind the last one it had. */
export function openFeed(): void {
  source?.close();
  source = new EventSource(`/api/feed?page=${encodeURIComponent(pageWord())}`);
  source.onopen = () => setState('live');
  source.onerror = () => {
    setState('lost');
    // The browser gives up after an error status; after a broken connection it tries again by itself.
    if (source?.readyState === EventSource.CLOSED) setTimeout(openFeed, RETRY_MS);
  };
  for (const type of TYPES)
    source.addEventListener(type, (message) => {
      const data: unknown = parse((message as MessageEvent<string>).data);
      if (typeof data === 'object' && data !== null) receive({ ...data, type } as FeedEvent);
    });
}

export function closeFeed(): void {
  source?.close();
  source = undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls with each event until the returned function is called. */
export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useFeedState(): FeedState {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    setShown(state);
    stateListeners.add(setShown);
    return () => {
      stateListeners.delete(setShown);
    };
  }, []);
  return shown;
}
