/** What the plugin uses of OpenClaw 2026.9; its own types are not a dependency. */

export interface AgentContext {
  readonly runId?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  readonly workspaceDir?: string;
  readonly modelProviderId?: string;
  /** `user`, `cron`, `heartbeat`. */
  readonly trigger?: string;
}

export interface PromptBuildEvent {
  readonly prompt: string;
  /** The request alone; absent in older runners. */
  readonly currentUserMessage?: string;
}

export interface ToolCallEvent {
  readonly toolName: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: string;
}

export interface AgentEndEvent {
  readonly messages: readonly unknown[];
  readonly success: boolean;
}

interface SkillSnapshot {
  readonly skillMd: { readonly content: string };
  readonly files: readonly { readonly path: string; readonly content: string; readonly encoding: string }[];
}

export interface SkillProposalEvent {
  readonly proposal: { readonly kind: string };
  readonly skill: { readonly name: string; readonly description: string };
  readonly candidate: SkillSnapshot;
}

export interface SkillEvaluation {
  readonly summary?: string;
  readonly findings?: readonly {
    readonly ruleId: string;
    readonly severity: 'info' | 'warn' | 'critical';
    readonly message: string;
  }[];
  readonly metrics?: Readonly<Record<string, string | number | boolean>>;
  readonly evaluatorVersion?: string;
  readonly mode?: string;
  readonly decision?: 'pass' | 'revise' | 'block';
  readonly decisionReason?: string;
}

interface PromptAdditions {
  /** Behind the system prompt, where providers cache it. */
  readonly appendSystemContext?: string;
  /** Behind the user's message. */
  readonly appendContext?: string;
}

interface Hooks {
  readonly before_prompt_build: (
    event: PromptBuildEvent,
    context: AgentContext,
  ) => Promise<PromptAdditions | undefined>;
  readonly after_tool_call: (event: ToolCallEvent, context: AgentContext) => void;
  readonly agent_end: (event: AgentEndEvent, context: AgentContext) => Promise<void>;
  readonly skill_proposal_evaluate: (event: SkillProposalEvent) => Promise<SkillEvaluation | undefined>;
  readonly gateway_stop: () => Promise<void>;
}

export interface ChatCommandContext {
  readonly args?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
}

export interface OpenClawApi {
  readonly config?: unknown;
  readonly pluginConfig?: unknown;
  on<Name extends keyof Hooks>(
    name: Name,
    act: Hooks[Name],
    options?: { readonly timeoutMs?: number; readonly registrationId?: string },
  ): void;
  registerCommand?(command: {
    readonly name: string;
    readonly description: string;
    readonly acceptsArgs: boolean;
    readonly handler: (context: ChatCommandContext) => Promise<{ readonly text: string }>;
  }): void;
}
