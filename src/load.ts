import { existsSync, readFileSync } from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { compileCacheFolder } from './lib/compile-cache.ts'

// Node's wrapper of a CommonJS module; the build compiles the same text.
const HEAD = '(function (exports, require, module, __filename, __dirname) {'
const TAIL = '\n})'

/**
 * Runs the bundle. The build's code cache halves the start for the same V8; another V8 caches in
 * the user's own folder.
 */
const path = join(dirname(__filename), 'chainsieve.cjs')
const cache = join(dirname(__filename), `chainsieve-${cachedDataVersionTag()}.cache`)
// Node before 22.8 has no compile cache; in a read-only folder, each start compiles parts.
const folder = compileCacheFolder()
if (folder !== undefined) enableCompileCache?.(folder)
const requirePart = createRequire(path)
if (existsSync(cache)) {
  // Reads ASCII as latin1, which takes half the memory and no decoding.
  const text = readFileSync(path, 'latin1')
  const script = new Script(`${HEAD}${text}${TAIL}`, { filename: path, cachedData: readFileSync(cache) })
  const program = script.runInThisContext() as (...given: unknown[]) => void
  program({}, requirePart, { exports: {} }, path, dirname(path))
} else requirePart(path)
