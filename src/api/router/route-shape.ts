import type { z } from 'zod';

/** A schema, built when it is first needed: most commands call one route. */
export type LazySchema = () => z.ZodType;

/** One route of the API: what it takes and what it answers. */
export interface RouteShape {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `:id` stands for one segment. */
  readonly path: `/${string}`;
  /**
   * Who may call it: anyone, whoever has a key of Instar, a person (a member sees what is that member's and the team's), a person who may
   * decide for the team, or the owner alone.
   */
  readonly access: 'anyone' | 'caller' | 'member' | 'reviewer' | 'owner';
  /** What it does, in a sentence, for the description of the API. */
  readonly says: string;
  /** What `:id` names, where a reply says that there is none. */
  readonly noun?: string;
  readonly query?: LazySchema;
  readonly body?: LazySchema;
  /** The answer reads the body itself, and says what is wrong with it. */
  readonly readsBody?: true;
  /** Of a JSON reply. Other replies have a content type instead. */
  readonly reply: LazySchema | { readonly type: string };
}

type Given<S, Member extends 'query' | 'body'> =
  S extends Readonly<Record<Member, () => infer Schema>>
    ? Schema extends z.ZodType
      ? { readonly in: z.input<Schema>; readonly out: z.output<Schema> }
      : NothingGiven
    : NothingGiven;
interface NothingGiven {
  readonly in: undefined;
  readonly out: undefined;
}

/** What a route's answer works on, after its schemas have read it. */
export type QueryOf<S extends RouteShape> = Given<S, 'query'>['out'];
export type BodyOf<S extends RouteShape> = Given<S, 'body'>['out'];
/** What a client sends. */
export type BodyFor<S extends RouteShape> = Given<S, 'body'>['in'];

/** The members that a schema names, without the others that may be there. */
export type NamedMembers<T> = T extends readonly (infer Item)[]
  ? readonly NamedMembers<Item>[]
  : T extends object
    ? {
        readonly [Key in keyof T as string extends Key
          ? unknown extends T[Key]
            ? never
            : Key
          : Key]: NamedMembers<Exclude<T[Key], undefined>>;
      }
    : T;

/** What a route answers, as far as its schema says. */
export type ReplyOf<S extends RouteShape> = S['reply'] extends () => infer Schema
  ? Schema extends z.ZodType
    ? NamedMembers<z.output<Schema>>
    : undefined
  : undefined;

/** `GET /api/sessions/:id`. */
export const routeName = ({ method, path }: Pick<RouteShape, 'method' | 'path'>): string =>
  `${method} ${path}`;
