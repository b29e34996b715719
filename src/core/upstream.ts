import type { ChatLimits, ChatModel } from './chat.ts';
import type { Failure } from './failure.ts';
import type { WireName } from './wire.ts';

/** The endpoint of one wire of one provider. A key is never sent to another origin. */
export interface Upstream {
  readonly wire: WireName;
  /** `https://host:port`, no path. */
  readonly origin: string;
  /** `/v1`, no trailing slash. */
  readonly basePath: string;
}

/** Which credentials a provider is called with, and so who may call it through the gateway. */
export type Access =
  /** The provider entry has a key: callers must present Instar's. Read per request, so that a rotated key takes effect. */
  | { readonly kind: 'own'; credentials(): Readonly<Record<string, string>> }
  /** No key here: the caller's credentials pass through untouched. */
  | { readonly kind: 'caller' }
  /** Nothing to protect (the embedded policy): open on loopback. */
  | { readonly kind: 'open' };

/** The model that a name resolves to. */
export interface Target {
  readonly provider: string;
  /** The model's name at the provider; undefined leaves the caller's own name in the body. */
  readonly model: string | undefined;
  readonly access: Access;
  /** The wires the provider speaks; empty for an embedded model. */
  readonly upstreams: readonly Upstream[];
  /** Its server is on this machine or in a private network: Instar may ask it without a key. */
  readonly isNear?: boolean;
  /**
   * Whether the model, requested by this name, writes tool calls as text: then a request with tools goes through `chat`, which
   * understands them.
   */
  readonly writesCalls?: (requested: string) => boolean;
  /** The same model for callers of any wire. */
  readonly chat: ChatModel;
  /** The label of the model that answers a session, if it has versions, as a policy does. */
  readonly label?: (session: string) => string;
  /** The lessons that the weights which answer a session keep without being shown them. */
  readonly remembers?: (session: string) => ReadonlySet<string>;
}

/** Resolves model names to targets. */
export interface Catalogue {
  /** The first choice, then its fallbacks; never empty, also for an unknown name. */
  resolve(requested: string | undefined, wire: WireName): readonly Target[];
  /**
   * One target for each provider that speaks this wire, for requests that name no model, the usual one first. What is not a chat is the
   * same on both OpenAI wires: providers of the other one follow. Empty when there is none.
   */
  speaking(wire: WireName): readonly Target[];
  /** The kinds of access of all targets: whether any of them may accept a caller without Instar's key. */
  access(): ReadonlySet<Access['kind']>;
  /** All model names that can be requested. */
  list(): readonly { readonly id: string; readonly provider: string }[];
}

export interface Timeouts {
  readonly connectMs: number;
  /** From the request's last byte to the reply's head. */
  readonly headersMs: number;
  /** From the reply's head to its first byte. */
  readonly firstByteMs: number;
  /** Between two chunks. */
  readonly idleMs: number;
}

export interface ExchangeRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Or its pieces, in order. They are not kept once they are sent. */
  readonly body: Uint8Array | readonly Uint8Array[] | undefined;
  /** Instead of those in the settings. */
  readonly timeouts?: Pick<ChatLimits, 'headersMs' | 'idleMs'> | undefined;
}

/** Receives one reply. After `onHead` any number of chunks, then exactly one of `onEnd` and `onFailure`. */
export interface ExchangeSink {
  onHead(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /** False asks for a pause until `resume`. */
  onChunk(chunk: Buffer): boolean;
  onEnd(): void;
  onFailure(failure: Failure): void;
}

export interface ExchangeControl {
  resume(): void;
  /** Ends the exchange now; the sink is not called again. */
  abort(): void;
}

/** One request to an origin and its reply, with back-pressure; redirects are never followed. Does not throw. */
export type Exchange = (request: ExchangeRequest, sink: ExchangeSink) => ExchangeControl;
