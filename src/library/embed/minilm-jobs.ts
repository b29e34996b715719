/** A message to the model's thread: one text at a time, so that the next one is chosen as late as possible. */
export interface ModelQuestion {
  readonly id: number;
  readonly text: string;
}

export type ModelAnswer =
  | { readonly type: 'ready' }
  /** The model cannot be loaded. */
  | { readonly type: 'broken'; readonly why: string }
  | { readonly type: 'vector'; readonly id: number; readonly vector: Float32Array }
  | { readonly type: 'failed'; readonly id: number; readonly why: string };
