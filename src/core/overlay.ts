import type { CandidateType } from './adapt.ts';
import type { Json, JsonObject } from './json.ts';

/** The kinds of lessons that change how requests are served, or are shown at a given moment, and the candidates they come from. */
export const OVERLAY_KINDS: Readonly<Record<CandidateType, 'fragment' | 'fix' | 'route' | 'limit' | 'flow'>> =
  {
    prompt_fragment: 'fragment',
    fix_template: 'fix',
    routing_hint: 'route',
    validator_policy_tweak: 'limit',
    flow_offload: 'flow',
  };

/** The tiers of the router's models. */
export const TIERS = ['cheap', 'strong'] as const;
export type Tier = (typeof TIERS)[number];

/** What a response can be checked for: JSON where JSON was asked for, and arguments of tool calls that fit the tool's schema. */
export const RESPONSE_CHECKS = ['json', 'tool-arguments'] as const;
export type ResponseCheck = (typeof RESPONSE_CHECKS)[number];

/** Guidance for a kind of run: joins the prompt block. */
interface FragmentOverlay {
  readonly type: 'prompt_fragment';
  readonly guidance: readonly string[];
}

/** A repair that worked: shown when an error with this digest comes up again. */
interface FixOverlay {
  readonly type: 'fix_template';
  /** As `evidence/digest` writes it: `TimeoutError @ main.py:42`. */
  readonly error: string;
  /** The steps of the repair, each on one line. */
  readonly repair: readonly string[];
}

/** Moves the router's choice towards a tier. */
export interface RouteOverlay {
  readonly type: 'routing_hint';
  readonly tier: Tier;
  /** Above 0, at most `MOST_BIAS`: in the router's units, differences of expected quality. */
  readonly bias: number;
}

/** No hint, and no number of them, moves the router further. */
export const MOST_BIAS = 0.2;

/**
 * Limits of requests. Every field only applies where it is tighter than the settings, unless a person approved it. What was learned is
 * never tighter than its floors (`lessons/limit-floors`).
 */
export interface LimitOverlay {
  readonly type: 'validator_policy_tweak';
  /** Tries after the first, 0 to 5. */
  readonly retries?: number;
  /** From the request's last byte to the reply's head, in milliseconds. */
  readonly headersMs?: number;
  /** Between two chunks of a reply, in milliseconds. */
  readonly idleMs?: number;
  /** Replies are checked, and asked for again at most `reasks` times. */
  readonly checks?: readonly ResponseCheck[];
  /** 0 to 2. */
  readonly reasks?: number;
  /** The most lessons whose text a prompt has, 0 to 6: for runs in which guidance did not help. */
  readonly lessons?: number;
}

/** An argument of a step: a constant, or a parameter of the flow. */
export type FlowArgument = { readonly value: Json } | { readonly parameter: string };

export interface FlowStep {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, FlowArgument>>;
}

/** Tool calls that are always made in the same order. */
export interface FlowOverlay {
  readonly type: 'flow_offload';
  /** What the flow needs to know: the JSON type of each parameter. */
  readonly parameters: readonly {
    readonly name: string;
    readonly type: 'string' | 'number' | 'boolean';
    /** A value that it had. */
    readonly example: Json;
  }[];
  readonly steps: readonly FlowStep[];
}

export type OverlayPayload = FragmentOverlay | FixOverlay | RouteOverlay | LimitOverlay | FlowOverlay;

/** The candidate that a lesson was promoted from, with its arithmetic. */
interface CandidateOrigin {
  /** The `dedupeKey` of the candidate. */
  readonly key: string;
  /** The id of the key on whose sessions alone it acts. Absent: on all sessions in its scope. */
  readonly onlyFor?: string;
  readonly score: number;
  readonly draftScore: number;
  readonly matches: number;
  readonly mean: number;
  /** Ids of the records that it was drafted from. */
  readonly records: readonly string[];
}

