import { chmod, chown, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultDirectory, prepareDirectory, refuseNetwork } from '../src/directory.ts';
import { fileStore } from '../src/index.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'service-auth-directory-'));
});
afterEach(() => rm(parent, { recursive: true }));

describe('the default directory', () => {
  test.each([
    ['linux', {}, join(homedir(), '.cache/service-auth')],
    ['linux', { XDG_CACHE_HOME: '/var/cache/me' }, '/var/cache/me/service-auth'],
    ['linux', { XDG_CACHE_HOME: 'relative' }, join(homedir(), '.cache/service-auth')],
    ['freebsd', { XDG_CACHE_HOME: '' }, join(homedir(), '.cache/service-auth')],
    ['darwin', { XDG_CACHE_HOME: '/var/cache/me' }, join(homedir(), 'Library/Caches/service-auth')],
    ['win32', { LOCALAPPDATA: '/me/local' }, join('/me/local', 'service-auth')],
    ['win32', {}, join(homedir(), 'AppData/Local/service-auth')],
  ])('on %s with %j', (platform, env, expected) => {
    expect(defaultDirectory(platform, env)).toBe(expected);
  });
});

describe('a directory', () => {
  test.each([[''], [{ directory: '/tmp/service-auth' }], [null]])('is no %o', (directory) => {
    expect(() => fileStore(directory as string)).toThrow(
      new TypeError('[service-auth/file] fileStore(directory) takes the path of a directory, or nothing.'),
    );
  });

  test.each(['file:/var/lib/orders', 'FILE:orders', '~/orders', 'a\0b'])('is not %j', (directory) => {
    expect(() => fileStore(directory)).toThrow(/takes a path: no address such as file:/);
  });

  test('is created with its parents, for this user only', async () => {
    const before = process.umask(0);
    try {
      await prepareDirectory(join(parent, 'a/b'));
    } finally {
      process.umask(before);
    }
    expect((await lstat(join(parent, 'a/b'))).mode & 0o777).toBe(0o700);
  });

  test('is taken as it is when it is ours alone', async () => {
    await prepareDirectory(parent);
    await prepareDirectory(parent);
  });

  test.each([0o755, 0o750, 0o701, 0o770])('of mode %o is refused, and told how to close', async (mode) => {
    await chmod(parent, mode);
    await expect(prepareDirectory(parent)).rejects.toMatchObject({
      code: 'EPERM',
      message: expect.stringMatching(/chmod 700/),
    });
    expect((await lstat(parent)).mode & 0o777).toBe(mode);
  });

  test('behind a symbolic link is refused', async () => {
    await mkdir(join(parent, 'real'), { mode: 0o700 });
    await symlink(join(parent, 'real'), join(parent, 'link'));
    await expect(prepareDirectory(join(parent, 'link'))).rejects.toMatchObject({
      code: 'ENOTDIR',
      message: expect.stringMatching(/symbolic link/),
    });
  });

  test('that is a file is refused', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(prepareDirectory(join(parent, 'file'))).rejects.toMatchObject({
      code: expect.stringMatching(/^(EEXIST|ENOTDIR)$/),
    });
  });

  test('of another user is refused', async () => {
    const root = process.getuid?.() === 0;
    // Root may give a directory away; anybody else finds enough of them that are root's.
    if (root) await chown(parent, 65_534, 65_534);
    await expect(prepareDirectory(root ? parent : '/usr')).rejects.toMatchObject({
      code: 'EPERM',
      message: expect.stringMatching(/belongs to another user/),
    });
    if (root) await chown(parent, 0, 0);
  });
});

describe('a file system', () => {
  test.each([
    ['NFS', 0x6969],
    ['SMB', 0xff534d42],
    ['SMB', 0xfe534d42 | 0],
  ])('of a network is refused: %s', (network, type) => {
    expect(() => refuseNetwork('/mnt/shared', type)).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', message: expect.stringContaining(`/mnt/shared is on ${network}`) }),
    );
  });

  test.each([0xef53, 0x01021994, 0x58465342, 0x9123683e, 0x794c7630])('of a disk is taken: %#', (type) => {
    refuseNetwork('/var/cache', type);
  });
});
