/**
 * Texts to unit vectors. Equal texts give equal vectors; near meanings give near vectors as well as the model can.
 * Rejects when the model cannot be loaded or is closed; whoever asks has something simpler to fall back on.
 */
export interface Embed {
  /** Names the model and its dimensions; vectors of different ids do not compare. */
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