/** The structured part of a lesson: what the running system reads. The prose stays beside it, for people. */
export interface Overlay {
  readonly payload: OverlayPayload;
  /** Absent: a person wrote it. */
  readonly from?: CandidateOrigin;
}

/** An overlay in force. */
export interface ActiveOverlay<Payload extends OverlayPayload = OverlayPayload> {
  readonly lesson: string;
  readonly name: string;
  readonly revision: number;
  readonly state: 'trial' | 'live';
  readonly payload: Payload;
  /** A person approved it: then it may loosen a limit. */
  readonly isApproved: boolean;
  /** It came from events, whoever approved it since: floors hold for its limits (`lessons/limit-floors`). */
  readonly isLearned?: boolean;
  /** See `CandidateOrigin`. */
  readonly onlyFor?: string;
}

export interface OverlayQuery {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly runKind?: string | undefined;
  /** The member who asks; absent: the home's own person. */
  readonly member?: string | undefined;
}

/** The overlays in force, by agent and kind of run. */
export interface ActiveOverlays {
  /** Empty without any: then a request costs what it did. */
  for(query: OverlayQuery): readonly ActiveOverlay[];
}

/** The limits that several overlays set together: the tightest of each. */
export type TurnLimits = Omit<LimitOverlay, 'type'>;

/** What the overlays change for one turn. */
export interface TurnOverlays {
  /** Ids of the lessons that are applied. */
  readonly lessons: readonly string[];
  readonly limits?: TurnLimits;
  /** Ids of the lessons that set them. */
  readonly limitedBy?: readonly string[];
  /** Towards `strong` above 0, towards `cheap` below; within `MOST_BIAS`. */
  readonly bias?: number;
  readonly flows: readonly ActiveOverlay<FlowOverlay>[];
  /** Records once for each session and set what was applied and held out, and the router's choice. Returns at once. */
  record(turn: string, choice?: RouteChoice): void;
}

/** The next call of a flow, which the gateway makes in place of the model. */
export interface FlowAnswer {
  /** The name of its lesson. */
  readonly flow: string;
  /** From 1 on. */
  readonly step: number;
  readonly of: number;
  readonly tool: string;
  readonly arguments: JsonObject;
}

const FLOW_POLICY = 'flow/';

/** The policy of a turn that a flow answered. */
export const flowPolicy = (flow: string): string => `${FLOW_POLICY}${flow}`;

/** Whether no model answered a turn, by its policy: nothing is learned from it, and it never trains. */
export const isFlowPolicy = (policy: string): boolean => policy.startsWith(FLOW_POLICY);

/** The router's choice for a session. */
export interface RouteChoice {
  readonly tier: Tier;
  /** `provider/model`. */
  readonly target: string;
  /** In words, with the numbers it was made of. */
  readonly reason: string;
  /** Absent for a session's own conversation; a sub-agent has a choice of its own, by its first message. */
  readonly thread?: string;
  /** What the outcome of the session will be evidence for. Absent for sub-agents: a session's score is not about them alone. */
  readonly task?: RoutedTask;
}

/** The kind of work that a model was chosen for. */
export interface RoutedTask {
  readonly agent: string;
  readonly runKind?: string;
  readonly domain?: string;
  /** Of the first request (see `lessons/similar/task-sketch`): it tells which requests are alike, and none of their words. */
  readonly sketch: readonly number[];
}

/** The model name that the router answers. */
export const AUTO_MODEL = 'instar/auto';

/** Lessons that change how requests are served were applied to a session, or held out from it. Once for each set of them. */
export interface OverlayFact {
  readonly type: 'overlays-applied';
  readonly session: string;
  readonly turn: string;
  readonly lessons: readonly string[];
  readonly heldOut: readonly string[];
  /** Of the router: the tier, the model and why. */
  readonly tier?: Tier;
  readonly target?: string;
  readonly reason?: string;
  readonly thread?: string;
  readonly task?: RoutedTask;
}
