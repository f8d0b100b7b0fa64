import module, { createRequire } from 'node:module'
import { compileCacheFolder } from './lib/compile-cache.ts'

// Node before 22.8 has none; where the folder cannot be written to, the program is compiled at each start.
const folder = compileCacheFolder()
if (folder !== undefined) module.enableCompileCache?.(folder)
createRequire(import.meta.url)('./chainsieve.cjs')
