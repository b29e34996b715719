import type { DaemonRecord } from '../config/daemon-file.ts';
import type { Desk } from '../core/desk.ts';
import { asArray, asNumber, asObject, type Json, type JsonObject } from '../core/json.ts';
import type { LessonsDesk } from '../core/lessons-desk.ts';
import { askApi } from './ask-api.ts';
import { DeskError } from './desk-error.ts';

export interface RemoteDesks {
  readonly desk: Desk;
  readonly shelf: LessonsDesk;
}

/** The desks of a running daemon, over its API: the store has one writer, and that is not us. */
export function createRemoteDesks(daemon: DaemonRecord, key: string | undefined): RemoteDesks {
  const ask = (method: string, path: string, body?: JsonObject): Promise<Json> =>
    askApi(daemon, key, method, path, body);
  const find = async (path: string, method = 'GET'): Promise<JsonObject | undefined> => {
    try {
      return asObject(await ask(method, path, method === 'POST' ? {} : undefined));
    } catch (error) {
      if (error instanceof DeskError && error.status === 404) return undefined;
      throw error;
    }
  };
  const place = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;
  const desk: Desk = {
    sessions: async (query) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) search.set(name, String(value));
      return asArray(await ask('GET', `/api/sessions?${search}`)).map(asObject);
    },
    session: (id) => find(place(id)),
    trajectory: (id) => find(`${place(id)}/trajectory`),
    erase: async (id) => asNumber(asObject(await ask('DELETE', place(id))).erased) ?? 0,
    feedback: async (body) => asObject(await ask('POST', '/v1/feedback', body)),
    training: async () => asObject(await ask('GET', '/api/train')),
    startTraining: async (request) => asObject(await ask('POST', '/api/train/run', { ...request })),
    moveWeights: async (to) => asArray(await ask('POST', `/api/train/${to}`, {})).map(asObject),
    schedule: async () => asObject(await ask('GET', '/api/schedule')),
    suggestWindows: async () => asObject(await ask('GET', '/api/schedule/suggest')),
    episode: (id) => find(`/api/episodes/${encodeURIComponent(id)}`),
    backup: async (file) => void (await ask('POST', '/api/backup', { file })),
  };
  const named = (id: string | number): string => encodeURIComponent(id);
  const shelf: LessonsDesk = {
    list: async (query) =>
      asArray(await ask('GET', `/api/lessons?${new URLSearchParams({ ...query })}`)).map(asObject),
    all: async () => asArray(await ask('GET', '/api/library')).map(asObject),
    show: (id) => find(`/api/lessons/${named(id)}`),
    why: (turn) => find(`/api/turns/${named(turn)}/why`),
    change: async (body) => asObject(await ask('POST', '/api/lessons', body)),
    generations: async () => asArray(await ask('GET', '/api/generations')).map(asObject),
    review: async () => asObject(await ask('GET', '/api/review')),
    recall: async (query) => asObject(await ask('POST', '/api/recall', query)),
    diff: (from, to) => find(`/api/generations/${named(from)}/diff?to=${named(to)}`),
    rollback: (to) => find(`/api/generations/${named(to)}/rollback`, 'POST'),
  };
  return { desk, shelf };
}
