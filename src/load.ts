import { existsSync, readFileSync } from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { compileCacheFolder } from './lib/compile-cache.ts'

// What Node puts around a CommonJS module; the build has V8 compile the same text.
const HEAD = '(function (exports, require, module, __filename, __dirname) {'
const TAIL = '\n})'

/**
 * Runs the bundle, `chainsieve.cjs`. Beside it stands what the V8 that built it made of it, by which a start takes half the time; another V8 keeps
 * what it compiles in the user's own folder.
 */
const path = join(dirname(__filename), 'chainsieve.cjs')
const cache = join(dirname(__filename), `chainsieve-${cachedDataVersionTag()}.cache`)
// Node before 22.8 has none; where the folder cannot be written to, parts are compiled at each start.
const folder = compileCacheFolder()
if (folder !== undefined) enableCompileCache?.(folder)
const requirePart = createRequire(path)
if (existsSync(cache)) {
  // It is ASCII, which takes half the memory and no decoding this way.
  const text = readFileSync(path, 'latin1')
  const script = new Script(`${HEAD}${text}${TAIL}`, { filename: path, cachedData: readFileSync(cache) })
  const program = script.runInThisContext() as (...given: unknown[]) => void
  program({}, requirePart, { exports: {} }, path, dirname(path))
} else requirePart(path)
