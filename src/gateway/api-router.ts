import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../core/caller.ts';
import type { Refused } from '../core/failure.ts';
import type { Json } from '../core/json.ts';
import type { AdmissionSlot } from './admission.ts';
import type { GatewayContext } from './context.ts';

/** Anything that JSON.stringify writes without loss. */
export type Serializable = Json | readonly object[];

type ReplyHeaders = Readonly<Record<string, string>>;

/** A JSON reply, plain text or bytes with their content type, or a stream that stays open. */
export type ApiReply =
  | { readonly json: Serializable; readonly status?: number; readonly headers?: ReplyHeaders }
  | { readonly text: string | Buffer; readonly type: string; readonly headers?: ReplyHeaders }
  | { readonly stream: (response: ServerResponse) => void };

/** Refused: the cookie counts, and the request is not the page's. */
export type SignedIn = { readonly ok: true; readonly caller: Caller } | Refused;

export interface ApiRequest {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** The path's `:id`; empty when the route has none. */
  readonly id: string;
  readonly caller: Caller;
  /** Limits the body that is read. */
  readonly slot: AdmissionSlot;
}

export interface ApiRoute {
  /**
   * Who may call it: anyone, whoever has a key of Instar, a person (a member sees what is that member's and the team's), a person who may
   * decide for the team, or the owner alone.
   */
  readonly access: 'anyone' | 'caller' | 'member' | 'reviewer' | 'owner';
  run(
    context: GatewayContext,
    asked: ApiRequest,
  ): Promise<{ readonly ok: true; readonly reply: ApiReply } | Refused>;
}

/** The routes that are not for models: the API, and the page at `/`. */
export interface ApiRouter {
  /** The operation for a method and path, with the path's `:id`. */
  find(method: string, path: string): { readonly operation: ApiRoute; readonly id: string } | undefined;
  /** The person who is signed in on the page that sends this request; undefined without one. Never for models. */
  personOf(request: IncomingMessage): SignedIn | undefined;
  /** A file of the page; undefined for every other path. */
  file(path: string): Promise<ApiReply> | undefined;
}
