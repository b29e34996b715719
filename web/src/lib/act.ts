import { announce } from '../parts/announcer.tsx';
import { CallError, call } from './call.ts';
import { forgetResources } from './resource.ts';

interface ActOptions {
  readonly method?: string;
  readonly body?: object;
  /** Said when it worked. */
  readonly done: string;
}

/** Asks the server to change something, and says what came of it. Undefined when it was refused. */
export async function act<T>(
  path: string,
  { method = 'POST', body = {}, done }: ActOptions,
): Promise<T | undefined> {
  try {
    const value = await call<T>(method, path, method === 'DELETE' ? {} : { body });
    forgetResources();
    announce(done);
    return value;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    announce(error.message, 'bad');
    return undefined;
  }
}
