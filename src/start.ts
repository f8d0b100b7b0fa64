import module, { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { compileCacheFolder } from './lib/compile-cache.ts'
import { isRecent, runByOwnNode, stopWithStarter } from './lib/own-node.ts'

if (isRecent(process.versions.node)) {
  stopWithStarter()
  // Node before 22.8 has none; where the folder cannot be written to, the program is compiled at each start.
  const folder = compileCacheFolder()
  if (folder !== undefined) module.enableCompileCache?.(folder)
  createRequire(import.meta.url)('./chainsieve.cjs')
} else void runByOwnNode(fileURLToPath(import.meta.url))
