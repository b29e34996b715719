/** One run of a gateway: what it records names it, so that others end the turns of a dead one only. */
export interface GatewayProcess {
  /** Of this run. */
  readonly id: string;
  /** Of its home folder, over all runs. */
  readonly home: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
}

/** What a turn says about the gateway that serves it, in a record that several gateways share. */
export interface ServedBy {
  /** The run of the gateway. */
  readonly id: string;
  /** Absent for a turn that is shown no lessons, such as a client's own call for a title. */
  readonly prompt?: PromptState;
}

/**
 * What a turn left in the memory of its gateway and what no other fact says. With it another gateway goes on with the session
 * as this one would.
 */
export interface PromptState {
  readonly thread: string;
  /** The newest link of the conversation. */
  readonly link: string;
  /** The link of the user message of the last recall, if it is another one. */
  readonly asked?: string;
  /** The generation that the thread has seen. */
  readonly generation: number;
}
