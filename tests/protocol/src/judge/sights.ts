import type { AccessToken, ServiceAuthEvent, Usage } from '@service-auth/core';
import type { Agreement, IssuedToken, Process } from './scene.ts';

/** A client of a process, for one audience. */
export interface Asker {
  readonly machine: Process;
  readonly audience: string;
}

export interface Call {
  readonly asker: Asker;
  readonly begunAt: number;
  /** What `peekToken()` returned just before. */
  readonly peeked: AccessToken | undefined;
}

export interface FleetReset {
  readonly asker: Asker;
  /** The token that the process served when it called, which is the one that it reports. */
  readonly reported: IssuedToken | undefined;
}

/** What a process sends to the token endpoint. */
export interface SentRequest {
  readonly machine: string;
  readonly audience: string;
  /** It is a token request: it has the secret. */
  readonly hasCredentials: boolean;
}

/** How a token request ended, as its process saw it. */
export interface Ending {
  /** Undefined: no connection was made. */
  readonly status: number | undefined;
  /** The answer brought a token. */
  readonly hasToken: boolean;
  /** The endpoint said for how long nobody may ask. */
  readonly toldMs: number;
}

/** What the provider says of its count in one window. */
export interface Figure {
  readonly windowMs: number;
  readonly tokens: number;
  readonly remaining: number;
  /** So many of those that it counts were not issued to the fleet. If it lies: all. */
  readonly foreign: number;
  readonly beganAt: number;
}

/** What `getUsage()` said to a client, and what happened to callers who asked at once, in a copy of the record that nobody else uses. */
export interface Trial {
  /** So many callers without a token are served now. */
  readonly said: number;
  /** So many asked, and so many of them were served. */
  readonly asked: number;
  readonly served: number;
  /** After failures the callers of one audience may hold each other up, which says nothing about those of others. */
  readonly isHeldUp: boolean;
  /** Undefined: nobody is refused. Otherwise: whether a caller was served just before the instant that was said, and at that instant. */
  readonly refused:
    | { readonly because: string; readonly forMs: number; readonly before: boolean; readonly atIt: boolean }
    | undefined;
}

/** Everything that the judge sees of a run: the network, the store, the callers, and what `getUsage()` says. Instants are those of the world. */
export interface Sights {
  /** A process begins, with this agreement. Undefined: it inherits the agreement of the others. */
  began(machine: Process, agreement: Agreement | undefined): void;

  /** A process was given the record just now. */
  looked(machine: string): void;
  /** The record was replaced by a call that a process made at `calledAt`. */
  wrote(machine: string, calledAt: number): void;
  /** The record was replaced, by whomever. `text`: nobody but core can read it. */
  applied(text: string): void;
  /** A process wrote a record that is larger than the store keeps. */
  outgrew(machine: string, bytes: number): void;
  /** The store did not keep what a process wrote. */
  discarded(machine: string): void;
  /** What `getUsage()` says about the record as it is now. */
  counted(usage: Usage): void;
  unreadable(error: unknown): void;

  sending(request: SentRequest): void;
  /** A token request left that may issue so many tokens; a negative number: they were surely not issued. */
  mayHaveIssued(tokens: number): void;
  arrived(): void;
  issued(token: IssuedToken): void;
  /** The provider says with an answer what it counts, in a form that can be understood. */
  quotaSaid(figures: readonly Figure[]): void;
  /** The answer reached the process, or the news that no connection was made. */
  answered(request: SentRequest, ending: Ending): void;

  asked(call: Call): void;
  /** `known`: the token as the service knows it. */
  served(call: Call, token: AccessToken, known: IssuedToken | undefined): void;
  refused(call: Call, error: unknown): void;
  /** The signal of the caller aborted its wait at `abortedAt`. */
  aborted(call: Call, abortedAt: number): void;
  /** The call is over, in whatever way. */
  ended(call: Call): void;
  /** The API answered 401, rightly or not. */
  rejected(asker: Asker, token: AccessToken): void;
  /** What the API said to the token of an audience. */
  answeredByApi(audience: string, status: 200 | 401): void;
  resetting(reset: FleetReset): void;
  wasReset(reset: FleetReset): void;
  /** The reset was refused. Its last write may come late. */
  resetFailed(reset: FleetReset, error: unknown): void;
  retryOrdered(order: object): void;
  /** Whether the order has an effect. */
  retryTold(order: object, hasEffect: boolean): void;
  failed(error: unknown): void;
  happened(asker: Asker, event: ServiceAuthEvent): void;
  /** Something that a program prints, logs or sends elsewhere. */
  published(what: unknown): void;

  /** What `getUsage()` said, compared with what callers got who then asked. */
  tried(trial: Trial): void;
  /** After a token two processes died while they asked, in such a copy, and a third one was served or not. */
  triedDeaths(isServed: boolean): void;

  /** All processes began at once a minute ago. */
  stampeded(): void;
  /** From now on nothing fails any more. */
  faultsEnded(): void;
  /** Nothing failed for as long as was promised, and this caller has no token. */
  unserved(who: string, error: string): void;
  /** A rejection that nobody handled. */
  unhandled(error: unknown): void;
  /** The world ends, because so much happened. */
  exhausted(events: number): void;
}
