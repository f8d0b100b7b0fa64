import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileCacheFolder } from '../../src/lib/compile-cache.ts'

test('what V8 compiled is kept in the cache folder of the user, where nobody else can write', () => {
  const cases: [NodeJS.ProcessEnv, NodeJS.Platform, string][] = [
    [{}, 'linux', join(homedir(), '.cache', 'chainsieve')],
    [{ XDG_CACHE_HOME: '/caches' }, 'linux', join('/caches', 'chainsieve')],
    [{ XDG_CACHE_HOME: '' }, 'linux', join(homedir(), '.cache', 'chainsieve')],
    [{ XDG_CACHE_HOME: '/caches' }, 'darwin', join(homedir(), 'Library', 'Caches', 'chainsieve')],
    [{ LOCALAPPDATA: '/local' }, 'win32', join('/local', 'chainsieve')],
    [{ NODE_COMPILE_CACHE: '/mine', XDG_CACHE_HOME: '/caches' }, 'linux', '/mine'],
  ]
  for (const [env, platform, folder] of cases) assert.equal(compileCacheFolder(env, platform), folder)
})
