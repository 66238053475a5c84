import { readFileSync } from 'node:fs';
import type { Store } from '@service-auth/core';
import type { Diagnosis } from './diagnosis.ts';

/** A store that a command uses. Nothing connects before its first call. */
export interface OpenedStore {
  readonly store: Store;
  /** The name of the store in messages, without a password. */
  readonly label: string;
  /** A place beside the record, to try the store. Undefined: it has none that can be removed. */
  readonly trial?: (key: string) => Trial;
  /** Facts about the store and its safety that only this kind of store knows. */
  readonly examine?: () => Promise<readonly Diagnosis[]>;
  /** Finds other places of the store that have a record under this key. */
  readonly others?: (key: string) => Promise<OtherPlaces>;
}

/** A place of a store, beside that of the configuration, that has a record of the same client. */
export interface OtherPlace {
  readonly name: string;
  /** The parameter of the address of a store that leads to it, such as `prefix=nightly:`. */
  readonly parameter: string;
  /** Undefined: it cannot be read as a record. */
  readonly store: Store | undefined;
}

export interface OtherPlaces {
  readonly kind: 'prefix' | 'table';
  readonly found: readonly OtherPlace[];
  /** The part of the store that was searched. Undefined: all of it. */
  readonly searched?: string | undefined;
  /** The address with this parameter. Undefined: the address has something secret. */
  readonly addressOf: (parameter: string) => string | undefined;
}

export interface Trial {
  readonly store: Store;
  remove(): Promise<unknown>;
}

export interface OpenOptions {
  /** The command writes, so it may create what the record needs, such as a table. */
  readonly writes: boolean;
}

/** The type of `openStore`. The name of a package that exports it can be the address of a store. */
export type OpenStore = (parameters: URLSearchParams, options: OpenOptions) => OpenedStore | Promise<OpenedStore>;

/** An address that is wrong, or that nothing installed serves. */
export class AddressError extends Error {}

/** The name and the code of a foreign error. Its message may contain anything, even a password. */
export function nameOf(error: unknown): string {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return [name, code].filter((part) => typeof part === 'string').join(' ');
}

/** What to do about an error, if it says so. */
export function adviceOf(error: unknown): string | undefined {
  const { advice } = Object(error) as { advice?: unknown };
  return typeof advice === 'string' ? advice : undefined;
}

/** @throws AddressError. The error of Node repeats the address, which may have a password. */
export function urlOf(address: string): URL {
  try {
    const url = new URL(address);
    // Each by itself: the drivers do it so, and half of an escape at the end of one would pass with
    // the other half.
    for (const part of [url.username, url.password]) decodeURIComponent(part);
    // What follows the host is shown. Without a host, or with an @ behind it, that may be a
    // password.
    const { host, pathname, search, hash } = url;
    if (host !== '' && !`${pathname}${search}${hash}`.includes('@')) return url;
  } catch {}
  throw new AddressError(
    'is no address such as redis://USER:PASSWORD@HOST; encode /, #, ?, @ and % in a password, as %2F, %23, %3F, %40 and %25',
  );
}

/** The content of a file that an address names. @throws AddressError */
export function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AddressError(`names a file that cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** The contents of those files that are given. @throws AddressError */
export function filesOf<Name extends string>(
  files: Readonly<Record<Name, string | undefined>>,
): {
  readonly [Key in Name]?: Buffer;
} {
  const given = Object.entries<string | undefined>(files).flatMap(([name, file]) =>
    file ? [[name, contentOf(file)]] : [],
  );
  return Object.fromEntries(given);
}

/** The parameters of an address. @throws AddressError for one with another name */
export function parametersOf<Name extends string>(
  query: string,
  names: readonly Name[],
): { readonly [Key in Name]?: string } {
  const given = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(given).find((name) => !names.some((known) => known === name));
  if (unknown === undefined) return given as { [Key in Name]?: string };
  const there = `${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`;
  throw new AddressError(`has an unknown parameter ${unknown}; there ${there}`);
}

/** What to do about a name that is none of a table. `home`: what may stand before it. */
export function wrongTable(home: 'schema' | 'database'): AddressError {
  return new AddressError(`must name a valid table: letters, digits and underscores, with or without a ${home}`);
}

/** The address as people may see it: without credentials and parameters, but with its table. */
export function labelOf({ protocol, host, pathname }: URL, table?: string): string {
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}${table === undefined ? '' : ` (table ${table})`}`;
}

/** The value of a parameter in an address, safe between single quotes of a shell. */
export function parameterOf(name: string, value: string): string {
  return `${name}=${encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll("'", '%27')}`;
}
