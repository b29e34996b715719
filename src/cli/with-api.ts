import { openApi } from '../api/open-api.ts';
import { homeAt } from '../config/home.ts';
import type { StoredOwnerKey } from '../config/owner-key.ts';
import type { OwnerApis } from '../core/daemon-api.ts';
import { askForOwnerKey } from './confirm-owner.ts';
import type { CommandAction, CommandContext, Exit } from './context.ts';

/**
 * Runs something on the API of the running daemon, or on the store itself when no daemon runs. With `mayCreate` a missing
 * home is created.
 */
export async function withApi<T>(
  context: CommandContext,
  run: (apis: OwnerApis) => Promise<T>,
  mayCreate = false,
): Promise<T> {
  const unlock = (owner: StoredOwnerKey) => askForOwnerKey(context, owner);
  const { close, ...apis } = await openApi(homeAt(context.homeDir), context.env, mayCreate, unlock);
  try {
    return await run(apis);
  } finally {
    close();
  }
}

/** A command that asks the API: the same, with the API in its context. */
export const onApi =
  <Options>(
    run: (options: Options, context: CommandContext & OwnerApis) => Promise<Exit>,
    mayCreate = false,
  ): CommandAction<Options> =>
  (options, context) =>
    withApi(context, (apis) => run(options, { ...context, ...apis }), mayCreate);
