interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/** `log.info({ turn }, 'turn ended')`: fields first, then the message. Never throws. */
export interface Log {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}
